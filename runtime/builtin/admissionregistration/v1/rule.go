package v1

import (
	"fmt"
	"slices"
	"strings"

	registrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// everything is the word of rules for all groups, versions, resources or operations.
const everything = "*"

// Words that fields may have, in the order in which errors list them.
var (
	scopes = []registrationv1.ScopeType{
		registrationv1.AllScopes, registrationv1.ClusterScope, registrationv1.NamespacedScope,
	}
	operations = []registrationv1.OperationType{
		registrationv1.OperationAll, registrationv1.Connect, registrationv1.Create, registrationv1.Delete,
		registrationv1.Update,
	}
	mutatingOperations = []registrationv1.OperationType{
		registrationv1.OperationAll, registrationv1.Connect, registrationv1.Create, registrationv1.Update,
	}
	matchPolicies = []registrationv1.MatchPolicyType{registrationv1.Equivalent, registrationv1.Exact}
)

// oneOf returns an error if a value is none of those that are supported.
func oneOf[T ~string](path *field.Path, value T, supported []T) field.ErrorList {
	if slices.Contains(supported, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, supported)}
}

// required returns an error if a field is nil.
func required[T any](path *field.Path, value *T) field.ErrorList {
	if value != nil {
		return nil
	}
	return field.ErrorList{field.Required(path, "")}
}

// requiredOneOf returns an error if a field is nil, or none of the words that are supported.
func requiredOneOf[T ~string](path *field.Path, value *T, supported []T) field.ErrorList {
	if value == nil {
		return required(path, value)
	}
	return oneOf(path, *value, supported)
}

func validateRules(rules []registrationv1.RuleWithOperations, path *field.Path) (errs field.ErrorList) {
	for i := range rules {
		errs = append(errs, validateRule(&rules[i], path.Index(i))...)
	}
	return errs
}

func validateRule(rule *registrationv1.RuleWithOperations, path *field.Path) (errs field.ErrorList) {
	errs = append(errs, validateList(rule.Operations, path.Child("operations"), "operations")...)
	for i, operation := range rule.Operations {
		errs = append(errs, oneOf(path.Child("operations").Index(i), operation, operations)...)
	}
	errs = append(errs, validateList(rule.APIGroups, path.Child("apiGroups"), "API groups")...)
	errs = append(errs, validateList(rule.APIVersions, path.Child("apiVersions"), "API versions")...)
	for i, version := range rule.APIVersions {
		if version == "" {
			errs = append(errs, field.Required(path.Child("apiVersions").Index(i), ""))
		}
	}
	errs = append(errs, validateResources(rule.Resources, path.Child("resources"))...)
	if rule.Scope != nil {
		errs = append(errs, oneOf(path.Child("scope"), *rule.Scope, scopes)...)
	}
	return errs
}

// validateList wants words, or * alone. what are the words for an error.
func validateList[T ~string](list []T, path *field.Path, what string) (errs field.ErrorList) {
	if len(list) == 0 {
		errs = append(errs, field.Required(path, ""))
	}
	if len(list) > 1 && slices.Contains(list, everything) {
		errs = append(errs, field.Invalid(path, list, "if '*' is present, must not specify other "+what))
	}
	return errs
}

// validateResources rejects resources that another one, before them, includes.
func validateResources(resources []string, path *field.Path) (errs field.ErrorList) {
	if len(resources) == 0 {
		errs = append(errs, field.Required(path, ""))
	}
	lastIsPlain := false // as in kube-apiserver, which looks at the last one without a subresource alone
	parents, children := map[string]bool{}, map[string]bool{}
	for i, resource := range resources {
		if resource == "" {
			errs = append(errs, field.Required(path.Index(i), ""))
			continue
		}
		parent, child, nested := strings.Cut(resource, "/")
		if !nested {
			lastIsPlain = resource != everything
			continue
		}
		for _, wider := range []struct {
			seen bool
			name string
		}{{parents[parent], parent + "/*"}, {children[child], "*/" + child}} {
			if wider.seen {
				errs = append(errs, field.Invalid(path.Index(i), resource,
					fmt.Sprintf("if '%s' is present, must not specify %s", wider.name, resource)))
			}
		}
		parents[parent] = parents[parent] || child == everything
		children[child] = children[child] || parent == everything
	}
	if len(resources) > 1 && slices.Contains(resources, "*/*") {
		errs = append(errs, field.Invalid(path, resources, "if '*/*' is present, must not specify other resources"))
	}
	if slices.Contains(resources, everything) && lastIsPlain {
		errs = append(errs, field.Invalid(path, resources,
			"if '*' is present, must not specify other resources without subresources"))
	}
	return errs
}

// validateMatch validates which writes a policy or a binding is about.
func validateMatch(match *registrationv1.MatchResources, path *field.Path) field.ErrorList {
	if match == nil {
		return nil
	}
	errs := requiredOneOf(path.Child("matchPolicy"), match.MatchPolicy, matchPolicies)
	errs = append(errs, validateRequiredSelector(match.NamespaceSelector, path.Child("namespaceSelector"))...)
	errs = append(errs, validateRequiredSelector(match.ObjectSelector, path.Child("objectSelector"))...)
	errs = append(errs, validateNamedRules(match.ResourceRules, path.Child("resourceRules"))...)
	return append(errs, validateNamedRules(match.ExcludeResourceRules, path.Child("excludeResourceRules"))...)
}

func validateRequiredSelector(selector *metav1.LabelSelector, path *field.Path) field.ErrorList {
	if selector == nil {
		return required(path, selector)
	}
	return metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, path)
}

func validateNamedRules(rules []registrationv1.NamedRuleWithOperations, path *field.Path) (errs field.ErrorList) {
	for i := range rules {
		rule, at := &rules[i], path.Index(i)
		names := map[string]bool{}
		for j, name := range rule.ResourceNames {
			for _, message := range content.IsPathSegmentName(name) {
				errs = append(errs, field.Invalid(at.Child("resourceNames").Index(j), name, message))
			}
			if names[name] {
				errs = append(errs, field.Duplicate(at.Child("resourceNames").Index(j), name))
			}
			names[name] = true
		}
		errs = append(errs, validateRule(&rule.RuleWithOperations, at)...)
	}
	return errs
}

// validateMutatingOperations rejects rules for operations that change no object.
func validateMutatingOperations(match *registrationv1.MatchResources, path *field.Path) (errs field.ErrorList) {
	for i := range match.ResourceRules {
		for _, operation := range match.ResourceRules[i].Operations {
			errs = append(errs, oneOf(path.Child("resourceRules", "operations"), operation, mutatingOperations)...)
		}
	}
	return errs
}
