package v1

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/pod"
	"example.com/kubernetes/internal/rule"
)

// Bounds of jobs.
const (
	maxIndexes        = 100_000 // for parallelism and failed indexes of indexed jobs
	manyCompletions   = 100_000
	maxOfMany         = 10_000 // for parallelism and failed indexes of jobs with so many
	maxRules          = 20     // of each policy
	maxCodes          = 255
	maxPatterns       = 20
	longestManager    = 63
	longestSuccession = 64 << 10
)

func isIndexed(spec *batchv1.JobSpec) bool {
	return spec.CompletionMode != nil && *spec.CompletionMode == batchv1.IndexedCompletion
}

// above reports whether a number is there, and more than another.
func above(number *int32, most int32) bool { return number != nil && *number > most }

// validateSpec validates the specification of a job, but for its selector.
func validateSpec(spec *batchv1.JobSpec, path *field.Path) rule.Errors {
	errs := rule.All(
		rule.OptionalNotNegative(path.Child("parallelism"), spec.Parallelism),
		rule.OptionalNotNegative(path.Child("completions"), spec.Completions),
		rule.OptionalNotNegative(path.Child("activeDeadlineSeconds"), spec.ActiveDeadlineSeconds),
		rule.OptionalNotNegative(path.Child("backoffLimit"), spec.BackoffLimit),
		rule.OptionalNotNegative(path.Child("ttlSecondsAfterFinished"), spec.TTLSecondsAfterFinished),
		rule.OptionalNotNegative(path.Child("backoffLimitPerIndex"), spec.BackoffLimitPerIndex),
		rule.OptionalNotNegative(path.Child("maxFailedIndexes"), spec.MaxFailedIndexes),
		rule.When(spec.MaxFailedIndexes != nil && spec.BackoffLimitPerIndex == nil,
			field.Required(path.Child("backoffLimitPerIndex"), "when maxFailedIndexes is specified")),
	)
	if by, at := spec.ManagedBy, path.Child("managedBy"); by != nil {
		errs = append(errs, validation.IsDomainPrefixedPath(at, *by)...)
		errs = append(errs, rule.When(len(*by) > longestManager, field.TooLong(at, "", longestManager))...)
	}
	errs = append(errs, rule.OptionalOneOf(path.Child("completionMode"), spec.CompletionMode,
		batchv1.NonIndexedCompletion, batchv1.IndexedCompletion)...)
	switch {
	case isIndexed(spec):
		errs = append(errs, validateIndexed(spec, path)...)
	case spec.CompletionMode == nil || *spec.CompletionMode == batchv1.NonIndexedCompletion:
		const indexed = "requires indexed completion mode"
		if limit := spec.BackoffLimitPerIndex; limit != nil {
			errs = append(errs, field.Invalid(path.Child("backoffLimitPerIndex"), *limit, indexed))
		}
		if most := spec.MaxFailedIndexes; most != nil {
			errs = append(errs, field.Invalid(path.Child("maxFailedIndexes"), *most, indexed))
		}
	}
	return rule.All(errs, validatePolicies(spec, path), validateTemplate(spec, path.Child("template")))
}

func validateIndexed(spec *batchv1.JobSpec, path *field.Path) rule.Errors {
	parallelism, failed := path.Child("parallelism"), path.Child("maxFailedIndexes")
	wrong := func(at *field.Path, value *int32, most int32, message string) rule.Errors {
		if !above(value, most) {
			return nil
		}
		return rule.Errors{field.Invalid(at, *value, message)}
	}
	errs := rule.All(
		rule.When(spec.Completions == nil, field.Required(path.Child("completions"),
			"when completion mode is Indexed")),
		wrong(parallelism, spec.Parallelism, maxIndexes, fmt.Sprintf(
			"must be less than or equal to %d when completion mode is Indexed", maxIndexes)),
	)
	if spec.Completions == nil {
		return errs
	}
	errs = append(errs, wrong(failed, spec.MaxFailedIndexes, *spec.Completions,
		"must be less than or equal to completions")...)
	errs = append(errs, wrong(failed, spec.MaxFailedIndexes, maxIndexes,
		fmt.Sprintf("must be less than or equal to %d", maxIndexes))...)
	if *spec.Completions <= manyCompletions || spec.BackoffLimitPerIndex == nil {
		return errs
	}
	many := fmt.Sprintf("must be less than or equal to %d when completions are above %d and used with backoff limit "+
		"per index", maxOfMany, manyCompletions)
	return rule.All(errs,
		rule.When(spec.MaxFailedIndexes == nil, field.Required(failed,
			fmt.Sprintf("must be specified when completions is above %d", manyCompletions))),
		wrong(parallelism, spec.Parallelism, maxOfMany, many),
		wrong(failed, spec.MaxFailedIndexes, maxOfMany, many),
	)
}

