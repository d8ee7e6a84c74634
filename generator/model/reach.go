package model

// Reach tells which types hold something, themselves or in what is inside of them. It keeps its answers, and types may
// hold themselves.
type Reach struct {
	// has tells whether the type itself does; inner is what to look into if not.
	has   func(*Type) bool
	inner func(*Type) []*Type
	known map[*Type]bool
}

// NewReach returns a Reach for what has tells of one type, going into the types that inner returns.
func NewReach(has func(*Type) bool, inner func(*Type) []*Type) *Reach {
	return &Reach{has: has, inner: inner, known: map[*Type]bool{}}
}

// From tells whether the type, or anything in it, has it.
func (r *Reach) From(t *Type) bool {
	if known, ok := r.known[t]; ok {
		return known
	}
	seen := map[*Type]bool{}
	found := r.search(t, seen)
	if !found { // nor does anything on the way
		for visited := range seen {
			r.known[visited] = false
		}
	}
	r.known[t] = found
	return found
}

func (r *Reach) search(t *Type, seen map[*Type]bool) bool {
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
