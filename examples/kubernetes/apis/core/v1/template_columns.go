package v1

import (
	corev1 "k8s.io/api/core/v1"

	"example.com/kubernetes/internal/column"
)

// ContainersColumn_PodTemplate lists the names of the containers.
func ContainersColumn_PodTemplate(template *corev1.PodTemplate) string {
	return column.Containers(&template.Template)
}

// ImagesColumn_PodTemplate lists the images of the containers.
func ImagesColumn_PodTemplate(template *corev1.PodTemplate) string {
	return column.Images(&template.Template)
}

// LabelsColumn_PodTemplate shows the labels of the pods.
func LabelsColumn_PodTemplate(template *corev1.PodTemplate) string {
	return column.Labels(template.Template.Labels)
}

// ContainersColumn_ReplicationController lists the names of the containers.
func ContainersColumn_ReplicationController(controller *corev1.ReplicationController) string {
	return column.Containers(controller.Spec.Template)
}

// ImagesColumn_ReplicationController lists the images of the containers.
func ImagesColumn_ReplicationController(controller *corev1.ReplicationController) string {
	return column.Images(controller.Spec.Template)
}

// SelectorColumn_ReplicationController shows the labels of the pods.
func SelectorColumn_ReplicationController(controller *corev1.ReplicationController) string {
	return column.Labels(controller.Spec.Selector)
}
