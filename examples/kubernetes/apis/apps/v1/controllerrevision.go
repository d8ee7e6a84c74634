package v1

import (
	"context"
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/rule"
)

// label wants a DNS label, which a generated name may end.
func label(name string, generated bool) []string {
	return apivalidation.NameIsDNSLabel(name, generated)
}

// ValidateObject_ControllerRevision returns the errors of a revision.
func ValidateObject_ControllerRevision(_ context.Context, in *appsv1.ControllerRevision) field.ErrorList {
	errs := rule.NotNegative(field.NewPath("revision"), in.Revision)
	if in.ResourceVersion != "" {
		return errs
	}
	path := field.NewPath("data")
	var data any
	switch err := json.Unmarshal(in.Data.Raw, &data); {
	case in.Data.Raw == nil, err == nil && data == nil:
		return append(errs, field.Required(path, "data is mandatory"))
	case err != nil:
		return append(errs, field.Invalid(path, "<value omitted>", "error parsing data: "+err.Error()))
	}
	_, isObject := data.(map[string]any)
	return append(errs, rule.When(!isObject, field.Required(path, "data must be a valid JSON object"))...)
}

// ValidateUpdate_ControllerRevision holds the data.
func ValidateUpdate_ControllerRevision(_ context.Context, in, old *appsv1.ControllerRevision) field.ErrorList {
	return rule.Immutable(field.NewPath("data"), in.Data, old.Data)
}
