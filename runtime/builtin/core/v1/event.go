package v1

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// DefaultPropagationPolicy_Event says that events have no dependents.
func DefaultPropagationPolicy_Event(context.Context, *corev1.Event) metav1.DeletionPropagation {
	return ""
}

// TimeToLive_Event lets an event live for an hour after its last change, kube-apiserver's default.
func TimeToLive_Event(context.Context, *corev1.Event) time.Duration { return time.Hour }

// ValidateObject_Event returns kube-apiserver's errors for an event that a client writes as v1.
func ValidateObject_Event(_ context.Context, event *corev1.Event) field.ErrorList {
	return ValidateEvent(event, "reportingComponent")
}

// ValidateEvent returns the errors of an event that hold in both of its groups. reporter names the field with the
// reporting controller in the group of the request.
func ValidateEvent(event *corev1.Event, reporter string) (errs field.ErrorList) {
	if event.EventTime.IsZero() {
		errs = validateSubjectNamespace(event)
	} else {
		errs = validateReport(event, reporter)
	}
	for _, message := range utilvalidation.IsDNS1123Subdomain(event.Namespace) {
		errs = append(errs, field.Invalid(field.NewPath("namespace"), event.Namespace, message))
	}
	return errs
}

// validateSubjectNamespace compares the namespaces of an event of an old recorder, which sets no eventTime.
func validateSubjectNamespace(event *corev1.Event) field.ErrorList {
	namespaces := []string{event.InvolvedObject.Namespace}
	if event.InvolvedObject.Namespace == "" {
		namespaces = []string{metav1.NamespaceNone, metav1.NamespaceDefault}
	}
	return wantNamespace(event, namespaces...)
}

func wantNamespace(event *corev1.Event, namespaces ...string) field.ErrorList {
	if slices.Contains(namespaces, event.Namespace) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("involvedObject", "namespace"), event.InvolvedObject.Namespace,
		"does not match event.namespace")}
}

// The longest texts of an event.
const (
	maxText = 128
	maxNote = 1024
)

// validateReport checks the fields that today's recorders set.
func validateReport(event *corev1.Event, reporter string) (errs field.ErrorList) {
	if event.InvolvedObject.Namespace == "" {
		errs = wantNamespace(event, metav1.NamespaceDefault, metav1.NamespaceSystem)
	}
	path := field.NewPath(reporter)
	if event.ReportingController == "" {
		errs = append(errs, field.Required(path, ""))
	}
	for _, message := range utilvalidation.IsQualifiedName(event.ReportingController) {
		errs = append(errs, field.Invalid(path, event.ReportingController, message))
	}
	for _, text := range []struct{ name, value string }{
		{"reportingInstance", event.ReportingInstance}, {"action", event.Action}, {"reason", event.Reason},
	} {
		if text.value == "" {
			errs = append(errs, field.Required(field.NewPath(text.name), ""))
		}
		errs = append(errs, bounded(text.name, text.value, maxText)...)
	}
	return append(errs, bounded("message", event.Message, maxNote)...)
}

func bounded(name, value string, longest int) field.ErrorList {
	if len(value) <= longest {
		return nil
	}
	return field.ErrorList{
		field.Invalid(field.NewPath(name), "", fmt.Sprintf("can have at most %d characters", longest)),
	}
}