func validatePolicies(spec *batchv1.JobSpec, path *field.Path) (errs rule.Errors) {
	if policy := spec.PodFailurePolicy; policy != nil {
		at := path.Child("podFailurePolicy", "rules")
		errs = append(errs, rule.When(len(policy.Rules) > maxRules, field.TooMany(at, len(policy.Rules), maxRules))...)
		errs = append(errs, rule.Each(policy.Rules, at,
			func(r *batchv1.PodFailurePolicyRule, path *field.Path) rule.Errors {
				return validateFailureRule(spec, r, path)
			})...)
	}
	if policy, at := spec.SuccessPolicy, path.Child("successPolicy"); policy != nil {
		if !isIndexed(spec) {
			errs = append(errs, field.Invalid(at, *policy, "requires indexed completion mode"))
		} else {
			errs = append(errs, validateSuccess(spec, at.Child("rules"))...)
		}
	}
	at := path.Child("podReplacementPolicy")
	if spec.PodFailurePolicy != nil {
		return append(errs, rule.OptionalOneOf(at, spec.PodReplacementPolicy, batchv1.Failed)...)
	}
	return append(errs, rule.OptionalOneOf(at, spec.PodReplacementPolicy, batchv1.Failed,
		batchv1.TerminatingOrFailed)...)
}

// requiredOneOf is rule.RequiredOneOf with the supported values in the error for none.
func requiredOneOf[T ~string](path *field.Path, value T, supported ...T) rule.Errors {
	if value == "" {
		return rule.Errors{field.Required(path, fmt.Sprintf("valid values: %q", supported))}
	}
	return rule.OneOf(path, value, supported...)
}

func validateFailureRule(spec *batchv1.JobSpec, r *batchv1.PodFailurePolicyRule, path *field.Path) rule.Errors {
	action := path.Child("action")
	errs := requiredOneOf(action, r.Action, batchv1.PodFailurePolicyActionCount,
		batchv1.PodFailurePolicyActionFailIndex, batchv1.PodFailurePolicyActionFailJob,
		batchv1.PodFailurePolicyActionIgnore)
	failIndex := r.Action == batchv1.PodFailurePolicyActionFailIndex
	errs = append(errs, rule.When(failIndex && spec.BackoffLimitPerIndex == nil,
		field.Invalid(action, r.Action, "requires the backoffLimitPerIndex to be set"))...)
	if r.OnExitCodes != nil {
		errs = append(errs, validateExitCodes(spec, r.OnExitCodes, path.Child("onExitCodes"))...)
	}
	patterns := path.Child("onPodConditions")
	errs = append(errs, rule.When(len(r.OnPodConditions) > maxPatterns,
		field.TooMany(patterns, len(r.OnPodConditions), maxPatterns))...)
	errs = append(errs, rule.Each(r.OnPodConditions, patterns,
		func(p *batchv1.PodFailurePolicyOnPodConditionsPattern, path *field.Path) rule.Errors {
			return append(rule.QualifiedName(path.Child("type"), string(p.Type)),
				requiredOneOf(path.Child("status"), p.Status, corev1.ConditionFalse, corev1.ConditionTrue,
					corev1.ConditionUnknown)...)
		})...)
	codes, conditions := r.OnExitCodes != nil, len(r.OnPodConditions) > 0
	errs = append(errs, rule.When(codes && conditions, field.Invalid(path, field.OmitValueType{},
		"specifying both OnExitCodes and OnPodConditions is not supported"))...)
	return append(errs, rule.When(!codes && !conditions, field.Invalid(path, field.OmitValueType{},
		"specifying one of OnExitCodes and OnPodConditions is required"))...)
}

func validateExitCodes(
	spec *batchv1.JobSpec, on *batchv1.PodFailurePolicyOnExitCodesRequirement, path *field.Path,
) rule.Errors {
	errs := requiredOneOf(path.Child("operator"), on.Operator, batchv1.PodFailurePolicyOnExitCodesOpIn,
		batchv1.PodFailurePolicyOnExitCodesOpNotIn)
	if name := on.ContainerName; name != nil {
		is := func(c corev1.Container) bool { return c.Name == *name }
		known := slices.ContainsFunc(spec.Template.Spec.Containers, is) ||
			slices.ContainsFunc(spec.Template.Spec.InitContainers, is)
		errs = append(errs, rule.When(!known, field.Invalid(path.Child("containerName"), *name,
			"must be one of the container or initContainer names in the pod template"))...)
	}
	values := path.Child("values")
	errs = append(errs, rule.When(len(on.Values) == 0, field.Invalid(values, on.Values,
		"at least one value is required"))...)
	errs = append(errs, rule.When(len(on.Values) > maxCodes, field.TooMany(values, len(on.Values), maxCodes))...)
	for i, code := range on.Values {
		errs = append(errs, rule.When(on.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn && code == 0,
			field.Invalid(values.Index(i), code, "must not be 0 for the In operator"))...)
		errs = append(errs, rule.When(slices.Contains(on.Values[:i], code), field.Duplicate(values.Index(i), code))...)
	}
	return append(errs, rule.When(!slices.IsSorted(on.Values), field.Invalid(values, on.Values, "must be ordered"))...)
}

