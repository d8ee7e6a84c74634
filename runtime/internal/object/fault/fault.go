// Package fault knows where in an object a fault is that a walk over its JSON has found, and which faults keep rules in
// CEL from being checked, as in a custom resource: an object that lacks a value may not have the form that they expect.
// It knows no other package of the runtime.
package fault

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Blocks reports whether there is a fault after which no rule is checked.
func Blocks(errs field.ErrorList) bool {
	return slices.ContainsFunc(errs, func(e *field.Error) bool {
		switch e.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany,
			field.ErrorTypeTypeInvalid:
			return true
		}
		return false
	})
}

// unchecked is apiextensions-apiserver's text.
const unchecked = "some validation rules were not checked because the object was invalid; correct the existing " +
	"errors to complete validation"

// Unchecked returns faults with one that says that there are rules which weren't checked.
func Unchecked(errs field.ErrorList) field.ErrorList {
	said := field.Invalid(nil, nil, unchecked)
	if slices.ContainsFunc(errs, func(e *field.Error) bool { return e.Field == said.Field && e.Detail == unchecked }) {
		return errs
	}
	return append(errs, said)
}
