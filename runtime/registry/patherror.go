package registry

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PathErrors returns an error of a Validate method that names the paths of fields in text, such as spec.steps[0].name,
// as one field error for each path: "Invalid value", with the texts that aren't empty as its detail. An error without a
// path is one of the whole object.
func PathErrors(paths []string, texts ...string) field.ErrorList {
	var details []string
	for _, text := range texts {
		if text != "" {
			details = append(details, text)
		}
	}
	if len(paths) == 0 {
		paths = []string{""}
	}
	var errs field.ErrorList
	for _, path := range paths {
		errs = append(errs, &field.Error{Type: field.ErrorTypeInvalid, Field: path, BadValue: field.OmitValueType{},
			Detail: strings.Join(details, ": ")})
	}
	return errs
}
