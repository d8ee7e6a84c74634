package v1

import (
	"context"
	"slices"
	"strings"

	registrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	webhooksPath = field.NewPath("webhooks")
	// sideEffects are those that new webhooks may have; allSideEffects those that old ones may keep.
	sideEffects = []registrationv1.SideEffectClass{
		registrationv1.SideEffectClassNone, registrationv1.SideEffectClassNoneOnDryRun,
	}
	allSideEffects = append(slices.Clone(sideEffects), registrationv1.SideEffectClassSome,
		registrationv1.SideEffectClassUnknown)
	reviewVersions = []string{"v1", "v1beta1"}
)

// webhook is what webhooks of both kinds have: a MutatingWebhook with all its fields.
type webhook = registrationv1.MutatingWebhook

// webhooksOf returns validating webhooks as webhooks.
func webhooksOf(hooks []registrationv1.ValidatingWebhook) (all []webhook) {
	for _, h := range hooks {
		all = append(all, webhook{
			Name: h.Name, ClientConfig: h.ClientConfig, Rules: h.Rules, FailurePolicy: h.FailurePolicy,
			MatchPolicy: h.MatchPolicy, NamespaceSelector: h.NamespaceSelector, ObjectSelector: h.ObjectSelector,
			SideEffects: h.SideEffects, TimeoutSeconds: h.TimeoutSeconds,
			AdmissionReviewVersions: h.AdmissionReviewVersions, MatchConditions: h.MatchConditions,
		})
	}
	return all
}

// ValidateObject_ValidatingWebhookConfiguration returns kube-apiserver's errors for a new configuration.
func ValidateObject_ValidatingWebhookConfiguration(
	_ context.Context, config *registrationv1.ValidatingWebhookConfiguration,
) field.ErrorList {
	if !isNew(config) {
		return nil
	}
	return validateWebhooks(webhooksOf(config.Webhooks), leniency{})
}

// ValidateUpdate_ValidatingWebhookConfiguration returns kube-apiserver's errors for a changed configuration.
func ValidateUpdate_ValidatingWebhookConfiguration(
	_ context.Context, config, old *registrationv1.ValidatingWebhookConfiguration,
) field.ErrorList {
	now := webhooksOf(config.Webhooks)
	return validateWebhooks(now, leniencyFor(now, webhooksOf(old.Webhooks)))
}

// ValidateObject_MutatingWebhookConfiguration returns kube-apiserver's errors for a new configuration.
func ValidateObject_MutatingWebhookConfiguration(
	_ context.Context, config *registrationv1.MutatingWebhookConfiguration,
) field.ErrorList {
	if !isNew(config) {
		return nil
	}
	return validateWebhooks(config.Webhooks, leniency{})
}

// ValidateUpdate_MutatingWebhookConfiguration returns kube-apiserver's errors for a changed configuration.
func ValidateUpdate_MutatingWebhookConfiguration(
	_ context.Context, config, old *registrationv1.MutatingWebhookConfiguration,
) field.ErrorList {
	return validateWebhooks(config.Webhooks, leniencyFor(config.Webhooks, old.Webhooks))
}

// leniency says which faults a configuration may have, since it had them before there was a rule against them.
type leniency struct {
	sideEffects, reviewVersions, names, selectors, conditions bool
}

func leniencyFor(now, old []webhook) leniency {
	allow := leniency{conditions: len(now) == len(old)}
	names := map[string]bool{}
	for i := range old {
		hook := &old[i]
		allow.sideEffects = allow.sideEffects ||
			hook.SideEffects == nil || !slices.Contains(sideEffects, *hook.SideEffects)
		allow.reviewVersions = allow.reviewVersions || len(hook.AdmissionReviewVersions) > 0 && !reviewable(hook)
		allow.names = allow.names || names[hook.Name]
		names[hook.Name] = true
		allow.selectors = allow.selectors || len(validateSelectors(hook, false, nil)) > 0
		allow.conditions = allow.conditions && equality.Semantic.DeepEqual(now[i].MatchConditions, hook.MatchConditions)
	}
	return allow
}

