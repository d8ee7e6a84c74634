package v1

import (
	"context"
	"fmt"
	"maps"
	"math"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/defaults"
	"example.com/kubernetes/internal/pod"
	"example.com/kubernetes/internal/rule"
)

// SetDefaults_Job sets how many pods there are, and how often they may fail.
func SetDefaults_Job(in *batchv1.Job) {
	if in.Spec.Completions == nil && in.Spec.Parallelism == nil {
		in.Spec.Completions = new(int32(1))
	}
	defaults.Pointer(&in.Spec.Parallelism, 1)
	limit := int32(6)
	if in.Spec.BackoffLimitPerIndex != nil {
		limit = math.MaxInt32
	}
	defaults.Pointer(&in.Spec.BackoffLimit, limit)
	if len(in.Labels) == 0 {
		in.Labels = maps.Clone(in.Spec.Template.Labels)
	}
	defaults.Pointer(&in.Spec.CompletionMode, batchv1.NonIndexedCompletion)
	defaults.Pointer(&in.Spec.Suspend, false)
	replace := batchv1.TerminatingOrFailed
	if in.Spec.PodFailurePolicy != nil {
		replace = batchv1.Failed
	}
	defaults.Pointer(&in.Spec.PodReplacementPolicy, replace)
	defaults.Pointer(&in.Spec.ManualSelector, false)
}

// SetDefaults_PodFailurePolicyOnPodConditionsPattern says that a condition must be true.
func SetDefaults_PodFailurePolicyOnPodConditionsPattern(in *batchv1.PodFailurePolicyOnPodConditionsPattern) {
	defaults.Value(&in.Status, corev1.ConditionTrue)
}

// legacyUID is the label that older controllers know the pods of a job by.
const legacyUID = "controller-uid"

const legacyName = "job-name"

// PrepareForCreate_Job labels the pods, and selects them by the labels.
func PrepareForCreate_Job(_ context.Context, in *batchv1.Job) {
	in.Status = batchv1.JobStatus{}
	dropDisabled(&in.Spec)
	if *in.Spec.ManualSelector {
		return
	}
	if in.Spec.Template.Labels == nil {
		in.Spec.Template.Labels = map[string]string{}
	}
	for key, value := range map[string]string{legacyName: in.Name, batchv1.JobNameLabel: in.Name,
		legacyUID: string(in.UID), batchv1.ControllerUidLabel: string(in.UID)} {
		if _, found := in.Spec.Template.Labels[key]; !found {
			in.Spec.Template.Labels[key] = value
		}
	}
	defaults.Pointer(&in.Spec.Selector, metav1.LabelSelector{})
	if in.Spec.Selector.MatchLabels == nil {
		in.Spec.Selector.MatchLabels = map[string]string{}
	}
	if _, found := in.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel]; !found {
		in.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel] = string(in.UID)
	}
	if len(in.Labels) == 0 {
		in.Labels = maps.Clone(in.Spec.Template.Labels)
	}
}

// PrepareForUpdate_Job keeps the status.
func PrepareForUpdate_Job(_ context.Context, in, old *batchv1.Job) {
	in.Status = old.Status
	dropDisabled(&in.Spec)
}

// dropDisabled removes fields of features that kube-apiserver doesn't enable by default.
func dropDisabled(in *batchv1.JobSpec) {
	in.Scheduling = nil
	pod.DropDisabled(&in.Template.Spec)
}

// ValidateObject_Job returns the errors of a job.
func ValidateObject_Job(_ context.Context, in *batchv1.Job) (errs field.ErrorList) {
	path := field.NewPath("spec")
	created := in.ResourceVersion == ""
	if created {
		errs = validateGenerated(in)
	}
	errs = append(errs, validateSpec(&in.Spec, path)...)
	if in.Spec.Selector == nil {
		errs = append(errs, field.Required(path.Child("selector"), ""))
	} else {
		errs = append(errs, pod.ValidateSelector(in.Spec.Selector, path.Child("selector"))...)
	}
	if selector, err := metav1.LabelSelectorAsSelector(in.Spec.Selector); err == nil {
		errs = append(errs, rule.When(!selector.Matches(labels.Set(in.Spec.Template.Labels)),
			field.Invalid(path.Child("template", "metadata", "labels"), in.Spec.Template.Labels,
				"`selector` does not match template `labels`"))...)
	}
	if created && isIndexed(&in.Spec) && in.Spec.Completions != nil && *in.Spec.Completions > 0 {
		name := fmt.Sprintf("%s-%d", in.Name, *in.Spec.Completions-1)
		errs = append(errs, rule.When(len(validation.IsDNS1123Label(name)) > 0, field.Invalid(
			field.NewPath("metadata", "name"), in.Name,
			"will not able to create pod with invalid DNS label: "+name))...)
	}
	return errs
}

