package v1

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The greatest priorities.
const (
	maxGroupPriority   = 20000
	maxVersionPriority = 1000
)

var specPath = field.NewPath("spec")

// Validate returns kube-apiserver's errors for an APIService. caBundle may hold anything: a bundle without certificates
// makes the version unavailable.
func (s *APIService) Validate(context.Context) field.ErrorList {
	return slices.Concat(s.validateName(), s.validateVersion(), s.validatePriorities(), s.validateService())
}

// validateName validates the names that there are. A name that is missing is a fault of any object.
func (s *APIService) validateName() (errs field.ErrorList) {
	metadata := field.NewPath("metadata")
	for _, at := range []struct{ field, name string }{{"generateName", s.GenerateName}, {"name", s.Name}} {
		if at.name == "" {
			continue
		}
		for _, message := range s.nameFaults(at.name) {
			errs = append(errs, field.Invalid(metadata.Child(at.field), at.name, message))
		}
	}
	return errs
}

func (s *APIService) nameFaults(name string) []string {
	if faults := content.IsPathSegmentName(name); len(faults) > 0 {
		return faults
	}
	if want := s.Spec.Version + "." + s.Spec.Group; name != want {
		return []string{fmt.Sprintf("must be `spec.version+\".\"+spec.group`: %q", want)}
	}
	return nil
}

func (s *APIService) validateVersion() (errs field.ErrorList) {
	group, version := s.Spec.Group, s.Spec.Version
	switch path := specPath.Child("group"); {
	case group != "":
		for _, message := range validation.IsDNS1123Subdomain(group) {
			errs = append(errs, field.Invalid(path, group, message))
		}
	case version != "v1":
		errs = append(errs, field.Required(path, "only v1 may have an empty group and it better be legacy kube"))
	}
	for _, message := range validation.IsDNS1035Label(version) {
		errs = append(errs, field.Invalid(specPath.Child("version"), version, message))
	}
	return errs
}

func (s *APIService) validatePriorities() (errs field.ErrorList) {
	for _, p := range []struct {
		field      string
		value, max int32
	}{
		{"groupPriorityMinimum", s.Spec.GroupPriorityMinimum, maxGroupPriority},
		{"versionPriority", s.Spec.VersionPriority, maxVersionPriority},
	} {
		if p.value < 1 || p.value > p.max {
			errs = append(errs, field.Invalid(specPath.Child(p.field), p.value,
				fmt.Sprintf("must be positive and less than %d", p.max)))
		}
	}
	return errs
}

// validateService validates how the other server is reached.
func (s *APIService) validateService() (errs field.ErrorList) {
	bundle, insecure := specPath.Child("caBundle"), specPath.Child("insecureSkipTLSVerify")
	if s.IsLocal() {
		if n := len(s.Spec.CABundle); n > 0 {
			errs = append(errs, field.Invalid(bundle, fmt.Sprintf("%d bytes", n),
				"local APIServices may not have a caBundle"))
		}
		if s.Spec.InsecureSkipTLSVerify {
			errs = append(errs, field.Invalid(insecure, true, "local APIServices may not have insecureSkipTLSVerify"))
		}
		return errs
	}
	errs = s.Spec.Service.validate(specPath.Child("service"))
	if s.Spec.InsecureSkipTLSVerify && len(s.Spec.CABundle) > 0 {
		errs = append(errs, field.Invalid(insecure, true, "may not be true if caBundle is present"))
	}
	return errs
}

func (r *ServiceReference) validate(path *field.Path) (errs field.ErrorList) {
	if r.Namespace == "" {
		errs = append(errs, field.Required(path.Child("namespace"), ""))
	}
	if r.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	}
	var port int32
	if r.Port != nil {
		port = *r.Port
	}
	if faults := validation.IsValidPortNum(int(port)); len(faults) > 0 {
		errs = append(errs, field.Invalid(path.Child("port"), port,
			"port is not valid: "+strings.Join(faults, ", ")))
	}
	return errs
}

// statuses are those of conditions.
var statuses = []ConditionStatus{ConditionTrue, ConditionFalse, ConditionUnknown}

// ValidateStatusUpdate returns kube-apiserver's errors for a status: nothing but the statuses of its conditions is
// checked.
func (s *APIService) ValidateStatusUpdate(context.Context, *APIService) (errs field.ErrorList) {
	path := field.NewPath("status", "conditions")
	for i, c := range s.Status.Conditions {
		if !slices.Contains(statuses, c.Status) {
			errs = append(errs, field.NotSupported(path.Index(i).Child("status"), c.Status, statuses))
		}
	}
	return errs
}
