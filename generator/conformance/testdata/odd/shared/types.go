// Package shared has types that belong to no group.
package shared

// Common is inlined elsewhere.
type Common struct {
	Labels map[string]string `json:"labels,omitempty"`
	Depth  int               `json:"depth"`
}

// Nested is a field elsewhere.
type Nested struct {
	Name string `json:"name"`
}
