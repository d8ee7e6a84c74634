package v1

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"apigen.dev/runtime/builtin/flowcontrol/preset"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	specPath       = field.NewPath("spec")
	conditionsPath = field.NewPath("status", "conditions")
)

// ValidateObject_FlowSchema returns kube-apiserver's errors for the schema.
func ValidateObject_FlowSchema(_ context.Context, schema *flowcontrolv1.FlowSchema) field.ErrorList {
	errs := validateSchema(schema.Name, &schema.Spec)
	for _, mandatory := range preset.MandatorySchemas() {
		if mandatory.Name == schema.Name && !equality.Semantic.DeepEqual(schema.Spec, mandatory.Spec) {
			errs = append(errs, mustBeFixed(schema.Name, schema.Spec, ""))
		}
	}
	return append(errs, validateSchemaConditions(schema.Status.Conditions)...)
}

func mustBeFixed(name string, spec any, except string) *field.Error {
	return field.Invalid(specPath, spec, fmt.Sprintf("spec of '%s'%s must equal the fixed value", name, except))
}

// ValidateStatusUpdate_FlowSchema returns kube-apiserver's errors for the conditions.
func ValidateStatusUpdate_FlowSchema(_ context.Context, schema, _ *flowcontrolv1.FlowSchema) field.ErrorList {
	return validateSchemaConditions(schema.Status.Conditions)
}

func validateSchemaConditions(conditions []flowcontrolv1.FlowSchemaCondition) field.ErrorList {
	types := make([]string, len(conditions))
	for i := range conditions {
		types[i] = string(conditions[i].Type)
	}
	return validateConditions(types)
}

// validateConditions asks that conditions have different types.
func validateConditions(types []string) (errs field.ErrorList) {
	for i, of := range types {
		path := conditionsPath.Index(i).Child("type")
		if slices.Contains(types[:i], of) {
			errs = append(errs, field.Duplicate(path, of))
		}
		if of == "" {
			errs = append(errs, field.Required(path, ""))
		}
	}
	return errs
}

func validateSchema(name string, spec *flowcontrolv1.FlowSchemaSpec) (errs field.ErrorList) {
	invalid := func(text string) {
		errs = append(errs, field.Invalid(specPath.Child("matchingPrecedence"), spec.MatchingPrecedence, text))
	}
	const most = flowcontrolv1.FlowSchemaMaxMatchingPrecedence
	if spec.MatchingPrecedence <= 0 {
		invalid("must be a positive value")
	}
	if spec.MatchingPrecedence > most {
		invalid(fmt.Sprintf("must not be greater than %v", most))
	}
	if spec.MatchingPrecedence == 1 && name != flowcontrolv1.FlowSchemaNameExempt {
		invalid("only the schema named 'exempt' may have matchingPrecedence 1")
	}
	errs = append(errs, validateDistinguisher(spec.DistinguisherMethod)...)
	errs = append(errs, validateReference(spec.PriorityLevelConfiguration.Name)...)
	for i := range spec.Rules {
		errs = append(errs, validateRule(&spec.Rules[i], specPath.Child("rules").Index(i))...)
	}
	return errs
}

// validateDistinguisher prints the method as kube-apiserver does, which has no JSON names for its fields.
func validateDistinguisher(method *flowcontrolv1.FlowDistinguisherMethod) field.ErrorList {
	supported := []flowcontrolv1.FlowDistinguisherMethodType{
		flowcontrolv1.FlowDistinguisherMethodByNamespaceType, flowcontrolv1.FlowDistinguisherMethodByUserType,
	}
	if method == nil || slices.Contains(supported, method.Type) {
		return nil
	}
	shown := struct {
		Type flowcontrolv1.FlowDistinguisherMethodType
	}(*method)
	return field.ErrorList{field.NotSupported[flowcontrolv1.FlowDistinguisherMethodType](
		specPath.Child("distinguisherMethod", "type"), shown, supported)}
}

func validateReference(level string) (errs field.ErrorList) {
	path := specPath.Child("priorityLevelConfiguration", "name")
	if level == "" {
		return field.ErrorList{field.Required(path, "must reference a priority level")}
	}
	for _, message := range validation.NameIsDNSSubdomain(level, false) {
		errs = append(errs, field.Invalid(path, level, message))
	}
	return errs
}

// isEmpty reports whether a list is there and has no values. The rules of the fields complain of absent lists.
func isEmpty[T any](list []T) bool { return list != nil && len(list) == 0 }

