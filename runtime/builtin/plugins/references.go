package plugins

import (
	"fmt"
	"slices"

	core "k8s.io/api/core/v1"
)

// apiObjectOf returns which objects of the API a pod needs, "" for none. A pod that a node mirrors may need none. An
// unknown kind of volume is an error, since nobody knows what it needs.
func apiObjectOf(pod *core.Pod) (string, error) {
	switch {
	case pod.Spec.ServiceAccountName != "":
		return "serviceaccounts", nil
	case len(slices.Collect(secretsOf(pod))) > 0:
		return "secrets", nil
	case hasConfigMaps(pod):
		return "configmaps", nil
	case len(pod.Spec.ResourceClaims) > 0:
		return "resourceclaims", nil
	}
	for i := range pod.Spec.Volumes {
		if what, err := apiObjectOfVolume(&pod.Spec.Volumes[i]); what != "" || err != nil {
			return what, err
		}
	}
	return "", nil
}

// hasConfigMaps reports whether containers or volumes name config maps.
func hasConfigMaps(pod *core.Pod) bool {
	inEnvironment := func(env []core.EnvVar, from []core.EnvFromSource) bool {
		return slices.ContainsFunc(env, func(e core.EnvVar) bool {
			return e.ValueFrom != nil && e.ValueFrom.ConfigMapKeyRef != nil && e.ValueFrom.ConfigMapKeyRef.Name != ""
		}) || slices.ContainsFunc(from, func(f core.EnvFromSource) bool {
			return f.ConfigMapRef != nil && f.ConfigMapRef.Name != ""
		})
	}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if inEnvironment(c.Env, c.EnvFrom) {
			return true
		}
	}
	for _, c := range pod.Spec.EphemeralContainers {
		if inEnvironment(c.Env, c.EnvFrom) {
			return true
		}
	}
	return slices.ContainsFunc(pod.Spec.Volumes, func(v core.Volume) bool {
		return v.ConfigMap != nil && v.ConfigMap.Name != "" ||
			v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, func(s core.VolumeProjection) bool {
				return s.ConfigMap != nil && s.ConfigMap.Name != ""
			})
	})
}

func apiObjectOfVolume(v *core.Volume) (string, error) {
	switch {
	case isLocal(v):
		return "", nil
	case v.ConfigMap != nil:
		return "configmaps (via configmap volumes)", nil
	case v.Secret != nil:
		return "secrets (via secret volumes)", nil
	case v.CSI != nil:
		return "csidrivers (via CSI volumes)", nil
	case v.Glusterfs != nil:
		return "endpoints (via glusterFS volumes)", nil
	case v.PersistentVolumeClaim != nil:
		return "persistentvolumeclaims", nil
	case v.Ephemeral != nil:
		return "persistentvolumeclaims (via ephemeral volumes)", nil
	case v.AzureFile != nil:
		return "secrets (via azureFile volumes)", nil
	case v.Projected != nil:
		return apiObjectOfSources(v)
	}
	return "", fmt.Errorf("unknown volume type for volume  %q", v.Name)
}

// isLocal reports whether a kubelet mounts a volume without reading the API.
func isLocal(v *core.Volume) bool {
	return v.AWSElasticBlockStore != nil || v.AzureDisk != nil || v.CephFS != nil || v.Cinder != nil ||
		v.DownwardAPI != nil || v.EmptyDir != nil || v.FC != nil || v.FlexVolume != nil || v.Flocker != nil ||
		v.GCEPersistentDisk != nil || v.GitRepo != nil || v.HostPath != nil || v.Image != nil || v.ISCSI != nil ||
		v.NFS != nil || v.PhotonPersistentDisk != nil || v.PortworxVolume != nil || v.Quobyte != nil ||
		v.RBD != nil || v.ScaleIO != nil || v.StorageOS != nil || v.VsphereVolume != nil
}

func apiObjectOfSources(v *core.Volume) (string, error) {
	for _, s := range v.Projected.Sources {
		switch {
		case s.ConfigMap != nil:
			return "configmaps (via projected volumes)", nil
		case s.Secret != nil:
			return "secrets (via projected volumes)", nil
		case s.ServiceAccountToken != nil:
			return "serviceaccounts (via projected volumes)", nil
		case s.ClusterTrustBundle != nil:
			return "clustertrustbundles", nil
		case s.PodCertificate != nil:
			return "podcertificates", nil
		case s.DownwardAPI == nil:
			return "", fmt.Errorf("unknown source for projected volume %q", v.Name)
		}
	}
	return "", nil
}
