package v1

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/kubernetes/internal/column"
)

// ControllerColumn_ControllerRevision names the owner that controls a revision.
func ControllerColumn_ControllerRevision(revision *appsv1.ControllerRevision) string {
	ref := metav1.GetControllerOf(revision)
	if ref == nil {
		return column.None
	}
	kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
	return strings.ToLower(kind.String()) + "/" + ref.Name
}

// NodeSelectorColumn_DaemonSet shows the labels of the nodes that the pods run on.
func NodeSelectorColumn_DaemonSet(set *appsv1.DaemonSet) string {
	return column.Labels(set.Spec.Template.Spec.NodeSelector)
}

// ReadyColumn_Deployment returns the ready and the wanted replicas, such as 2/3.
func ReadyColumn_Deployment(deployment *appsv1.Deployment) string {
	return ready(deployment.Status.ReadyReplicas, deployment.Spec.Replicas)
}

// ReadyColumn_StatefulSet returns the ready and the wanted replicas, such as 2/3.
func ReadyColumn_StatefulSet(set *appsv1.StatefulSet) string {
	return ready(set.Status.ReadyReplicas, set.Spec.Replicas)
}

func ready(is int32, wanted *int32) string {
	if wanted == nil {
		wanted = new(int32)
	}
	return fmt.Sprintf("%d/%d", is, *wanted)
}

// ContainersColumn_DaemonSet lists the names of the containers.
func ContainersColumn_DaemonSet(set *appsv1.DaemonSet) string {
	return column.Containers(&set.Spec.Template)
}

// ContainersColumn_Deployment lists the names of the containers.
func ContainersColumn_Deployment(deployment *appsv1.Deployment) string {
	return column.Containers(&deployment.Spec.Template)
}

// ContainersColumn_ReplicaSet lists the names of the containers.
func ContainersColumn_ReplicaSet(set *appsv1.ReplicaSet) string {
	return column.Containers(&set.Spec.Template)
}

// ContainersColumn_StatefulSet lists the names of the containers.
func ContainersColumn_StatefulSet(set *appsv1.StatefulSet) string {
	return column.Containers(&set.Spec.Template)
}

// ImagesColumn_DaemonSet lists the images of the containers.
func ImagesColumn_DaemonSet(set *appsv1.DaemonSet) string { return column.Images(&set.Spec.Template) }

// ImagesColumn_Deployment lists the images of the containers.
func ImagesColumn_Deployment(deployment *appsv1.Deployment) string {
	return column.Images(&deployment.Spec.Template)
}

// ImagesColumn_ReplicaSet lists the images of the containers.
func ImagesColumn_ReplicaSet(set *appsv1.ReplicaSet) string { return column.Images(&set.Spec.Template) }

// ImagesColumn_StatefulSet lists the images of the containers.
func ImagesColumn_StatefulSet(set *appsv1.StatefulSet) string {
	return column.Images(&set.Spec.Template)
}

// SelectorColumn_DaemonSet shows the selector of the pods.
func SelectorColumn_DaemonSet(set *appsv1.DaemonSet) string {
	return metav1.FormatLabelSelector(set.Spec.Selector)
}

// SelectorColumn_Deployment shows the selector of the pods.
func SelectorColumn_Deployment(deployment *appsv1.Deployment) string {
	return metav1.FormatLabelSelector(deployment.Spec.Selector)
}

// SelectorColumn_ReplicaSet shows the selector of the pods.
func SelectorColumn_ReplicaSet(set *appsv1.ReplicaSet) string {
	return metav1.FormatLabelSelector(set.Spec.Selector)
}