func validateRule(rule *flowcontrolv1.PolicyRulesWithSubjects, path *field.Path) (errs field.ErrorList) {
	for i := range rule.Subjects {
		errs = append(errs, validateSubject(&rule.Subjects[i], path.Child("subjects").Index(i))...)
	}
	if isEmpty(rule.Subjects) {
		errs = append(errs, field.Required(path.Child("subjects"), "subjects must contain at least one value"))
	}
	if len(rule.ResourceRules)+len(rule.NonResourceRules) == 0 {
		errs = append(errs, field.Required(path,
			"at least one of resourceRules and nonResourceRules has to be non-empty"))
	}
	for i := range rule.ResourceRules {
		errs = append(errs, validateResources(&rule.ResourceRules[i], path.Child("resourceRules").Index(i))...)
	}
	for i := range rule.NonResourceRules {
		errs = append(errs, validatePaths(&rule.NonResourceRules[i], path.Child("nonResourceRules").Index(i))...)
	}
	return errs
}

var verbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"}

func validateVerbs(given []string, path *field.Path) field.ErrorList {
	switch {
	case isEmpty(given):
		return field.ErrorList{field.Required(path, "verbs must contain at least one value")}
	case slices.Contains(given, "*"):
		return alone(given, path, "verbs")
	case slices.ContainsFunc(given, func(verb string) bool { return !slices.Contains(verbs, verb) }):
		return field.ErrorList{field.NotSupported(path, given, verbs)}
	}
	return nil
}

// alone returns an error for a list that has something beside *.
func alone(list []string, path *field.Path, what string) field.ErrorList {
	if len(list) < 2 || !slices.Contains(list, "*") {
		return nil
	}
	return field.ErrorList{field.Invalid(path, list, "if '*' is present, must not specify other "+what)}
}

func validateResources(rule *flowcontrolv1.ResourcePolicyRule, path *field.Path) field.ErrorList {
	errs := validateVerbs(rule.Verbs, path.Child("verbs"))
	if groups := path.Child("apiGroups"); isEmpty(rule.APIGroups) {
		errs = append(errs, field.Required(groups, "resource rules must supply at least one api group"))
	} else {
		errs = append(errs, alone(rule.APIGroups, groups, "api groups")...)
	}
	if resources := path.Child("resources"); isEmpty(rule.Resources) {
		errs = append(errs, field.Required(resources, "resource rules must supply at least one resource"))
	} else {
		errs = append(errs, alone(rule.Resources, resources, "resources")...)
	}
	return append(errs, validateNamespaces(rule, path.Child("namespaces"))...)
}

func validateNamespaces(rule *flowcontrolv1.ResourcePolicyRule, path *field.Path) (errs field.ErrorList) {
	switch {
	case len(rule.Namespaces) == 0 && !rule.ClusterScope:
		return field.ErrorList{field.Required(path,
			"resource rules that are not cluster scoped must supply at least one namespace")}
	case slices.Contains(rule.Namespaces, "*"):
		return alone(rule.Namespaces, path, "namespaces")
	}
	for i, namespace := range rule.Namespaces {
		for _, message := range validation.ValidateNamespaceName(namespace, false) {
			errs = append(errs, field.Invalid(path.Index(i), namespace,
				"each member of this list must be '*' or a DNS-1123 label; "+message))
		}
	}
	return errs
}

func validatePaths(rule *flowcontrolv1.NonResourcePolicyRule, path *field.Path) field.ErrorList {
	errs := validateVerbs(rule.Verbs, path.Child("verbs"))
	path = path.Child("nonResourceURLs")
	switch {
	case isEmpty(rule.NonResourceURLs):
		return append(errs, field.Required(path, "nonResourceURLs must contain at least one value"))
	case slices.Contains(rule.NonResourceURLs, "*"):
		return append(errs, alone(rule.NonResourceURLs, path, "non-resource URLs")...)
	}
	for i, url := range rule.NonResourceURLs {
		if message := wrongURL(url); message != "" {
			errs = append(errs, field.Invalid(path.Index(i), url, message))
		}
	}
	return errs
}

func wrongURL(url string) string {
	stars := strings.Count(url, "*")
	switch {
	case url == "":
		return "must not be empty"
	case !strings.HasPrefix(url, "/"):
		return "must start with slash"
	case strings.Contains(url, " "):
		return "must not contain white-space"
	case strings.Contains(url, "//"):
		return "must not contain double slash"
	case stars > 1 || stars == 1 && !strings.HasSuffix(url, "/*"):
		return "wildcard can only do suffix matching"
	}
	return ""
}
