package v1

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"example.com/kubernetes/internal/defaults"
)

// The defaults of the types within pods. The generated defaults of apps, batch and others call them, too.

// SetDefaults_PodSpec sets how pods are run, restarted and scheduled.
func SetDefaults_PodSpec(in *corev1.PodSpec) {
	defaults.Value(&in.RestartPolicy, corev1.RestartPolicyAlways)
	defaults.Value(&in.DNSPolicy, corev1.DNSClusterFirst)
	defaults.Value(&in.SchedulerName, corev1.DefaultSchedulerName)
	defaults.Pointer(&in.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	defaults.Pointer(&in.SecurityContext, corev1.PodSecurityContext{})
	if in.HostNetwork {
		setHostPorts(in.Containers)
		setHostPorts(in.InitContainers)
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
	if in.Image != nil {
		defaults.Value(&in.Image.PullPolicy, pull(in.Image.Reference))
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

// SetDefaults_HostPathVolumeSource says that anything may be at the path.
func SetDefaults_HostPathVolumeSource(in *corev1.HostPathVolumeSource) {
	defaults.Pointer(&in.Type, corev1.HostPathUnset)
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

// SetDefaults_ResourceList rounds amounts up to thousandths.
func SetDefaults_ResourceList(amounts *corev1.ResourceList) {
	for name, amount := range *amounts {
		amount.RoundUp(resource.Milli)
		(*amounts)[name] = amount
	}
}
