package v1

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LastSeen_Event is when an event was last seen. Recorders of events.k8s.io set the time of a series, or the event's.
func LastSeen_Event(event *corev1.Event) metav1.Time {
	switch {
	case event.Series != nil:
		return metav1.Time{Time: event.Series.LastObservedTime.Time}
	case !event.LastTimestamp.IsZero():
		return event.LastTimestamp
	case !event.FirstTimestamp.IsZero():
		return event.FirstTimestamp
	}
	return metav1.Time{Time: event.EventTime.Time}
}

// Target_Event names the object that an event is about: pod/web.
func Target_Event(event *corev1.Event) string {
	target := strings.ToLower(event.InvolvedObject.Kind)
	if name := event.InvolvedObject.Name; name != "" {
		target += "/" + name
	}
	return target
}
