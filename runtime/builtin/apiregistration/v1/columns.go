package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ServiceColumn returns the namespace and the name of the Service, or Local.
func (s *APIService) ServiceColumn() string {
	if s.IsLocal() {
		return "Local"
	}
	return s.Spec.Service.Namespace + "/" + s.Spec.Service.Name
}

// AvailableColumn returns the status of the condition Available, with its reason where the status isn't True.
func (s *APIService) AvailableColumn() string {
	c := ConditionOf(s, Available)
	switch {
	case c == nil:
		return string(ConditionUnknown)
	case c.Status == ConditionTrue || c.Reason == "":
		return string(c.Status)
	}
	return string(c.Status) + " (" + c.Reason + ")"
}

// AgeColumn returns when the APIService was created.
func (s *APIService) AgeColumn() (before string, since *metav1.Time, after string) {
	return "", &s.CreationTimestamp, ""
}
