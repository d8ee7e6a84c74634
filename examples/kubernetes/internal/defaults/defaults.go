// Package defaults sets values that clients left out.
package defaults

// Value sets a value that is zero.
func Value[T comparable](to *T, value T) {
	if *to == *new(T) {
		*to = value
	}
}

// Pointer sets a pointer that is nil.
func Pointer[T any](to **T, value T) {
	if *to == nil {
		*to = &value
	}
}
