package pod

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/rule"
)

// The members of affinities.
const (
	mustBe   = "requiredDuringSchedulingIgnoredDuringExecution"
	shouldBe = "preferredDuringSchedulingIgnoredDuringExecution"
)

func validateAffinity(affinity *corev1.Affinity, path *field.Path) (errs rule.Errors) {
	if affinity == nil {
		return nil
	}
	if a, at := affinity.NodeAffinity, path.Child("nodeAffinity"); a != nil {
		if a.RequiredDuringSchedulingIgnoredDuringExecution != nil {
			errs = append(errs, ValidateNodeSelector(a.RequiredDuringSchedulingIgnoredDuringExecution,
				at.Child(mustBe))...)
		}
		errs = append(errs, rule.Each(a.PreferredDuringSchedulingIgnoredDuringExecution, at.Child(shouldBe),
			func(term *corev1.PreferredSchedulingTerm, path *field.Path) rule.Errors {
				return append(weight(path, term.Weight),
					validateNodeTerm(&term.Preference, false, path.Child("preference"))...)
			})...)
	}
	if a, at := affinity.PodAffinity, path.Child("podAffinity"); a != nil {
		errs = append(errs, validatePodTerms(a.RequiredDuringSchedulingIgnoredDuringExecution,
			a.PreferredDuringSchedulingIgnoredDuringExecution, at)...)
	}
	if a, at := affinity.PodAntiAffinity, path.Child("podAntiAffinity"); a != nil {
		errs = append(errs, validatePodTerms(a.RequiredDuringSchedulingIgnoredDuringExecution,
			a.PreferredDuringSchedulingIgnoredDuringExecution, at)...)
	}
	return errs
}

func weight(path *field.Path, weight int32) rule.Errors {
	return rule.When(weight <= 0 || weight > 100,
		field.Invalid(path.Child("weight"), weight, "must be in the range 1-100"))
}

// ValidateNodeSelector validates a selector of nodes.
func ValidateNodeSelector(selector *corev1.NodeSelector, path *field.Path) rule.Errors {
	terms := path.Child("nodeSelectorTerms")
	if len(selector.NodeSelectorTerms) == 0 {
		return rule.Errors{field.Required(terms, "must have at least one node selector term")}
	}
	return rule.Each(selector.NodeSelectorTerms, terms, func(t *corev1.NodeSelectorTerm, path *field.Path) rule.Errors {
		return validateNodeTerm(t, true, path)
	})
}

func validateNodeTerm(term *corev1.NodeSelectorTerm, checkValues bool, path *field.Path) rule.Errors {
	return append(rule.Each(term.MatchExpressions, path.Child("matchExpressions"),
		func(r *corev1.NodeSelectorRequirement, path *field.Path) rule.Errors {
			return validateNodeRequirement(r, checkValues, path)
		}), rule.Each(term.MatchFields, path.Child("matchFields"), validateNodeField)...)
}

func validateNodeRequirement(r *corev1.NodeSelectorRequirement, checkValues bool, path *field.Path) (errs rule.Errors) {
	values := path.Child("values")
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		errs = rule.When(len(r.Values) == 0, field.Required(values,
			"must be specified when `operator` is 'In' or 'NotIn'"))
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		errs = rule.When(len(r.Values) > 0, field.Forbidden(values,
			"may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		errs = rule.When(len(r.Values) != 1, field.Required(values,
			"must be specified single value when `operator` is 'Lt' or 'Gt'"))
	default:
		errs = rule.Errors{field.Invalid(path.Child("operator"), r.Operator, "not a valid selector operator")}
	}
	errs = append(errs, metav1validation.ValidateLabelName(r.Key, path.Child("key"))...)
	if !checkValues {
		return errs
	}
	return append(errs, rule.Each(r.Values, values, func(value *string, path *field.Path) rule.Errors {
		return rule.Texts(path, *value, validation.IsValidLabelValue(*value))
	})...)
}

func validateNodeField(r *corev1.NodeSelectorRequirement, path *field.Path) (errs rule.Errors) {
	values := path.Child("values")
	if r.Operator != corev1.NodeSelectorOpIn && r.Operator != corev1.NodeSelectorOpNotIn {
		errs = rule.Errors{field.Invalid(path.Child("operator"), r.Operator, "not a valid selector operator")}
	} else {
		errs = rule.When(len(r.Values) != 1, field.Required(values,
			"must be only one value when `operator` is 'In' or 'NotIn' for node field selector"))
	}
	if r.Key != metav1.ObjectNameField {
		return append(errs, field.Invalid(path.Child("key"), r.Key, "not a valid field selector key"))
	}
	return append(errs, rule.Each(r.Values, values, func(value *string, path *field.Path) rule.Errors {
		return rule.Subdomain(path, *value)
	})...)
}

func validatePodTerms(
	required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm, path *field.Path,
) rule.Errors {
	return append(rule.Each(required, path.Child(mustBe), validatePodTerm),
		rule.Each(preferred, path.Child(shouldBe),
			func(term *corev1.WeightedPodAffinityTerm, path *field.Path) rule.Errors {
				return append(weight(path, term.Weight),
					validatePodTerm(&term.PodAffinityTerm, path.Child("podAffinityTerm"))...)
			})...)
}

