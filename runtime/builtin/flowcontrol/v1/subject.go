package v1

import (
	"fmt"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// subjectKinds are the kinds of subjects in the order in which kube-apiserver complains of those that don't belong.
var subjectKinds = []flowcontrolv1.SubjectKind{
	flowcontrolv1.SubjectKindServiceAccount, flowcontrolv1.SubjectKindUser, flowcontrolv1.SubjectKindGroup,
}

// validateSubject asks for the one field that belongs to the kind of the subject.
func validateSubject(subject *flowcontrolv1.Subject, path *field.Path) (errs field.ErrorList) {
	present := map[flowcontrolv1.SubjectKind]bool{
		flowcontrolv1.SubjectKindServiceAccount: subject.ServiceAccount != nil,
		flowcontrolv1.SubjectKindUser:           subject.User != nil,
		flowcontrolv1.SubjectKindGroup:          subject.Group != nil,
	}
	if _, known := present[subject.Kind]; !known {
		return field.ErrorList{field.NotSupported(path.Child("kind"), subject.Kind, []flowcontrolv1.SubjectKind{
			flowcontrolv1.SubjectKindGroup, flowcontrolv1.SubjectKindServiceAccount, flowcontrolv1.SubjectKindUser})}
	}
	own := path.Child(fieldOf(subject.Kind))
	switch {
	case !present[subject.Kind]:
		errs = append(errs, field.Required(own, fmt.Sprintf("%s is required when subject kind is '%s'",
			fieldOf(subject.Kind), subject.Kind)))
	case subject.Kind == flowcontrolv1.SubjectKindServiceAccount:
		errs = append(errs, validateAccount(subject.ServiceAccount, own)...)
	case subject.Kind == flowcontrolv1.SubjectKindUser && subject.User.Name == "",
		subject.Kind == flowcontrolv1.SubjectKindGroup && subject.Group.Name == "":
		errs = append(errs, field.Required(own.Child("name"), ""))
	}
	for _, kind := range subjectKinds {
		if kind != subject.Kind && present[kind] {
			errs = append(errs, field.Forbidden(path.Child(fieldOf(kind)),
				fmt.Sprintf("%s is forbidden when subject kind is not '%s'", fieldOf(kind), kind)))
		}
	}
	return errs
}

// fieldOf returns the field of a subject that belongs to a kind: serviceAccount.
func fieldOf(kind flowcontrolv1.SubjectKind) string {
	return strings.ToLower(string(kind[:1])) + string(kind[1:])
}

func validateAccount(account *flowcontrolv1.ServiceAccountSubject, path *field.Path) (errs field.ErrorList) {
	if account.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	} else if account.Name != flowcontrolv1.NameAll {
		for _, message := range validation.ValidateServiceAccountName(account.Name, false) {
			errs = append(errs, field.Invalid(path.Child("name"), account.Name, message))
		}
	}
	if account.Namespace == "" {
		return append(errs, field.Required(path.Child("namespace"), "must specify namespace for service account"))
	}
	for _, message := range validation.ValidateNamespaceName(account.Namespace, false) {
		errs = append(errs, field.Invalid(path.Child("namespace"), account.Namespace, message))
	}
	return errs
}
