package pod

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/rule"
)

// PersistentSource is one of the places where a volume can be that outlives its pods.
type PersistentSource struct {
	Name  string
	Set   bool
	Check func(path *field.Path) rule.Errors
}

// PersistentSources returns all places, in the order in which kube-apiserver looks at them.
func PersistentSources(s *corev1.PersistentVolumeSpec) []PersistentSource {
	// those that a pod can name, too, have the same rules there
	of := deprecatedSources(&corev1.Volume{VolumeSource: corev1.VolumeSource{
		GCEPersistentDisk: s.GCEPersistentDisk, AWSElasticBlockStore: s.AWSElasticBlockStore, Flocker: s.Flocker,
		FC: s.FC, Quobyte: s.Quobyte, VsphereVolume: s.VsphereVolume, PhotonPersistentDisk: s.PhotonPersistentDisk,
		PortworxVolume: s.PortworxVolume, AzureDisk: s.AzureDisk,
	}})
	all := []PersistentSource{{"hostPath", s.HostPath != nil, func(path *field.Path) rule.Errors {
		return ValidateHostPath(s.HostPath, path)
	}}}
	for _, source := range of {
		all = append(all, PersistentSource{source.name, source.set, source.check})
	}
	return append(all,
		PersistentSource{"nfs", s.NFS != nil, func(path *field.Path) rule.Errors { return ValidateNFS(s.NFS, path) }},
		PersistentSource{"glusterfs", s.Glusterfs != nil, func(path *field.Path) rule.Errors {
			return must(path, [2]string{"endpoints", s.Glusterfs.EndpointsName}, [2]string{"path", s.Glusterfs.Path})
		}},
		PersistentSource{"rbd", s.RBD != nil, func(path *field.Path) rule.Errors {
			return append(rule.When(len(s.RBD.CephMonitors) == 0, field.Required(path.Child("monitors"), "")),
				must(path, [2]string{"image", s.RBD.RBDImage})...)
		}},
		PersistentSource{"cephfs", s.CephFS != nil, func(path *field.Path) rule.Errors {
			return rule.When(len(s.CephFS.Monitors) == 0, field.Required(path.Child("monitors"), ""))
		}},
		PersistentSource{"iscsi", s.ISCSI != nil, func(path *field.Path) rule.Errors {
			return append(must(path, [2]string{"targetPortal", s.ISCSI.TargetPortal}, [2]string{"iqn", s.ISCSI.IQN}),
				rule.Within(path.Child("lun"), s.ISCSI.Lun, 0, 255)...)
		}},
		PersistentSource{"cinder", s.Cinder != nil, func(path *field.Path) rule.Errors {
			return must(path, [2]string{"volumeID", s.Cinder.VolumeID})
		}},
		PersistentSource{"flexVolume", s.FlexVolume != nil, func(path *field.Path) rule.Errors {
			return must(path, [2]string{"driver", s.FlexVolume.Driver})
		}},
		PersistentSource{"azureFile", s.AzureFile != nil, func(path *field.Path) rule.Errors {
			return must(path, [2]string{"secretName", s.AzureFile.SecretName},
				[2]string{"shareName", s.AzureFile.ShareName})
		}},
		PersistentSource{"scaleIO", s.ScaleIO != nil, func(path *field.Path) rule.Errors {
			return must(path, [2]string{"gateway", s.ScaleIO.Gateway}, [2]string{"system", s.ScaleIO.System},
				[2]string{"volumeName", s.ScaleIO.VolumeName})
		}},
		PersistentSource{"storageos", s.StorageOS != nil, func(path *field.Path) rule.Errors {
			return must(path, [2]string{"volumeName", s.StorageOS.VolumeName})
		}},
		PersistentSource{"local", s.Local != nil, func(path *field.Path) rule.Errors {
			return append(must(path, [2]string{"path", s.Local.Path}), noBacksteps(path.Child("path"), s.Local.Path)...)
		}},
		PersistentSource{"csi", s.CSI != nil, func(path *field.Path) rule.Errors { return validateCSI(s.CSI, path) }},
	)
}

func validateCSI(csi *corev1.CSIPersistentVolumeSource, path *field.Path) rule.Errors {
	errs := append(ValidateDriver(csi.Driver, path.Child("driver")), must(path, [2]string{"volumeHandle",
		csi.VolumeHandle})...)
	for _, secret := range []struct {
		name string
		ref  *corev1.SecretReference
	}{
		{"controllerPublishSecretRef", csi.ControllerPublishSecretRef},
		{"controllerExpandSecretRef", csi.ControllerExpandSecretRef},
		{"nodePublishSecretRef", csi.NodePublishSecretRef}, {"nodeExpandSecretRef", csi.NodeExpandSecretRef},
	} {
		if secret.ref != nil {
			errs = append(errs, must(path.Child(secret.name), [2]string{"name", secret.ref.Name},
				[2]string{"namespace", secret.ref.Namespace})...)
		}
	}
	return errs
}
