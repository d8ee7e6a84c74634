package v1

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/pod"
	"example.com/kubernetes/internal/rule"
)

// SetDefaults_ReplicationController takes selector and labels from the template.
func SetDefaults_ReplicationController(in *corev1.ReplicationController) {
	if in.Spec.Template == nil || in.Spec.Template.Labels == nil {
		return
	}
	if len(in.Spec.Selector) == 0 {
		in.Spec.Selector = maps.Clone(in.Spec.Template.Labels)
	}
	if len(in.Labels) == 0 {
		in.Labels = maps.Clone(in.Spec.Template.Labels)
	}
}

// PrepareForCreate_ReplicationController leaves the status to the controller.
func PrepareForCreate_ReplicationController(_ context.Context, in *corev1.ReplicationController) {
	in.Status = corev1.ReplicationControllerStatus{}
	if in.Spec.Template != nil {
		pod.DropDisabled(&in.Spec.Template.Spec)
	}
}

// PrepareForUpdate_ReplicationController keeps the status.
func PrepareForUpdate_ReplicationController(_ context.Context, in, old *corev1.ReplicationController) {
	in.Status = old.Status
	if in.Spec.Template != nil {
		pod.DropDisabled(&in.Spec.Template.Spec)
	}
}

// ValidateObject_ReplicationController returns the errors of a controller, but for those of the type's own tags.
func ValidateObject_ReplicationController(_ context.Context, in *corev1.ReplicationController) field.ErrorList {
	spec, path := &in.Spec, field.NewPath("spec")
	template := path.Child("template")
	errs := rule.When(len(spec.Selector) == 0, field.Required(path.Child("selector"), ""))
	if spec.Template == nil {
		return append(errs, field.Required(template, ""))
	}
	return rule.All(errs,
		rule.When(!labels.SelectorFromSet(spec.Selector).Matches(labels.Set(spec.Template.Labels)), field.Invalid(
			template.Child("metadata", "labels"), spec.Template.Labels, "`selector` does not match template `labels`")),
		pod.ValidateTemplate(spec.Template, template),
		pod.ValidateRunning(spec.Template, "ReplicationController", template),
	)
}

// ValidateStatusUpdate_ReplicationController returns the errors of a status.
func ValidateStatusUpdate_ReplicationController(
	_ context.Context, in, _ *corev1.ReplicationController,
) field.ErrorList {
	status, path := &in.Status, field.NewPath("status")
	return rule.All(
		rule.NotNegative(path.Child("replicas"), status.Replicas),
		rule.NotNegative(path.Child("fullyLabeledReplicas"), status.FullyLabeledReplicas),
		rule.NotNegative(path.Child("readyReplicas"), status.ReadyReplicas),
		rule.NotNegative(path.Child("availableReplicas"), status.AvailableReplicas),
		rule.NotNegative(path.Child("observedGeneration"), status.ObservedGeneration),
		rule.AtMost(path.Child("fullyLabeledReplicas"), status.FullyLabeledReplicas, status.Replicas,
			"status.replicas"),
		rule.AtMost(path.Child("readyReplicas"), status.ReadyReplicas, status.Replicas, "status.replicas"),
		rule.AtMost(path.Child("availableReplicas"), status.AvailableReplicas, status.Replicas, "status.replicas"),
		rule.AtMost(path.Child("availableReplicas"), status.AvailableReplicas, status.ReadyReplicas, "readyReplicas"),
	)
}

// PrepareForCreate_PodTemplate removes fields of features that kube-apiserver doesn't enable by default.
func PrepareForCreate_PodTemplate(_ context.Context, in *corev1.PodTemplate) {
	pod.DropDisabled(&in.Template.Spec)
}

// PrepareForUpdate_PodTemplate removes them, too.
func PrepareForUpdate_PodTemplate(_ context.Context, in, _ *corev1.PodTemplate) {
	pod.DropDisabled(&in.Template.Spec)
}

// ValidateObject_PodTemplate returns the errors of a template that nothing uses.
func ValidateObject_PodTemplate(_ context.Context, in *corev1.PodTemplate) field.ErrorList {
	return pod.ValidateTemplate(&in.Template, field.NewPath("template"))
}
