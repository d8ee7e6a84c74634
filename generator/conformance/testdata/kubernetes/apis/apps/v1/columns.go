package v1

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ControllerColumn_ControllerRevision names the controller of a revision.
func ControllerColumn_ControllerRevision(in *appsv1.ControllerRevision) string {
	if owner := metav1.GetControllerOf(in); owner != nil {
		return strings.ToLower(owner.Kind) + "/" + owner.Name
	}
	return "<none>"
}

// ReadyColumn_Deployment counts the replicas that are ready.
func ReadyColumn_Deployment(in *appsv1.Deployment) string {
	return ready(in.Status.ReadyReplicas, in.Spec.Replicas)
}

// ReadyColumn_StatefulSet counts the replicas that are ready.
func ReadyColumn_StatefulSet(in *appsv1.StatefulSet) string {
	return ready(in.Status.ReadyReplicas, in.Spec.Replicas)
}

func ready(are int32, wanted *int32) string {
	if wanted == nil {
		wanted = new(int32)
	}
	return fmt.Sprintf("%d/%d", are, *wanted)
}
