package v1

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// CreatedAtColumn_LimitRange returns when limits were created: a time, not an age.
func CreatedAtColumn_LimitRange(limits *corev1.LimitRange) string {
	return limits.CreationTimestamp.UTC().Format(time.RFC3339)
}

// SetDefaults_LimitRangeItem completes the limits of containers: the default limit is the largest one, and the default
// request is the default limit, or the smallest one.
func SetDefaults_LimitRangeItem(item *corev1.LimitRangeItem) {
	if item.Type != corev1.LimitTypeContainer {
		return
	}
	item.Default = completed(item.Default, item.Max)
	item.DefaultRequest = completed(completed(item.DefaultRequest, item.Default), item.Min)
}

// completed returns amounts with those of others that it lacks.
func completed(amounts, others corev1.ResourceList) corev1.ResourceList {
	if amounts == nil {
		amounts = corev1.ResourceList{}
	}
	for name, amount := range others {
		if _, has := amounts[name]; !has {
			amounts[name] = amount.DeepCopy()
		}
	}
	return amounts
}

// limitTypes are the types that need no domain.
var limitTypes = []corev1.LimitType{
	corev1.LimitTypePod, corev1.LimitTypeContainer, corev1.LimitTypePersistentVolumeClaim,
}

// ValidateObject_LimitRange returns kube-apiserver's errors for a limit range.
func ValidateObject_LimitRange(_ context.Context, limits *corev1.LimitRange) (errs field.ErrorList) {
	errs = validateFinalizers(limits)
	types := map[corev1.LimitType]bool{}
	for i := range limits.Spec.Limits {
		item, path := &limits.Spec.Limits[i], field.NewPath("spec", "limits").Index(i)
		errs = append(errs, validateLimitType(item.Type, path.Child("type"))...)
		if types[item.Type] {
			errs = append(errs, field.Duplicate(path.Child("type"), item.Type))
		}
		types[item.Type] = true
		errs = append(errs, validateItem(item, path)...)
	}
	return errs
}

func validateLimitType(kind corev1.LimitType, path *field.Path) (errs field.ErrorList) {
	for _, message := range validation.IsQualifiedName(string(kind)) {
		errs = append(errs, field.Invalid(path, kind, message))
	}
	if len(errs) == 0 && !hasDomain(kind) && !slices.Contains(limitTypes, kind) {
		errs = append(errs, field.Invalid(path, kind, "must be a standard limit type or fully qualified"))
	}
	return errs
}

func validateItem(item *corev1.LimitRangeItem, path *field.Path) (errs field.ErrorList) {
	l := &itemLimits{item: item, path: path}
	errs = append(errs, l.validateNames("max", item.Max)...)
	errs = append(errs, l.validateNames("min", item.Min)...)
	if item.Type == corev1.LimitTypePod {
		for _, defaults := range []struct {
			name string
			list corev1.ResourceList
		}{{"default", item.Default}, {"defaultRequest", item.DefaultRequest}} {
			if len(defaults.list) > 0 {
				errs = append(errs, field.Forbidden(path.Child(defaults.name),
					"may not be specified when `type` is 'Pod'"))
			}
		}
	} else {
		errs = append(errs, l.validateNames("default", item.Default)...)
		errs = append(errs, l.validateNames("defaultRequest", item.DefaultRequest)...)
	}
	if item.Type == corev1.LimitTypePersistentVolumeClaim {
		_, hasMin := item.Min[corev1.ResourceStorage]
		_, hasMax := item.Max[corev1.ResourceStorage]
		if !hasMin && !hasMax {
			errs = append(errs, field.Required(path.Child("limits"),
				"either minimum or maximum storage value is required, but neither was provided"))
		}
	}
	errs = append(errs, l.validateNames("maxLimitRequestRatio", item.MaxLimitRequestRatio)...)
	slices.Sort(l.names)
	for _, name := range slices.Compact(l.names) {
		errs = append(errs, l.validate(name)...)
	}
	return errs
}

// itemLimits are the limits of an item, and the names of their resources.
type itemLimits struct {
	item  *corev1.LimitRangeItem
	path  *field.Path
	names []corev1.ResourceName
}

