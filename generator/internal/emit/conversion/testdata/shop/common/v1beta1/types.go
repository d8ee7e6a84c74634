// Package v1beta1 is of another group, which generates nothing.
package v1beta1

// Person is the peer of v1's.
type Person struct {
	Name    string   `json:"name"`
	Address *Address `json:"address,omitempty"`
	Phones  []string `json:"phones,omitempty"`
}

// Address is nested.
type Address struct {
	Street string `json:"street"`
	Number int32  `json:"number"`
}
