package v1

import "context"

// PrepareForCreate makes the version available at once where this server answers for it. The status of others is for a
// controller to write.
func (s *APIService) PrepareForCreate(context.Context) {
	s.Status = APIServiceStatus{}
	if s.IsLocal() {
		SetCondition(s, LocalCondition())
	}
}

// IsLocal reports whether the server that has the APIService answers for the version itself.
func (s *APIService) IsLocal() bool { return s.Spec.Service == nil }
