package v1

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// StatusColumn_ComponentStatus says whether a component is healthy.
func StatusColumn_ComponentStatus(component *corev1.ComponentStatus) string {
	healthy := health(component)
	switch {
	case healthy == nil:
		return "Unknown"
	case healthy.Status == corev1.ConditionTrue:
		return "Healthy"
	}
	return "Unhealthy"
}

// MessageColumn_ComponentStatus is what a component says of itself.
func MessageColumn_ComponentStatus(component *corev1.ComponentStatus) string {
	if healthy := health(component); healthy != nil {
		return healthy.Message
	}
	return ""
}

// ErrorColumn_ComponentStatus is what is wrong with a component.
func ErrorColumn_ComponentStatus(component *corev1.ComponentStatus) string {
	if healthy := health(component); healthy != nil {
		return healthy.Error
	}
	return ""
}

func health(component *corev1.ComponentStatus) *corev1.ComponentCondition {
	at := slices.IndexFunc(component.Conditions, func(c corev1.ComponentCondition) bool {
		return c.Type == corev1.ComponentHealthy
	})
	if at < 0 {
		return nil
	}
	return &component.Conditions[at]
}
