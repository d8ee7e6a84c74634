package model

import "slices"

// KindVerbs is what markers say of the verbs that a kind is served with.
type KindVerbs struct {
	// Verbs are those of +apigen:verbs, as discovery spells them: deletecollection. They are nil without the marker.
	// VerbsPos is where it stands.
	Verbs    []string
	VerbsPos Position
	// OnlyVerbs are those of +genclient:onlyVerbs, as clients spell them: deleteCollection. They are nil without the
	// marker. OnlyVerbsPos is where it stands.
	OnlyVerbs    []string
	OnlyVerbsPos Position
}

// Verbs returns all verbs that a kind can be served with, sorted, as discovery spells them.
func Verbs() []string {
	return []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
}

// Has reports whether the kind is served with a verb.
func (r *Resource) Has(verb string) bool { return r.Verbs == nil || slices.Contains(r.Verbs, verb) }

// ServedVerbs returns the verbs that the kind is served with, sorted.
func (r *Resource) ServedVerbs() []string {
	if r.Verbs == nil {
		return Verbs()
	}
	return r.Verbs
}
