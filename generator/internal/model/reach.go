package model

import "slices"

// Reach tells which things, such as types, hold something, themselves or in what is inside of them. It keeps its
// answers, and things may hold themselves.
type Reach[T comparable] struct {
	// has reports whether the thing itself does; inner is what to look into if not.
	has   func(T) bool
	inner func(T) []T
	known map[T]bool
}

// NewReach returns a Reach for what has tells of one thing, going into the things that inner returns.
func NewReach[T comparable](has func(T) bool, inner func(T) []T) *Reach[T] {
	return &Reach[T]{has: has, inner: inner, known: map[T]bool{}}
}

// From reports whether the thing, or anything in it, has it.
func (r *Reach[T]) From(t T) bool {
	seen := map[T]bool{}
	found := r.search(t, seen)
	if !found { // nor does anything on the way
		for visited := range seen {
			r.known[visited] = false
		}
	}
	r.known[t] = found
	return found
}

func (r *Reach[T]) search(t T, seen map[T]bool) bool {
	if known, ok := r.known[t]; ok || seen[t] {
		return known
	}
	seen[t] = true
	return r.has(t) || slices.ContainsFunc(r.inner(t), func(inner T) bool { return r.search(inner, seen) })
}
