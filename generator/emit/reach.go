package emit

import "apigen.dev/generator/model"

// Reach tells which types hold something, themselves or in what is inside of them. It keeps its answers, and types may
// hold themselves.
type Reach struct {
	// has tells whether the type itself does; inner is what to look into if not.
	has   func(*model.Type) bool
	inner func(*model.Type) []*model.Type
	known map[*model.Type]bool
}

// NewReach returns a Reach for what has tells of one type, going into the types that inner returns.
func NewReach(has func(*model.Type) bool, inner func(*model.Type) []*model.Type) *Reach {
	return &Reach{has: has, inner: inner, known: map[*model.Type]bool{}}
}

// From tells whether the type, or anything in it, has it.
func (r *Reach) From(t *model.Type) bool {
	if known, ok := r.known[t]; ok {
		return known
	}
	seen := map[*model.Type]bool{}
	found := r.search(t, seen)
	if !found { // nor does anything on the way
		for visited := range seen {
			r.known[visited] = false
		}
	}
	r.known[t] = found
	return found
}

func (r *Reach) search(t *model.Type, seen map[*model.Type]bool) bool {
	if seen[t] {
		return false
	}
	if known, ok := r.known[t]; ok {
		return known
	}
	seen[t] = true
	if r.has(t) {
		return true
	}
	for _, inner := range r.inner(t) {
		if r.search(inner, seen) {
			return true
		}
	}
	return false
}
