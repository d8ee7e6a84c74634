package v1

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/conformance/apis/internal/defaults"
)

// SetDefaults_PodSpec sets how pods are run, restarted and scheduled.
func SetDefaults_PodSpec(in *corev1.PodSpec) {
	defaults.Value(&in.RestartPolicy, corev1.RestartPolicyAlways)
	defaults.Value(&in.DNSPolicy, corev1.DNSClusterFirst)
	defaults.Value(&in.SchedulerName, corev1.DefaultSchedulerName)
	defaults.Pointer(&in.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	defaults.Pointer(&in.SecurityContext, corev1.PodSecurityContext{})
}

// SetDefaults_Pod requests what the containers of a pod are limited to.
func SetDefaults_Pod(in *corev1.Pod) {
	defaults.Pointer(&in.Spec.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
	for _, containers := range [][]corev1.Container{in.Spec.Containers, in.Spec.InitContainers} {
		for i := range containers {
			complete(&containers[i].Resources.Requests, containers[i].Resources.Limits)
		}
	}
}

// SetDefaults_Container sets when an image is pulled, and where a message of the end is.
func SetDefaults_Container(in *corev1.Container) {
	defaults.Value(&in.ImagePullPolicy, pull(in.Image))
	defaults.Value(&in.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	defaults.Value(&in.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
}

// SetDefaults_EphemeralContainer sets the defaults of a container.
func SetDefaults_EphemeralContainer(in *corev1.EphemeralContainer) {
	SetDefaults_Container((*corev1.Container)(&in.EphemeralContainerCommon))
}

// pull is the policy for an image: one without a tag, or with the tag latest, may change.
func pull(image string) corev1.PullPolicy {
	name := image[strings.LastIndex(image, "/")+1:]
	if _, tag, tagged := strings.Cut(name, ":"); strings.Contains(name, "@") || tagged && tag != "latest" {
		return corev1.PullIfNotPresent
	}
	return corev1.PullAlways
}

// SetDefaults_Volume makes a volume of nothing an empty directory.
func SetDefaults_Volume(in *corev1.Volume) {
	if in.VolumeSource == (corev1.VolumeSource{}) {
		in.EmptyDir = new(corev1.EmptyDirVolumeSource)
	}
}

// SetDefaults_Probe sets the times of a probe.
func SetDefaults_Probe(in *corev1.Probe) {
	defaults.Value(&in.TimeoutSeconds, 1)
	defaults.Value(&in.PeriodSeconds, 10)
	defaults.Value(&in.SuccessThreshold, 1)
	defaults.Value(&in.FailureThreshold, 3)
}

// SetDefaults_HTTPGetAction sets what is asked for.
func SetDefaults_HTTPGetAction(in *corev1.HTTPGetAction) {
	defaults.Value(&in.Path, "/")
	defaults.Value(&in.Scheme, corev1.URISchemeHTTP)
}

// SetDefaults_ObjectFieldSelector sets the version of the fields.
func SetDefaults_ObjectFieldSelector(in *corev1.ObjectFieldSelector) {
	defaults.Value(&in.APIVersion, "v1")
}

// SetDefaults_SecretVolumeSource sets the mode of the files.
func SetDefaults_SecretVolumeSource(in *corev1.SecretVolumeSource) {
	defaults.Pointer(&in.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
}

// SetDefaults_ConfigMapVolumeSource sets the mode of the files.
func SetDefaults_ConfigMapVolumeSource(in *corev1.ConfigMapVolumeSource) {
	defaults.Pointer(&in.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
}

// SetDefaults_DownwardAPIVolumeSource sets the mode of the files.
func SetDefaults_DownwardAPIVolumeSource(in *corev1.DownwardAPIVolumeSource) {
	defaults.Pointer(&in.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
}

// SetDefaults_ProjectedVolumeSource sets the mode of the files.
func SetDefaults_ProjectedVolumeSource(in *corev1.ProjectedVolumeSource) {
	defaults.Pointer(&in.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
}

// SetDefaults_ServiceAccountTokenProjection makes tokens expire after an hour.
func SetDefaults_ServiceAccountTokenProjection(in *corev1.ServiceAccountTokenProjection) {
	defaults.Pointer(&in.ExpirationSeconds, 60*60)
}

// SetDefaults_Service sets how a service is reached.
func SetDefaults_Service(in *corev1.Service) {
	spec := &in.Spec
	defaults.Value(&spec.SessionAffinity, corev1.ServiceAffinityNone)
	defaults.Value(&spec.Type, corev1.ServiceTypeClusterIP)
	for i := range spec.Ports {
		if port := &spec.Ports[i]; port.TargetPort == intstr.FromInt32(0) || port.TargetPort == intstr.FromString("") {
			port.TargetPort = intstr.FromInt32(port.Port)
		}
	}
	if spec.Type != corev1.ServiceTypeExternalName {
		defaults.Pointer(&spec.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	}
	if spec.Type == corev1.ServiceTypeLoadBalancer {
		defaults.Pointer(&spec.AllocateLoadBalancerNodePorts, true)
	}
	if spec.Type == corev1.ServiceTypeLoadBalancer || spec.Type == corev1.ServiceTypeNodePort || len(spec.ExternalIPs) > 0 {
		defaults.Value(&spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	}
}

// SetDefaults_ReplicationController takes selector and labels from the template.
func SetDefaults_ReplicationController(in *corev1.ReplicationController) {
	if in.Spec.Template != nil && len(in.Spec.Selector) == 0 {
		in.Spec.Selector = maps.Clone(in.Spec.Template.Labels)
	}
	if in.Spec.Template != nil && len(in.Labels) == 0 {
		in.Labels = maps.Clone(in.Spec.Template.Labels)
	}
}

// SetDefaults_Secret sets the type.
func SetDefaults_Secret(in *corev1.Secret) { defaults.Value(&in.Type, corev1.SecretTypeOpaque) }

// SetDefaults_PersistentVolume sets how a volume is reclaimed and mounted.
func SetDefaults_PersistentVolume(in *corev1.PersistentVolume) {
	defaults.Value(&in.Status.Phase, corev1.VolumePending)
	defaults.Value(&in.Spec.PersistentVolumeReclaimPolicy, corev1.PersistentVolumeReclaimRetain)
	defaults.Pointer(&in.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
}

// SetDefaults_PersistentVolumeClaim makes a claim wait for its volume.
func SetDefaults_PersistentVolumeClaim(in *corev1.PersistentVolumeClaim) {
	defaults.Value(&in.Status.Phase, corev1.ClaimPending)
}

// SetDefaults_PersistentVolumeClaimSpec sets how the volume is mounted.
func SetDefaults_PersistentVolumeClaimSpec(in *corev1.PersistentVolumeClaimSpec) {
	defaults.Pointer(&in.VolumeMode, corev1.PersistentVolumeFilesystem)
}

// SetDefaults_Namespace labels a namespace with its name.
func SetDefaults_Namespace(in *corev1.Namespace) {
	if in.Name != "" {
		metav1.SetMetaDataLabel(&in.ObjectMeta, corev1.LabelMetadataName, in.Name)
	}
}

// SetDefaults_NamespaceStatus makes a namespace active.
func SetDefaults_NamespaceStatus(in *corev1.NamespaceStatus) {
	defaults.Value(&in.Phase, corev1.NamespaceActive)
}

// complete adds the resources of a list that another lacks.
func complete(to *corev1.ResourceList, from corev1.ResourceList) {
	if *to == nil && from != nil {
		*to = corev1.ResourceList{}
	}
	for name, quantity := range from {
		if _, has := (*to)[name]; !has {
			(*to)[name] = quantity.DeepCopy()
		}
	}
}
