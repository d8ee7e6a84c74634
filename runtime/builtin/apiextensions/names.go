package apiextensions

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	v1 "apigen.dev/runtime/builtin/apiextensions/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var errChanged = errors.New("the definition has changed")

// taken are the names that the other definitions of a group have.
type taken struct{ resources, kinds []string }

func (c *controller) takenFrom(crd *definition) (t taken) {
	for name, e := range c.known {
		if name == crd.Name || e.group != crd.Spec.Group {
			continue
		}
		n := &e.accepted
		t.resources = append(append(t.resources, n.Plural, n.Singular), n.ShortNames...)
		t.kinds = append(t.kinds, n.Kind, n.ListKind)
	}
	return t
}

// acceptNames accepts the names of a definition that no other one of its group has, and reports whether that changed
// the status. A name that was accepted stays accepted.
func (c *controller) acceptNames(crd *definition) bool {
	asked, has := &crd.Spec.Names, &crd.Status.AcceptedNames
	if reflect.DeepEqual(*asked, *has) && v1.IsTrue(crd, apiextensionsv1.NamesAccepted) {
		return false
	}
	t, before := c.takenFrom(crd), *has
	condition := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue, Reason: "NoConflicts",
		Message: "no conflicts found",
	}
	refuse := func(reason, message string) {
		condition.Status, condition.Reason, condition.Message = apiextensionsv1.ConditionFalse, reason, message
	}
	accept := func(asked string, has *string, taken []string, reason string) {
		if asked != *has && slices.Contains(taken, asked) {
			refuse(reason, inUse(asked))
			return
		}
		*has = asked
	}
	accept(asked.Plural, &has.Plural, t.resources, "PluralConflict")
	accept(asked.Singular, &has.Singular, t.resources, "SingularConflict")
	var conflicts []string
	for _, name := range asked.ShortNames {
		if !slices.Contains(has.ShortNames, name) && slices.Contains(t.resources, name) {
			conflicts = append(conflicts, inUse(name))
		}
	}
	switch {
	case len(conflicts) > 1:
		refuse("ShortNamesConflict", "["+strings.Join(conflicts, ", ")+"]")
	case len(conflicts) == 1:
		refuse("ShortNamesConflict", conflicts[0])
	default:
		has.ShortNames = asked.ShortNames
	}
	accept(asked.Kind, &has.Kind, t.kinds, "KindConflict")
	accept(asked.ListKind, &has.ListKind, t.kinds, "ListKindConflict")
	has.Categories = asked.Categories
	changed := v1.SetCondition(crd, condition) || !reflect.DeepEqual(before, *has)
	if condition.Status != apiextensionsv1.ConditionTrue && v1.Condition(crd, apiextensionsv1.Established) == nil {
		changed = v1.SetCondition(crd, apiextensionsv1.CustomResourceDefinitionCondition{
			Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionFalse, Reason: "NotAccepted",
			Message: "not all names are accepted",
		}) || changed
	}
	return changed
}

func inUse(name string) string { return fmt.Sprintf("%q is already in use", name) }

// judgeStructure sets the condition NonStructuralSchema where a schema isn't structural, and removes it elsewhere. A
// definition that was written through this server has structural schemas; one that another server wrote may not.
func judgeStructure(crd *definition) bool {
	if v1.IsTrue(crd, apiextensionsv1.Established) && !crd.Spec.PreserveUnknownFields {
		return v1.RemoveCondition(crd, apiextensionsv1.NonStructuralSchema)
	}
	var faults field.ErrorList
	if crd.Spec.PreserveUnknownFields {
		faults = append(faults, field.Invalid(field.NewPath("spec", "preserveUnknownFields"), true, "must be false"))
	}
	for i := range crd.Spec.Versions {
		if s := crd.Spec.Versions[i].Schema; s != nil && s.OpenAPIV3Schema != nil {
			path := field.NewPath("spec", "versions").Index(i).Child("schema", "openAPIV3Schema")
			faults = append(faults, v1.StructuralFaults(s.OpenAPIV3Schema, path)...)
		}
	}
	if len(faults) == 0 {
		return v1.RemoveCondition(crd, apiextensionsv1.NonStructuralSchema)
	}
	return v1.SetCondition(crd, apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.NonStructuralSchema, Status: apiextensionsv1.ConditionTrue, Reason: "Violations",
		Message: faults.ToAggregate().Error(),
	})
}

// judgeApproval sets the condition KubernetesAPIApprovalPolicyConformant of definitions in protected groups.
func judgeApproval(crd *definition) bool {
	if !v1.IsProtected(crd.Spec.Group) {
		return false
	}
	state, reason := v1.Approval(crd)
	condition := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.KubernetesAPIApprovalPolicyConformant, Status: apiextensionsv1.ConditionFalse,
		Message: reason,
	}
	switch state {
	case v1.Approved:
		condition.Status, condition.Reason = apiextensionsv1.ConditionTrue, "ApprovedAnnotation"
	case v1.ApprovalBypassed:
		condition.Reason = "UnapprovedAnnotation"
	case v1.ApprovalMissing:
		condition.Reason = "MissingAnnotation"
	default:
		condition.Reason = "InvalidAnnotation"
	}
	return v1.SetCondition(crd, condition)
}
