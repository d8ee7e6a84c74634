package v1

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReadyColumn_Deployment returns the ready and the wanted replicas, such as 2/3.
func ReadyColumn_Deployment(deployment *appsv1.Deployment) string {
	var wanted int32
	if deployment.Spec.Replicas != nil {
		wanted = *deployment.Spec.Replicas
	}
	return fmt.Sprintf("%d/%d", deployment.Status.ReadyReplicas, wanted)
}

// ContainersColumn_Deployment returns the names of the containers.
func ContainersColumn_Deployment(deployment *appsv1.Deployment) string {
	return containers(&deployment.Spec.Template)
}

// ContainersColumn_ReplicaSet returns the names of the containers.
func ContainersColumn_ReplicaSet(set *appsv1.ReplicaSet) string {
	return containers(&set.Spec.Template)
}

// ImagesColumn_Deployment returns the images of the containers.
func ImagesColumn_Deployment(deployment *appsv1.Deployment) string {
	return images(&deployment.Spec.Template)
}

// ImagesColumn_ReplicaSet returns the images of the containers.
func ImagesColumn_ReplicaSet(set *appsv1.ReplicaSet) string { return images(&set.Spec.Template) }

// SelectorColumn_Deployment returns the selector of the pods.
func SelectorColumn_Deployment(deployment *appsv1.Deployment) string {
	return metav1.FormatLabelSelector(deployment.Spec.Selector)
}

// SelectorColumn_ReplicaSet returns the selector of the pods.
func SelectorColumn_ReplicaSet(set *appsv1.ReplicaSet) string {
	return metav1.FormatLabelSelector(set.Spec.Selector)
}

func containers(template *corev1.PodTemplateSpec) string {
	return joined(template, func(c *corev1.Container) string { return c.Name })
}

func images(template *corev1.PodTemplateSpec) string {
	return joined(template, func(c *corev1.Container) string { return c.Image })
}

func joined(template *corev1.PodTemplateSpec, text func(*corev1.Container) string) string {
	texts := make([]string, len(template.Spec.Containers))
	for i := range template.Spec.Containers {
		texts[i] = text(&template.Spec.Containers[i])
	}
	return strings.Join(texts, ",")
}
