package v1

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corelogic "apigen.dev/runtime/builtin/core/v1"
)

// ValidateObject_Event returns kube-apiserver's errors for an event that a client writes to events.k8s.io. New events
// have stricter rules than those of the core group.
func ValidateObject_Event(_ context.Context, event *corev1.Event) field.ErrorList {
	errs := corelogic.ValidateEvent(event, "reportingController")
	if event.ResourceVersion != "" {
		return errs // an update: objects that replace others have their resourceVersion
	}
	errs = append(errs, validateSeries(event)...)
	if event.EventTime.IsZero() {
		errs = append(errs, field.Required(field.NewPath("eventTime"), ""))
	}
	if event.Type != corev1.EventTypeNormal && event.Type != corev1.EventTypeWarning {
		errs = append(errs, field.Invalid(field.NewPath("type"), "", fmt.Sprintf("has invalid value: %v", event.Type)))
	}
	for _, old := range []struct {
		name string
		set  bool
	}{
		{"firstTimestamp", !event.FirstTimestamp.IsZero()}, {"lastTimestamp", !event.LastTimestamp.IsZero()},
		{"count", event.Count != 0}, {"source", event.Source != corev1.EventSource{}},
	} {
		if old.set {
			errs = append(errs, field.Invalid(field.NewPath(old.name), "", "needs to be unset"))
		}
	}
	return errs
}

func validateSeries(event *corev1.Event) (errs field.ErrorList) {
	if event.Series == nil {
		return nil
	}
	if event.Series.Count < 2 {
		errs = append(errs, field.Invalid(field.NewPath("series.count"), "", "should be at least 2"))
	}
	if event.Series.LastObservedTime.IsZero() {
		errs = append(errs, field.Required(field.NewPath("series.lastObservedTime"), ""))
	}
	return errs
}

// Errors show values of these types as kube-apiserver shows them: without JSON names of the fields.
type (
	reference struct {
		Kind, Namespace, Name                  string
		UID                                    types.UID
		APIVersion, ResourceVersion, FieldPath string
	}
	source struct{ Component, Host string }
)

// ValidateUpdate_Event rejects changes of everything but the series.
func ValidateUpdate_Event(_ context.Context, event, old *corev1.Event) (errs field.ErrorList) {
	if !reflect.DeepEqual(event.Series, old.Series) {
		errs = validateSeries(event)
	}
	same := func(name string, value, before any) {
		errs = slices.Concat(errs, validation.ValidateImmutableField(value, before, field.NewPath(name)))
	}
	same("involvedObject", reference(event.InvolvedObject), reference(old.InvolvedObject))
	same("reason", event.Reason, old.Reason)
	same("message", event.Message, old.Message)
	same("source", source(event.Source), source(old.Source))
	same("firstTimestamp", event.FirstTimestamp, old.FirstTimestamp)
	same("lastTimestamp", event.LastTimestamp, old.LastTimestamp)
	same("count", event.Count, old.Count)
	same("type", event.Type, old.Type)
	// Clients that write protobuf may send more precise times than those that they read.
	if !event.EventTime.Truncate(time.Microsecond).Equal(old.EventTime.Truncate(time.Microsecond)) {
		same("eventTime", event.EventTime, old.EventTime)
	}
	same("action", event.Action, old.Action)
	same("related", (*reference)(event.Related), (*reference)(old.Related))
	same("reportingController", event.ReportingController, old.ReportingController)
	same("reportingInstance", event.ReportingInstance, old.ReportingInstance)
	return errs
}
