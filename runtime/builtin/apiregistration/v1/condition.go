package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ConditionOf returns a condition of an APIService, nil if it has none of the type. The condition is shared with the
// APIService, not a copy.
func ConditionOf(service *APIService, of APIServiceConditionType) *APIServiceCondition {
	for i := range service.Status.Conditions {
		if service.Status.Conditions[i].Type == of {
			return &service.Status.Conditions[i]
		}
	}
	return nil
}

// IsAvailable reports whether requests for the version can be answered, as far as the status of an APIService says.
func IsAvailable(service *APIService) bool {
	c := ConditionOf(service, Available)
	return c != nil && c.Status == ConditionTrue
}

// SetCondition sets a condition of an APIService, and reports whether that changed it. Where the status of the
// condition stays, lastTransitionTime stays, too; otherwise it is that of c, and now where c has none.
func SetCondition(service *APIService, c APIServiceCondition) bool {
	if c.LastTransitionTime.IsZero() {
		c.LastTransitionTime = metav1.Now()
	}
	before := ConditionOf(service, c.Type)
	if before == nil {
		service.Status.Conditions = append(service.Status.Conditions, c)
		return true
	}
	if before.Status == c.Status {
		c.LastTransitionTime = before.LastTransitionTime
	}
	changed := *before != c
	*before = c
	return changed
}

// LocalCondition returns the condition Available of an APIService that names no Service.
func LocalCondition() APIServiceCondition {
	return APIServiceCondition{
		Type: Available, Status: ConditionTrue, LastTransitionTime: metav1.Now(), Reason: "Local",
		Message: "Local APIServices are always available",
	}
}
