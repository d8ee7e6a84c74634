package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/pod"
	"example.com/kubernetes/internal/rule"
)

// validateSelector validates the selector of the pods of a kind. template validates their template, if the selector can
// be compared with it.
func validateSelector(
	selector *metav1.LabelSelector, kind, invalid string, path *field.Path, template func() rule.Errors,
) rule.Errors {
	if selector == nil {
		return template() // the type's own tags report that there is none
	}
	errs := append(pod.ValidateSelector(selector, path),
		rule.When(len(selector.MatchLabels)+len(selector.MatchExpressions) == 0, field.Invalid(path, selector,
			"empty selector is invalid for "+kind))...)
	if _, err := metav1.LabelSelectorAsSelector(selector); err != nil {
		return append(errs, field.Invalid(path, selector, invalid))
	}
	return append(errs, template()...)
}

// validateTemplate validates the template of pods that run on and on.
func validateTemplate(
	selector *metav1.LabelSelector, template *corev1.PodTemplateSpec, kind string, path *field.Path,
) rule.Errors {
	return rule.All(
		validateMatch(selector, template, path),
		pod.ValidateTemplate(template, path),
		pod.ValidateRunning(template, kind, path),
	)
}

func validateMatch(selector *metav1.LabelSelector, template *corev1.PodTemplateSpec, path *field.Path) rule.Errors {
	matches, err := metav1.LabelSelectorAsSelector(selector)
	return rule.When(err == nil && !matches.Empty() && !matches.Matches(labels.Set(template.Labels)),
		field.Invalid(path.Child("metadata", "labels"), template.Labels,
			"`selector` does not match template `labels`"))
}

// notDecremented wants a number not to become less.
func notDecremented(path *field.Path, is, was *int32) rule.Errors {
	if was == nil || is != nil && *is >= *was {
		return nil
	}
	now := int32(0)
	if is != nil {
		now = *is
	}
	return rule.Errors{field.Invalid(path, now, "cannot be decremented")}
}
