// Package v1 is of another group, which generates nothing.
package v1

// Person has a peer with another name for a field's type.
type Person struct {
	Name    string
	Address *Address
	Phones  []string
}

// Address is nested.
type Address struct {
	Street string
	Number int64
}
