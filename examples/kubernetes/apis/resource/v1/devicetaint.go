package v1

import (
	"context"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubernetes/internal/defaults"
)

// SetDefaults_DeviceTaint sets when a taint was added.
func SetDefaults_DeviceTaint(in *resourcev1.DeviceTaint) { defaults.Pointer(&in.TimeAdded, now()) }

// PrepareForCreate_DeviceTaintRule leaves the status to the controller.
func PrepareForCreate_DeviceTaintRule(_ context.Context, in *resourcev1.DeviceTaintRule) {
	in.Status = resourcev1.DeviceTaintRuleStatus{}
}

// PrepareForUpdate_DeviceTaintRule keeps the status. A new effect counts as a new taint, which claims tolerate from now
// on.
func PrepareForUpdate_DeviceTaintRule(_ context.Context, in, old *resourcev1.DeviceTaintRule) {
	in.Status = old.Status
	taint, was := &in.Spec.Taint, &old.Spec.Taint
	if taint.Effect != was.Effect && taint.TimeAdded.Equal(was.TimeAdded) {
		taint.TimeAdded = new(now())
	}
}

// now is the time in whole seconds, which is what JSON keeps of it.
func now() metav1.Time { return metav1.NewTime(time.Now().Truncate(time.Second)) }
