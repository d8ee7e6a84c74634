package pod

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/rule"
)

// validateSpread validates how pods are spread over topologies.
func validateSpread(constraints []corev1.TopologySpreadConstraint, path *field.Path) (errs rule.Errors) {
	for i := range constraints {
		c, at := &constraints[i], path.Index(i)
		again := slices.ContainsFunc(constraints[i+1:], func(other corev1.TopologySpreadConstraint) bool {
			return other.TopologyKey == c.TopologyKey && other.WhenUnsatisfiable == c.WhenUnsatisfiable
		})
		errs = append(errs, rule.All(
			rule.Positive(at.Child("maxSkew"), c.MaxSkew),
			rule.When(c.TopologyKey == "", field.Required(at.Child("topologyKey"), "can not be empty")),
			rule.OneOf(at.Child("whenUnsatisfiable"), c.WhenUnsatisfiable, corev1.DoNotSchedule,
				corev1.ScheduleAnyway),
			rule.When(again, field.Duplicate(at.Child("{topologyKey, whenUnsatisfiable}"),
				fmt.Sprintf("{%v, %v}", c.TopologyKey, c.WhenUnsatisfiable))),
			validateMinDomains(c, at.Child("minDomains")),
			rule.OptionalOneOf(at.Child("nodeAffinityPolicy"), c.NodeAffinityPolicy, corev1.NodeInclusionPolicyHonor,
				corev1.NodeInclusionPolicyIgnore),
			rule.OptionalOneOf(at.Child("nodeTaintsPolicy"), c.NodeTaintsPolicy, corev1.NodeInclusionPolicyHonor,
				corev1.NodeInclusionPolicyIgnore),
			validateLabelKeys(at, c.MatchLabelKeys, nil, c.LabelSelector),
			ValidateSelector(c.LabelSelector, at.Child("labelSelector")),
		)...)
	}
	return errs
}

func validateMinDomains(c *corev1.TopologySpreadConstraint, path *field.Path) rule.Errors {
	if c.MinDomains == nil {
		return nil
	}
	return append(rule.Positive(path, *c.MinDomains), rule.When(c.WhenUnsatisfiable != corev1.DoNotSchedule,
		field.Invalid(path, c.MinDomains, fmt.Sprintf("can only use minDomains if whenUnsatisfiable=%s, not %s",
			corev1.DoNotSchedule, c.WhenUnsatisfiable)))...)
}
