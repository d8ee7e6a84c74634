package v1

import (
	"context"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/defaults"
	"example.com/kubernetes/internal/pod"
	"example.com/kubernetes/internal/rule"
)

// SetDefaults_DaemonSet sets how pods are replaced.
func SetDefaults_DaemonSet(in *appsv1.DaemonSet) {
	defaults.Pointer(&in.Spec.RevisionHistoryLimit, 10)
	defaults.Value(&in.Spec.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if in.Spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		defaults.Pointer(&in.Spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		defaults.Pointer(&in.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		defaults.Pointer(&in.Spec.UpdateStrategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	}
}

// PrepareForCreate_DaemonSet leaves the status to the controller.
func PrepareForCreate_DaemonSet(_ context.Context, in *appsv1.DaemonSet) {
	in.Status = appsv1.DaemonSetStatus{}
	pod.DropDisabled(&in.Spec.Template.Spec)
	setTemplateGeneration(in, max(templateGeneration(in), 1))
}

// templateGeneration counts the changes of the template of pods, in an annotation that an older version had as a field.
func templateGeneration(in *appsv1.DaemonSet) int64 {
	count, err := strconv.ParseInt(in.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	if err != nil {
		return 0
	}
	return count
}

func setTemplateGeneration(in *appsv1.DaemonSet, count int64) {
	metav1.SetMetaDataAnnotation(&in.ObjectMeta, appsv1.DeprecatedTemplateGeneration, strconv.FormatInt(count, 10))
}

// PrepareForUpdate_DaemonSet keeps the status, and counts changes of the template.
func PrepareForUpdate_DaemonSet(_ context.Context, in, old *appsv1.DaemonSet) {
	in.Status = old.Status
	pod.DropDisabled(&in.Spec.Template.Spec)
	count := templateGeneration(old)
	if !equality.Semantic.DeepEqual(in.Spec.Template, old.Spec.Template) {
		count++
	}
	setTemplateGeneration(in, count)
}

// ValidateObject_DaemonSet returns the errors of a daemon set.
func ValidateObject_DaemonSet(_ context.Context, in *appsv1.DaemonSet) field.ErrorList {
	spec, path := &in.Spec, field.NewPath("spec")
	selector, template := path.Child("selector"), path.Child("template")
	empty := spec.Selector != nil && len(spec.Selector.MatchLabels)+len(spec.Selector.MatchExpressions) == 0
	return rule.All(
		pod.ValidateSelector(spec.Selector, selector),
		validateMatch(spec.Selector, &spec.Template, template),
		rule.When(empty, field.Invalid(selector, spec.Selector, "empty selector is invalid for daemonset")),
		pod.ValidateTemplate(&spec.Template, template),
		pod.ValidateRunning(&spec.Template, "DaemonSet", template),
		rule.NotNegative(path.Child("minReadySeconds"), spec.MinReadySeconds),
		validateDaemonSetStrategy(&spec.UpdateStrategy, path.Child("updateStrategy")),
		rule.OptionalNotNegative(path.Child("revisionHistoryLimit"), spec.RevisionHistoryLimit),
	)
}

func validateDaemonSetStrategy(strategy *appsv1.DaemonSetUpdateStrategy, path *field.Path) rule.Errors {
	switch strategy.Type {
	case appsv1.OnDeleteDaemonSetStrategyType:
		return nil
	case appsv1.RollingUpdateDaemonSetStrategyType:
	default:
		return rule.Errors{field.NotSupported(path, strategy, []appsv1.DaemonSetUpdateStrategyType{
			appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType})}
	}
	rolling := path.Child("rollingUpdate")
	unavailable, surge := *strategy.RollingUpdate.MaxUnavailable, *strategy.RollingUpdate.MaxSurge
	some, more := rule.Amount(unavailable) != 0, rule.Amount(surge) != 0
	return rule.All(
		rule.Share(rolling.Child("maxUnavailable"), unavailable),
		rule.Share(rolling.Child("maxSurge"), surge),
		rule.AtMostAll(rolling.Child("maxUnavailable"), unavailable),
		rule.AtMostAll(rolling.Child("maxSurge"), surge),
		rule.When(some && more, field.Invalid(rolling.Child("maxSurge"), surge,
			"may not be set when maxUnavailable is non-zero")),
		rule.When(!some && !more, field.Required(rolling.Child("maxUnavailable"), "cannot be 0 when maxSurge is 0")),
	)
}

// ValidateUpdate_DaemonSet holds the selector.
func ValidateUpdate_DaemonSet(_ context.Context, in, old *appsv1.DaemonSet) field.ErrorList {
	return rule.Immutable(field.NewPath("spec", "selector"), in.Spec.Selector, old.Spec.Selector)
}

// ValidateStatusUpdate_DaemonSet returns the errors of a status.
func ValidateStatusUpdate_DaemonSet(_ context.Context, in, old *appsv1.DaemonSet) field.ErrorList {
	status, path := &in.Status, field.NewPath("status")
	return rule.All(
		rule.NotNegative(path.Child("currentNumberScheduled"), status.CurrentNumberScheduled),
		rule.NotNegative(path.Child("numberMisscheduled"), status.NumberMisscheduled),
		rule.NotNegative(path.Child("desiredNumberScheduled"), status.DesiredNumberScheduled),
		rule.NotNegative(path.Child("numberReady"), status.NumberReady),
		rule.NotNegative(path.Child("observedGeneration"), status.ObservedGeneration),
		rule.NotNegative(path.Child("updatedNumberScheduled"), status.UpdatedNumberScheduled),
		rule.NotNegative(path.Child("numberAvailable"), status.NumberAvailable),
		rule.NotNegative(path.Child("numberUnavailable"), status.NumberUnavailable),
		rule.OptionalNotNegative(path.Child("collisionCount"), status.CollisionCount),
		notDecremented(path.Child("collisionCount"), status.CollisionCount, old.Status.CollisionCount),
	)
}
