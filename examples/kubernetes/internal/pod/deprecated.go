package pod

import (
	"net"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/rule"
)

// must is a check of texts that may not be empty: pairs of a name and a value.
func must(path *field.Path, fields ...[2]string) (errs rule.Errors) {
	for _, f := range fields {
		errs = append(errs, rule.Required(path.Child(f[0]), f[1])...)
	}
	return errs
}

func partition(path *field.Path, number int32) rule.Errors {
	return rule.When(number < 0 || number > 255, field.Invalid(path.Child("partition"), number,
		"must be between 1 and 255, inclusive"))
}

// deprecatedSources are the volumes of clouds and of file systems that CSI drivers replace.
func deprecatedSources(v *corev1.Volume) []source {
	return []source{
		{"gitRepo", v.GitRepo != nil, func(path *field.Path) rule.Errors {
			return append(must(path, [2]string{"repository", v.GitRepo.Repository}),
				descendingPath(path.Child("directory"), v.GitRepo.Directory)...)
		}},
		{"gcePersistentDisk", v.GCEPersistentDisk != nil, func(path *field.Path) rule.Errors {
			return append(must(path, [2]string{"pdName", v.GCEPersistentDisk.PDName}),
				partition(path, v.GCEPersistentDisk.Partition)...)
		}},
		{"awsElasticBlockStore", v.AWSElasticBlockStore != nil, func(path *field.Path) rule.Errors {
			return append(must(path, [2]string{"volumeID", v.AWSElasticBlockStore.VolumeID}),
				partition(path, v.AWSElasticBlockStore.Partition)...)
		}},
		{"iscsi", v.ISCSI != nil, func(path *field.Path) rule.Errors {
			return append(must(path, [2]string{"targetPortal", v.ISCSI.TargetPortal}, [2]string{"iqn", v.ISCSI.IQN}),
				rule.Within(path.Child("lun"), v.ISCSI.Lun, 0, 255)...)
		}},
		{"glusterfs", v.Glusterfs != nil, func(path *field.Path) rule.Errors {
			return must(path, [2]string{"endpoints", v.Glusterfs.EndpointsName}, [2]string{"path", v.Glusterfs.Path})
		}},
		{"rbd", v.RBD != nil, func(path *field.Path) rule.Errors {
			return append(rule.When(len(v.RBD.CephMonitors) == 0, field.Required(path.Child("monitors"), "")),
				must(path, [2]string{"image", v.RBD.RBDImage})...)
		}},
		{"cinder", v.Cinder != nil, func(path *field.Path) rule.Errors {
			return must(path, [2]string{"volumeID", v.Cinder.VolumeID})
		}},
		{"cephfs", v.CephFS != nil, func(path *field.Path) rule.Errors {
			return rule.When(len(v.CephFS.Monitors) == 0, field.Required(path.Child("monitors"), ""))
		}},
		{"quobyte", v.Quobyte != nil, func(path *field.Path) rule.Errors {
			return append(validateRegistry(v.Quobyte.Registry, path.Child("registry")),
				must(path, [2]string{"volume", v.Quobyte.Volume})...)
		}},
		{"fc", v.FC != nil, func(path *field.Path) rule.Errors { return validateFC(v.FC, path) }},
		{"flexVolume", v.FlexVolume != nil, func(path *field.Path) rule.Errors {
			return must(path, [2]string{"driver", v.FlexVolume.Driver})
		}},
		{"azureFile", v.AzureFile != nil, func(path *field.Path) rule.Errors {
			return must(path, [2]string{"secretName", v.AzureFile.SecretName},
				[2]string{"shareName", v.AzureFile.ShareName})
		}},
		{"vsphereVolume", v.VsphereVolume != nil, func(path *field.Path) rule.Errors {
			return must(path, [2]string{"volumePath", v.VsphereVolume.VolumePath})
		}},
		{"photonPersistentDisk", v.PhotonPersistentDisk != nil, func(path *field.Path) rule.Errors {
			return must(path, [2]string{"pdID", v.PhotonPersistentDisk.PdID})
		}},
		{"portworxVolume", v.PortworxVolume != nil, func(path *field.Path) rule.Errors {
			return must(path, [2]string{"volumeID", v.PortworxVolume.VolumeID})
		}},
		{"azureDisk", v.AzureDisk != nil, func(path *field.Path) rule.Errors {
			return must(path, [2]string{"diskName", v.AzureDisk.DiskName},
				[2]string{"diskURI", v.AzureDisk.DataDiskURI})
		}},
		{"storageos", v.StorageOS != nil, func(path *field.Path) rule.Errors {
			return must(path, [2]string{"volumeName", v.StorageOS.VolumeName})
		}},
		{"scaleIO", v.ScaleIO != nil, func(path *field.Path) rule.Errors {
			return must(path, [2]string{"gateway", v.ScaleIO.Gateway}, [2]string{"system", v.ScaleIO.System},
				[2]string{"volumeName", v.ScaleIO.VolumeName})
		}},
		{"flocker", v.Flocker != nil, func(path *field.Path) rule.Errors {
			name, id := v.Flocker.DatasetName, v.Flocker.DatasetUUID
			return append(rule.When(name == "" && id == "",
				field.Required(path, "one of datasetName and datasetUUID is required")),
				rule.When(name != "" && id != "", field.Invalid(path, "resource",
					"datasetName and datasetUUID can not be specified simultaneously"))...)
		}},
	}
}

func validateRegistry(registry string, path *field.Path) rule.Errors {
	const form = "must be a host:port pair or multiple pairs separated by commas"
	if registry == "" {
		return rule.Errors{field.Required(path, form)}
	}
	var errs rule.Errors
	for pair := range strings.SplitSeq(registry, ",") {
		if _, _, err := net.SplitHostPort(pair); err != nil {
			errs = append(errs, field.Invalid(path, registry, form))
		}
	}
	return errs
}

func validateFC(fc *corev1.FCVolumeSource, path *field.Path) rule.Errors {
	names := path.Child("targetWWNs")
	errs := rule.When(len(fc.TargetWWNs) == 0 && len(fc.WWIDs) == 0, field.Required(names,
		"must specify either targetWWNs or wwids, but not both"))
	errs = append(errs, rule.When(len(fc.TargetWWNs) > 0 && len(fc.WWIDs) > 0, field.Invalid(names, fc.TargetWWNs,
		"targetWWNs and wwids can not be specified simultaneously"))...)
	if len(fc.TargetWWNs) == 0 {
		return errs
	}
	if fc.Lun == nil {
		return append(errs, field.Required(path.Child("lun"), "lun is required if targetWWNs is specified"))
	}
	return append(errs, rule.Within(path.Child("lun"), *fc.Lun, 0, 255)...)
}