func reviewable(hook *webhook) bool {
	return slices.ContainsFunc(hook.AdmissionReviewVersions, func(version string) bool {
		return slices.Contains(reviewVersions, version)
	})
}

func validateWebhooks(hooks []webhook, allow leniency) (errs field.ErrorList) {
	names := map[string]bool{}
	for i := range hooks {
		hook, path := &hooks[i], webhooksPath.Index(i)
		errs = append(errs, validateWebhook(hook, allow, path)...)
		errs = append(errs, validateReviewVersions(hook, allow, path.Child("admissionReviewVersions"))...)
		if !allow.names && hook.Name != "" && names[hook.Name] {
			errs = append(errs, field.Duplicate(path.Child("name"), hook.Name))
		}
		names[hook.Name] = true
	}
	return errs
}

func validateWebhook(hook *webhook, allow leniency, path *field.Path) field.ErrorList {
	errs := validation.IsFullyQualifiedName(path.Child("name"), hook.Name)
	errs = append(errs, validateRules(hook.Rules, path.Child("rules"))...)
	if hook.FailurePolicy != nil {
		errs = append(errs, oneOf(path.Child("failurePolicy"), *hook.FailurePolicy, failurePolicies)...)
	}
	if hook.MatchPolicy != nil {
		errs = append(errs, oneOf(path.Child("matchPolicy"), *hook.MatchPolicy, matchPolicies)...)
	}
	errs = append(errs, validateSideEffects(hook, allow, path.Child("sideEffects"))...)
	if timeout := hook.TimeoutSeconds; timeout != nil && (*timeout > 30 || *timeout < 1) {
		errs = append(errs, field.Invalid(path.Child("timeoutSeconds"), *timeout,
			"the timeout value must be between 1 and 30 seconds"))
	}
	errs = append(errs, validateSelectors(hook, allow.selectors, path)...)
	if hook.ReinvocationPolicy != nil {
		errs = append(errs, oneOf(path.Child("reinvocationPolicy"), *hook.ReinvocationPolicy, reinvocationPolicies)...)
	}
	errs = append(errs, ValidateClientConfig(&hook.ClientConfig, path.Child("clientConfig"))...)
	if !allow.conditions {
		errs = append(errs, validateConditions(hook.MatchConditions, false, path.Child("matchConditions"))...)
	}
	return errs
}

func validateSideEffects(hook *webhook, allow leniency, path *field.Path) field.ErrorList {
	supported := sideEffects
	if allow.sideEffects {
		supported = allSideEffects
	}
	if hook.SideEffects != nil {
		return oneOf(path, *hook.SideEffects, supported)
	}
	var words []string
	for _, word := range supported {
		words = append(words, string(word))
	}
	return field.ErrorList{field.Required(path, "must specify one of "+strings.Join(words, ", "))}
}

func validateSelectors(hook *webhook, lenient bool, path *field.Path) (errs field.ErrorList) {
	options := metav1validation.LabelSelectorValidationOptions{AllowInvalidLabelValueInSelector: lenient}
	for _, selector := range []struct {
		name  string
		given *metav1.LabelSelector
	}{{"namespaceSelector", hook.NamespaceSelector}, {"objectSelector", hook.ObjectSelector}} {
		if selector.given != nil {
			path := path.Child(selector.name)
			errs = append(errs, metav1validation.ValidateLabelSelector(selector.given, options, path)...)
		}
	}
	return errs
}

func validateReviewVersions(hook *webhook, allow leniency, path *field.Path) (errs field.ErrorList) {
	versions, accepted := hook.AdmissionReviewVersions, strings.Join(reviewVersions, ", ")
	if len(versions) == 0 {
		return field.ErrorList{field.Required(path, "must specify one of "+accepted)}
	}
	for i, version := range versions {
		if slices.Contains(versions[:i], version) {
			errs = append(errs, field.Invalid(path.Index(i), version, "duplicate version"))
			continue
		}
		for _, message := range validation.IsDNS1035Label(version) {
			errs = append(errs, field.Invalid(path.Index(i), version, message))
		}
	}
	if !allow.reviewVersions && !reviewable(hook) {
		errs = append(errs, field.Invalid(path, versions, "must include at least one of "+accepted))
	}
	return errs
}