func validatePodTerm(term *corev1.PodAffinityTerm, path *field.Path) rule.Errors {
	errs := append(ValidateSelector(term.LabelSelector, path.Child("labelSelector")),
		ValidateSelector(term.NamespaceSelector, path.Child("namespaceSelector"))...)
	for _, name := range term.Namespaces {
		errs = append(errs, rule.Label(path.Child("namespace"), name)...)
	}
	errs = append(errs, validateLabelKeys(path, term.MatchLabelKeys, term.MismatchLabelKeys, term.LabelSelector)...)
	key := path.Child("topologyKey")
	errs = append(errs, rule.When(term.TopologyKey == "", field.Required(key, "can not be empty"))...)
	return append(errs, metav1validation.ValidateLabelName(term.TopologyKey, key)...)
}

// ValidateSelector validates a selector of labels.
func ValidateSelector(selector *metav1.LabelSelector, path *field.Path) rule.Errors {
	return metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, path)
}

// validateLabelKeys validates the keys of labels in which pods must, and must not, be alike.
func validateLabelKeys(
	path *field.Path, match, mismatch []string, selector *metav1.LabelSelector,
) (errs rule.Errors) {
	for _, list := range []struct {
		name string
		keys []string
	}{{"matchLabelKeys", match}, {"mismatchLabelKeys", mismatch}} {
		at := path.Child(list.name)
		if len(list.keys) > 0 && selector == nil {
			errs = append(errs, field.Forbidden(at, "must not be specified when labelSelector is not set"))
			continue
		}
		errs = append(errs, rule.Each(list.keys, at, func(key *string, path *field.Path) rule.Errors {
			return metav1validation.ValidateLabelName(*key, path)
		})...)
	}
	errs = append(errs, validateMergedKeys(path, match, selector)...)
	return append(errs, rule.Each(match, path.Child("matchLabelKeys"), func(key *string, path *field.Path) rule.Errors {
		return rule.When(slices.Contains(mismatch, *key),
			field.Invalid(path, *key, "exists in both matchLabelKeys and mismatchLabelKeys"))
	})...)
}

// validateMergedKeys refuses keys that a selector names twice: the server adds a requirement for each key once.
func validateMergedKeys(path *field.Path, match []string, selector *metav1.LabelSelector) (errs rule.Errors) {
	if selector == nil {
		return nil
	}
	seen := map[string]bool{}
	for key := range selector.MatchLabels {
		seen[key] = true
	}
	for _, requirement := range selector.MatchExpressions {
		if i := slices.Index(match, requirement.Key); i >= 0 && seen[requirement.Key] {
			errs = append(errs, field.Invalid(path.Index(i), requirement.Key,
				"exists in both matchLabelKeys and labelSelector"))
		}
		seen[requirement.Key] = true
	}
	return errs
}

// ValidateTolerations validates what taints pods tolerate.
func ValidateTolerations(tolerations []corev1.Toleration, path *field.Path) rule.Errors {
	return rule.Each(tolerations, path, func(t *corev1.Toleration, path *field.Path) (errs rule.Errors) {
		operator, effect := path.Child("operator"), path.Child("effect")
		if t.Key != "" {
			errs = append(errs, metav1validation.ValidateLabelName(t.Key, path.Child("key"))...)
		}
		errs = append(errs, rule.When(t.Key == "" && t.Operator != corev1.TolerationOpExists, field.Invalid(operator,
			t.Operator, `operator must be Exists when `+"`key`"+` is empty, which means "match all values and all `+
				`keys"`))...)
		errs = append(errs, rule.When(t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute,
			field.Invalid(effect, t.Effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))...)
		errs = append(errs, validateTolerated(t, path)...)
		if t.Effect == "" {
			return errs
		}
		return append(errs, Effect(effect, t.Effect)...)
	})
}

// validateTolerated validates the operator and the value of a toleration.
func validateTolerated(t *corev1.Toleration, path *field.Path) (errs rule.Errors) {
	operator := path.Child("operator")
	switch t.Operator {
	case corev1.TolerationOpEqual, "":
		if messages := validation.IsValidLabelValue(t.Value); len(messages) > 0 {
			errs = append(errs, field.Invalid(operator, t.Value, strings.Join(messages, ";")))
		}
	case corev1.TolerationOpExists:
		errs = rule.When(t.Value != "", field.Invalid(operator, t.Value,
			"value must be empty when `operator` is 'Exists'"))
	case corev1.TolerationOpLt, corev1.TolerationOpGt: // which aren't enabled
		errs = rule.Errors{field.NotSupported(operator, t.Operator, []corev1.TolerationOperator{
			corev1.TolerationOpEqual, corev1.TolerationOpExists, corev1.TolerationOpLt, corev1.TolerationOpGt})}
	default:
		errs = rule.OneOf(operator, t.Operator, corev1.TolerationOpEqual, corev1.TolerationOpExists)
	}
	return errs
}

// Effect wants one of the effects of taints.
func Effect(path *field.Path, effect corev1.TaintEffect) rule.Errors {
	return rule.OneOf(path, effect, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule,
		corev1.TaintEffectNoExecute)
}
