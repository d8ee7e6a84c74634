package v1

import corev1 "k8s.io/api/core/v1"

// SetDefaults_PodSpec sets the defaults of pods, and of the templates of pods in other groups.
func SetDefaults_PodSpec(spec *corev1.PodSpec) {
	if spec.RestartPolicy == "" {
		spec.RestartPolicy = corev1.RestartPolicyAlways
	}
}
