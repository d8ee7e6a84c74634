package v1

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxController is how long the name of a controller may be.
const maxController = 250

// Validate says what kube-apiserver says of the same class, parameters aside.
func (c *IngressClass) Validate(context.Context) field.ErrorList {
	path := field.NewPath("spec", "controller")
	var errs field.ErrorList
	if len(c.Spec.Controller) > maxController {
		errs = append(errs, field.TooLong(path, "", maxController))
	}
	return append(errs, validation.IsDomainPrefixedPath(path, c.Spec.Controller)...)
}

// ValidateUpdate keeps the controller: another one is another class.
func (c *IngressClass) ValidateUpdate(_ context.Context, old *IngressClass) field.ErrorList {
	if c.Spec.Controller != old.Spec.Controller {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "controller"), c.Spec.Controller,
			"field is immutable").WithOrigin("immutable")}
	}
	return nil
}

// ParametersColumn is the column Parameters.
func (c *IngressClass) ParametersColumn() string {
	parameters := c.Spec.Parameters
	if parameters == nil {
		return "<none>"
	}
	if parameters.APIGroup != nil {
		return parameters.Kind + "." + *parameters.APIGroup + "/" + parameters.Name
	}
	return parameters.Kind + "/" + parameters.Name
}
