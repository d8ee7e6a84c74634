package v1

import (
	"context"
	"fmt"

	"apigen.dev/runtime/builtin/flowcontrol/preset"
	"apigen.dev/runtime/internal/flow/queue"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxQueues is the largest number of queues of a level.
const maxQueues = 10_000_000

// preserveZero is an annotation of a version that isn't served, which nobody may set in this one.
const preserveZero = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"

// ValidateObject_PriorityLevelConfiguration returns kube-apiserver's errors for the level.
func ValidateObject_PriorityLevelConfiguration(
	_ context.Context, level *flowcontrolv1.PriorityLevelConfiguration,
) (errs field.ErrorList) {
	if _, found := level.Annotations[preserveZero]; found {
		errs = append(errs, field.Forbidden(field.NewPath("metadata", "annotations"),
			fmt.Sprintf("annotation '%s' is forbidden", preserveZero)))
	}
	errs = append(errs, validateLevel(level.Name, &level.Spec)...)
	errs = append(errs, validateMandatory(level)...)
	return append(errs, validateLevelConditions(level.Status.Conditions)...)
}

// ValidateStatusUpdate_PriorityLevelConfiguration returns kube-apiserver's errors for the conditions.
func ValidateStatusUpdate_PriorityLevelConfiguration(
	_ context.Context, level, _ *flowcontrolv1.PriorityLevelConfiguration,
) field.ErrorList {
	return validateLevelConditions(level.Status.Conditions)
}

func validateLevelConditions(conditions []flowcontrolv1.PriorityLevelConfigurationCondition) field.ErrorList {
	types := make([]string, len(conditions))
	for i := range conditions {
		types[i] = string(conditions[i].Type)
	}
	return validateConditions(types)
}

// validateMandatory keeps the levels that every server has as they are, but for the seats of the exempt one.
func validateMandatory(level *flowcontrolv1.PriorityLevelConfiguration) (errs field.ErrorList) {
	for _, mandatory := range preset.MandatoryLevels() {
		if mandatory.Name != level.Name {
			continue
		}
		spec, except := level.Spec, ""
		if level.Name == flowcontrolv1.PriorityLevelConfigurationNameExempt {
			spec.Exempt, except = mandatory.Spec.Exempt, " except the 'spec.exempt' field"
		}
		if !equality.Semantic.DeepEqual(spec, mandatory.Spec) {
			errs = append(errs, mustBeFixed(level.Name, level.Spec, except))
		}
	}
	return errs
}

func validateLevel(name string, spec *flowcontrolv1.PriorityLevelConfigurationSpec) (errs field.ErrorList) {
	const exempt, limited = flowcontrolv1.PriorityLevelEnablementExempt, flowcontrolv1.PriorityLevelEnablementLimited
	if (name == flowcontrolv1.PriorityLevelConfigurationNameExempt) != (spec.Type == exempt) {
		errs = append(errs, field.Invalid(specPath.Child("type"), spec.Type,
			"must be 'Exempt' if and only if `name` is 'exempt'"))
	}
	switch spec.Type {
	case exempt:
		if e := spec.Exempt; e != nil {
			path := specPath.Child("exempt")
			errs = append(errs, validateShares(e.NominalConcurrencyShares, path)...)
			errs = append(errs, validateLendable(e.LendablePercent, path)...)
		}
	case limited:
		if spec.Limited != nil {
			errs = append(errs, validateLimited(spec.Limited, specPath.Child("limited"))...)
		}
	case "": // the rules of the fields say which ones must be there, and which ones must not
	default:
		errs = append(errs, field.NotSupported(specPath.Child("type"), spec.Type,
			[]flowcontrolv1.PriorityLevelEnablement{exempt, limited}))
	}
	return errs
}

func validateShares(shares *int32, path *field.Path) field.ErrorList {
	if shares == nil || *shares >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("nominalConcurrencyShares"), *shares,
		"must be a non-negative integer")}
}

func validateLendable(percent *int32, path *field.Path) field.ErrorList {
	if percent == nil || *percent >= 0 && *percent <= 100 {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("lendablePercent"), *percent,
		"must be between 0 and 100, inclusive")}
}

func validateLimited(limited *flowcontrolv1.LimitedPriorityLevelConfiguration, path *field.Path) field.ErrorList {
	errs := validateShares(limited.NominalConcurrencyShares, path)
	errs = append(errs, validateResponse(&limited.LimitResponse, path.Child("limitResponse"))...)
	errs = append(errs, validateLendable(limited.LendablePercent, path)...)
	if percent := limited.BorrowingLimitPercent; percent != nil && *percent < 0 {
		errs = append(errs, field.Invalid(path.Child("borrowingLimitPercent"), *percent,
			"if specified, must be a non-negative integer"))
	}
	return errs
}

func validateResponse(response *flowcontrolv1.LimitResponse, path *field.Path) field.ErrorList {
	const queueing, reject = flowcontrolv1.LimitResponseTypeQueue, flowcontrolv1.LimitResponseTypeReject
	switch response.Type {
	case queueing:
		if response.Queuing != nil {
			return validateQueuing(response.Queuing, path.Child("queuing"))
		}
	case reject, "":
	default:
		return field.ErrorList{field.NotSupported(path.Child("type"), response.Type,
			[]flowcontrolv1.LimitResponseType{queueing, reject})}
	}
	return nil
}

func validateQueuing(q *flowcontrolv1.QueuingConfiguration, path *field.Path) (errs field.ErrorList) {
	invalid := func(name string, value int32, format string, args ...any) {
		errs = append(errs, field.Invalid(path.Child(name), value, fmt.Sprintf(format, args...)))
	}
	if q.QueueLengthLimit <= 0 {
		invalid("queueLengthLimit", q.QueueLengthLimit, "must be positive")
	}
	if q.Queues <= 0 {
		invalid("queues", q.Queues, "must be positive")
	} else if q.Queues > maxQueues {
		invalid("queues", q.Queues, "must not be greater than %d", maxQueues)
	}
	switch bits := queue.HashBits(int(max(q.Queues, 1)), int(q.HandSize)); {
	case q.HandSize <= 0:
		invalid("handSize", q.HandSize, "must be positive")
	case q.HandSize > q.Queues:
		invalid("handSize", q.HandSize, "should not be greater than queues (%d)", q.Queues)
	case bits > queue.MaxHashBits:
		invalid("handSize", q.HandSize,
			"required entropy bits of deckSize %d and handSize %d should not be greater than %d", q.Queues, q.HandSize,
			queue.MaxHashBits)
	}
	return errs
}
