package v1

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LastSeenColumn_Event returns when an event happened last.
func LastSeenColumn_Event(event *corev1.Event) (before string, since *metav1.Time, after string) {
	last := event.LastTimestamp
	if event.Series != nil {
		last = metav1.Time(event.Series.LastObservedTime)
	} else if last.IsZero() {
		last = firstSeen(event)
	}
	return "", &last, ""
}

// FirstSeenColumn_Event returns when an event happened first.
func FirstSeenColumn_Event(event *corev1.Event) (before string, since *metav1.Time, after string) {
	first := firstSeen(event)
	return "", &first, ""
}

func firstSeen(event *corev1.Event) metav1.Time {
	if event.FirstTimestamp.IsZero() {
		return metav1.Time(event.EventTime)
	}
	return event.FirstTimestamp
}

// ObjectColumn_Event returns the object of an event, such as pod/web-1.
func ObjectColumn_Event(event *corev1.Event) string {
	kind := strings.ToLower(event.InvolvedObject.Kind)
	if event.InvolvedObject.Name == "" {
		return kind
	}
	return kind + "/" + event.InvolvedObject.Name
}

// SourceColumn_Event returns who reported an event, and where it runs.
func SourceColumn_Event(event *corev1.Event) string {
	source := cmp.Or(event.Source.Component, event.ReportingController)
	if instance := cmp.Or(event.Source.Host, event.ReportingInstance); instance != "" {
		source += ", " + instance
	}
	return source
}

// MessageColumn_Event returns the message of an event.
func MessageColumn_Event(event *corev1.Event) string { return strings.TrimSpace(event.Message) }

// CountColumn_Event returns how often an event happened.
func CountColumn_Event(event *corev1.Event) int32 {
	if event.Series != nil {
		return event.Series.Count
	}
	return cmp.Or(event.Count, 1)
}

// SourceField_Event returns the component that reported an event, which the selector source compares.
func SourceField_Event(event *corev1.Event) string {
	return cmp.Or(event.Source.Component, event.ReportingController)
}