// validateGenerated wants the labels that the server sets to be what it sets.
func validateGenerated(in *batchv1.Job) (errs rule.Errors) {
	if *in.Spec.ManualSelector || in.Spec.Selector == nil {
		return nil
	}
	path := field.NewPath("spec", "template", "metadata", "labels")
	want := map[string]string{}
	for _, l := range [][2]string{{legacyUID, string(in.UID)}, {legacyName, in.Name},
		{batchv1.ControllerUidLabel, string(in.UID)}, {batchv1.JobNameLabel, in.Name}} {
		want[l[0]] = l[1]
		message := fmt.Sprintf("must be '%s'", l[1])
		switch is, found := in.Spec.Template.Labels[l[0]]; {
		case !found:
			errs = append(errs, field.Required(path.Key(l[0]), message))
		case is != l[1]:
			errs = append(errs, field.Invalid(path.Key(l[0]), in.Spec.Template.Labels, message))
		}
	}
	if selector, err := metav1.LabelSelectorAsSelector(in.Spec.Selector); err == nil {
		errs = append(errs, rule.When(!selector.Matches(labels.Set(want)), field.Invalid(
			field.NewPath("spec", "selector"), in.Spec.Selector, "`selector` not auto-generated"))...)
	}
	return errs
}

// ValidateUpdate_Job holds what the pods that there are depend on.
func ValidateUpdate_Job(_ context.Context, in, old *batchv1.Job) field.ErrorList {
	is, was, path := &in.Spec, &old.Spec, field.NewPath("spec")
	return rule.All(
		validateCompletions(is, was, path.Child("completions")),
		rule.Immutable(path.Child("selector"), is.Selector, was.Selector),
		validateTemplateUpdate(in, old, path.Child("template")),
		rule.Immutable(path.Child("completionMode"), is.CompletionMode, was.CompletionMode),
		rule.Immutable(path.Child("podFailurePolicy"), is.PodFailurePolicy, was.PodFailurePolicy),
		rule.Immutable(path.Child("backoffLimitPerIndex"), is.BackoffLimitPerIndex, was.BackoffLimitPerIndex),
		rule.Immutable(path.Child("managedBy"), is.ManagedBy, was.ManagedBy),
		rule.Immutable(path.Child("successPolicy"), is.SuccessPolicy, was.SuccessPolicy),
	)
}

func validateCompletions(is, was *batchv1.JobSpec, path *field.Path) rule.Errors {
	if !isIndexed(is) {
		return rule.Immutable(path, is.Completions, was.Completions)
	}
	if equality.Semantic.DeepEqual(is.Completions, was.Completions) || is.Completions == nil {
		return nil
	}
	return rule.When(*is.Completions != *is.Parallelism, field.Invalid(path, is.Completions,
		"can only be modified in tandem with spec.parallelism"))
}

// validateTemplateUpdate holds the template. A job that is suspended, and never started, may still say where and with
// what its pods run.
func validateTemplateUpdate(in, old *batchv1.Job, path *field.Path) rule.Errors {
	was := &old.Spec.Template
	if *old.Spec.Suspend && *in.Spec.Suspend && old.Status.StartTime == nil {
		was = was.DeepCopy()
		is := in.Spec.Template.DeepCopy()
		if is.Spec.Affinity != nil || was.Spec.Affinity != nil {
			defaults.Pointer(&is.Spec.Affinity, corev1.Affinity{})
			defaults.Pointer(&was.Spec.Affinity, corev1.Affinity{})
			was.Spec.Affinity.NodeAffinity = is.Spec.Affinity.NodeAffinity
			if *was.Spec.Affinity == (corev1.Affinity{}) {
				was.Spec.Affinity = in.Spec.Template.Spec.Affinity
			}
		}
		was.Spec.NodeSelector, was.Spec.Tolerations = is.Spec.NodeSelector, is.Spec.Tolerations
		was.Spec.SchedulingGates = is.Spec.SchedulingGates
		was.Annotations, was.Labels = is.Annotations, is.Labels
		keepResources(was.Spec.Containers, is.Spec.Containers)
		keepResources(was.Spec.InitContainers, is.Spec.InitContainers)
	}
	return rule.Immutable(path, &in.Spec.Template, was)
}

func keepResources(was, is []corev1.Container) {
	for i := range was {
		if len(was) == len(is) && was[i].Name == is[i].Name {
			was[i].Resources = is[i].Resources
		}
	}
}

// ValidateStatusUpdate_Job returns the errors of a status.
func ValidateStatusUpdate_Job(_ context.Context, in, _ *batchv1.Job) field.ErrorList {
	status, path := &in.Status, field.NewPath("status")
	return rule.All(
		rule.NotNegative(path.Child("active"), status.Active),
		rule.NotNegative(path.Child("succeeded"), status.Succeeded),
		rule.NotNegative(path.Child("failed"), status.Failed),
		rule.OptionalNotNegative(path.Child("ready"), status.Ready),
		rule.OptionalNotNegative(path.Child("terminating"), status.Terminating),
	)
}