func validateSuccess(spec *batchv1.JobSpec, path *field.Path) rule.Errors {
	rules := spec.SuccessPolicy.Rules
	errs := rule.When(len(rules) == 0, field.Required(path,
		"at least one rules must be specified when the successPolicy is specified"))
	errs = append(errs, rule.When(len(rules) > maxRules, field.TooMany(path, len(rules), maxRules))...)
	if spec.Completions == nil {
		return errs
	}
	return append(errs, rule.Each(rules, path, func(r *batchv1.SuccessPolicyRule, path *field.Path) rule.Errors {
		return validateSuccessRule(r, *spec.Completions, path)
	})...)
}

func validateSuccessRule(r *batchv1.SuccessPolicyRule, completions int32, path *field.Path) rule.Errors {
	errs := rule.When(r.SucceededCount == nil && r.SucceededIndexes == nil, field.Required(path,
		"at least one of succeededCount or succeededIndexes must be specified"))
	var total int32
	if indexes, at := r.SucceededIndexes, path.Child("succeededIndexes"); indexes != nil {
		errs = append(errs, rule.When(len(*indexes) > longestSuccession, field.TooLong(at, "", longestSuccession))...)
		var err error
		if total, err = countIndexes(*indexes, completions); err != nil {
			errs = append(errs, field.Invalid(at, *indexes, "error parsing succeededIndexes: "+err.Error()))
		}
	}
	count, at := r.SucceededCount, path.Child("succeededCount")
	if count == nil {
		return errs
	}
	return rule.All(errs,
		rule.NotNegative(at, *count),
		rule.When(*count > completions, field.Invalid(at, *count, fmt.Sprintf(
			"must be less than or equal to %d (the number of specified completions)", completions))),
		rule.When(r.SucceededIndexes != nil && *count > total, field.Invalid(at, *count, fmt.Sprintf(
			"must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)",
			total))),
	)
}

// countIndexes counts the indexes of intervals such as 0,2-4.
func countIndexes(intervals string, completions int32) (total int32, err error) {
	last := -1
	for interval := range strings.SplitSeq(intervals, ",") {
		if intervals == "" {
			return 0, nil
		}
		ends := strings.Split(interval, "-")
		if len(ends) > 2 {
			return 0, fmt.Errorf("the fragment %q violates the requirement that an index interval can have at "+
				"most two parts separated by '-'", interval)
		}
		first := last
		for _, end := range ends {
			index, err := strconv.Atoi(end)
			switch {
			case err != nil:
				return 0, fmt.Errorf("cannot convert string to integer for index: %q", end)
			case index >= int(completions):
				return 0, fmt.Errorf("too large index: %q", end)
			case index <= last:
				return 0, fmt.Errorf("non-increasing order, previous: %d, current: %d", last, index)
			}
			if first == last {
				first = index
			}
			last = index
		}
		total += int32(last - first + 1) //nolint:gosec // both are below completions
	}
	return total, nil
}

func validateTemplate(spec *batchv1.JobSpec, path *field.Path) rule.Errors {
	errs := pod.ValidateTemplate(&spec.Template, path)
	at, policy := path.Child("spec", "restartPolicy"), spec.Template.Spec.RestartPolicy
	switch {
	case policy == corev1.RestartPolicyAlways || policy == "":
		return append(errs, field.Required(at, fmt.Sprintf("valid values: %q, %q", corev1.RestartPolicyOnFailure,
			corev1.RestartPolicyNever)))
	case policy != corev1.RestartPolicyOnFailure && policy != corev1.RestartPolicyNever:
		return append(errs, rule.OneOf(at, policy, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)...)
	case spec.PodFailurePolicy != nil && policy != corev1.RestartPolicyNever:
		return append(errs, field.Invalid(at, policy, fmt.Sprintf(
			"only %q is supported when podFailurePolicy is specified", corev1.RestartPolicyNever)))
	}
	return errs
}
