package pod

import (
	corev1 "k8s.io/api/core/v1"
)

// DropDisabled removes fields of features that kube-apiserver doesn't enable by default.
func DropDisabled(in *corev1.PodSpec) {
	in.SchedulingGroup, in.EvictionResponders = nil, nil
	for _, containers := range [][]corev1.Container{in.InitContainers, in.Containers} {
		for i := range containers {
			dropFromContainer(&containers[i])
		}
	}
	for i := range in.EphemeralContainers {
		dropFromContainer((*corev1.Container)(&in.EphemeralContainers[i].EphemeralContainerCommon))
	}
	for i := range in.Volumes {
		dropFromVolume(&in.Volumes[i].VolumeSource)
	}
}

// drop removes the value of a field. It doesn't write where there is none: the object may be one that is stored.
func drop[T any](field **T) {
	if *field != nil {
		*field = nil
	}
}

func dropFromContainer(c *corev1.Container) {
	for i := range c.VolumeMounts {
		if c.VolumeMounts[i].BindMountOptions != nil {
			c.VolumeMounts[i].BindMountOptions = nil
		}
	}
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if probe == nil {
			continue
		}
		dropProtocol(probe.HTTPGet)
		if probe.GRPC != nil {
			drop(&probe.GRPC.Mode)
		}
	}
	if c.Lifecycle == nil {
		return
	}
	drop(&c.Lifecycle.StopSignal)
	for _, handler := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
		if handler != nil {
			dropProtocol(handler.HTTPGet)
		}
	}
}

func dropProtocol(get *corev1.HTTPGetAction) {
	if get != nil {
		drop(&get.Protocol)
	}
}

// dropFromVolume removes the mode of an empty directory, and the users that files of a volume belong to.
func dropFromVolume(v *corev1.VolumeSource) {
	switch {
	case v.EmptyDir != nil:
		drop(&v.EmptyDir.Mode)
	case v.Secret != nil:
		drop(&v.Secret.DefaultUser)
		dropUsers(v.Secret.Items)
	case v.ConfigMap != nil:
		drop(&v.ConfigMap.DefaultUser)
		dropUsers(v.ConfigMap.Items)
	case v.DownwardAPI != nil:
		drop(&v.DownwardAPI.DefaultUser)
		dropUsersOfFields(v.DownwardAPI.Items)
	case v.Projected != nil:
		drop(&v.Projected.DefaultUser)
		for i := range v.Projected.Sources {
			dropFromProjection(&v.Projected.Sources[i])
		}
	}
}

func dropFromProjection(p *corev1.VolumeProjection) {
	switch {
	case p.Secret != nil:
		dropUsers(p.Secret.Items)
	case p.ConfigMap != nil:
		dropUsers(p.ConfigMap.Items)
	case p.DownwardAPI != nil:
		dropUsersOfFields(p.DownwardAPI.Items)
	case p.ServiceAccountToken != nil:
		drop(&p.ServiceAccountToken.User)
	case p.ClusterTrustBundle != nil:
		drop(&p.ClusterTrustBundle.User)
	case p.PodCertificate != nil:
		drop(&p.PodCertificate.User)
	}
}

func dropUsers(items []corev1.KeyToPath) {
	for i := range items {
		drop(&items[i].User)
	}
}

func dropUsersOfFields(items []corev1.DownwardAPIVolumeFile) {
	for i := range items {
		drop(&items[i].User)
	}
}