func (l *itemLimits) validateNames(what string, list corev1.ResourceList) (errs field.ErrorList) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		l.names = append(l.names, name)
		at := l.path.Child(what).Key(string(name))
		errs = append(errs, validateResourceName(name, at)...)
		if l.item.Type != corev1.LimitTypePod && l.item.Type != corev1.LimitTypeContainer {
			continue
		}
		switch {
		case !hasDomain(name) && !slices.Contains(ofContainers, name) && !isHugePage(name):
			errs = append(errs, field.Invalid(at, name, "must be a standard resource for containers"))
		case hasDomain(name) && !isNative(name) && !isExtended(name):
			errs = append(errs, field.Invalid(at, name, "doesn't follow extended resource name standard"))
		}
	}
	return errs
}

// optional is an amount that may be absent.
type optional struct {
	resource.Quantity
	given bool
}

func amountIn(list corev1.ResourceList, name corev1.ResourceName) optional {
	amount, given := list[name]
	return optional{amount, given}
}

func (o optional) isGreater(than optional) bool {
	return o.given && than.given && o.Cmp(than.Quantity) > 0
}

// validate holds the limits of a resource against each other.
func (l *itemLimits) validate(name corev1.ResourceName) (errs field.ErrorList) {
	least, most := amountIn(l.item.Min, name), amountIn(l.item.Max, name)
	var usual, usualRequest optional
	if l.item.Type != corev1.LimitTypePod {
		usual, usualRequest = amountIn(l.item.Default, name), amountIn(l.item.DefaultRequest, name)
	}
	for _, rule := range []struct {
		broken      bool
		at          string
		value       optional
		text        string
		left, right optional
	}{
		{least.isGreater(most), "min", least, "min value %s is greater than max value %s", least, most},
		{least.isGreater(usualRequest), "defaultRequest", usualRequest,
			"min value %s is greater than default request value %s", least, usualRequest},
		{usualRequest.isGreater(most), "defaultRequest", usualRequest,
			"default request value %s is greater than max value %s", usualRequest, most},
		{usualRequest.isGreater(usual), "defaultRequest", usualRequest,
			"default request value %s is greater than default limit value %s", usualRequest, usual},
		{least.isGreater(usual), "default", least, "min value %s is greater than default value %s", least, usual},
		{usual.isGreater(most), "default", most, "default value %s is greater than max value %s", usual, most},
	} {
		if rule.broken {
			errs = append(errs, field.Invalid(l.path.Child(rule.at).Key(string(name)), rule.value.Quantity,
				fmt.Sprintf(rule.text, rule.left.String(), rule.right.String())))
		}
	}
	if ratio := amountIn(l.item.MaxLimitRequestRatio, name); ratio.given {
		at := l.path.Child("maxLimitRequestRatio").Key(string(name))
		errs = append(errs, validateRatio(ratio, least, most, at)...)
	}
	overcommits := isNative(name) && !isHugePage(name)
	if !overcommits && usual.given && usualRequest.given && usual.Cmp(usualRequest.Quantity) != 0 {
		errs = append(errs, field.Invalid(l.path.Child("defaultRequest").Key(string(name)), usualRequest.Quantity,
			fmt.Sprintf("default value %s must equal to defaultRequest value %s in %s", usual.String(),
				usualRequest.String(), name)))
	}
	return errs
}

func validateRatio(ratio, least, most optional, path *field.Path) (errs field.ErrorList) {
	if ratio.Cmp(*resource.NewQuantity(1, resource.DecimalSI)) < 0 {
		errs = append(errs, field.Invalid(path, ratio.Quantity, fmt.Sprintf("ratio %s is less than 1", ratio.String())))
	}
	if !least.given || !most.given {
		return errs
	}
	given, small, large := float64(ratio.Value()), least.Value(), most.Value()
	if ratio.Value() < resource.MaxMilliValue && small < resource.MaxMilliValue && large < resource.MaxMilliValue {
		given, small, large = float64(ratio.MilliValue())/1000, least.MilliValue(), most.MilliValue()
	}
	if allowed := float64(large) / float64(small); given > allowed {
		errs = append(errs, field.Invalid(path, ratio.Quantity,
			fmt.Sprintf("ratio %s is greater than max/min = %f", ratio.String(), allowed)))
	}
	return errs
}
