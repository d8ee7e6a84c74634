package load

import (
	"slices"
	"strings"

	"apigen.dev/generator/model"
)

// virtualVerbs are the verbs of kinds without storage.
var virtualVerbs = []string{"create", "get", "list", "watch"}

// verbs decides how a kind without storage is served.
func (b *builder) verbs(r *model.Resource) {
	virtual := false
	for _, rv := range r.Versions {
		virtual = virtual || rv.Type.Kind.Virtual
	}
	if !virtual {
		return
	}
	r.Status = false
	for _, rv := range r.Versions {
		for _, verb := range rv.Type.Kind.Verbs {
			if !slices.Contains(virtualVerbs, verb) {
				b.errorf(rv.Type.Kind.VerbsPos, "%q is no verb that a kind without storage is served with: known are %s", verb, strings.Join(virtualVerbs, ", "))
				continue
			}
			r.Verbs = append(r.Verbs, verb)
		}
		if rv.Type.Kind.Scale != nil {
			b.errorf(rv.Type.Kind.Scale.Pos, "the subresource scale changes its object, and nothing is stored of %s", r.Kind)
		}
	}
	if len(r.Verbs) == 0 {
		r.Verbs = slices.Clone(virtualVerbs)
	}
	slices.Sort(r.Verbs)
	r.Verbs = slices.Compact(r.Verbs)
}
