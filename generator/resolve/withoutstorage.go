package resolve

import (
	"slices"
	"strings"

	"apigen.dev/generator/model"
)

// defaultVerbs are the verbs of kinds without storage that no marker names, furtherVerbs the others that they can have.
var (
	defaultVerbs = []string{"create", "get", "list", "watch"}
	furtherVerbs = []string{"delete", "deleteCollection", "patch", "update"}
)

// verbs decides how a kind without storage is served.
func (b *groupBuilder) verbs(r *model.Resource) {
	withoutStorage := false
	for _, rv := range r.Versions {
		withoutStorage = withoutStorage || rv.Type.Kind.WithoutStorage
	}
	if !withoutStorage {
		return
	}
	r.Status = false
	for _, rv := range r.Versions {
		for _, verb := range rv.Type.Kind.Verbs {
			if known := slices.Concat(defaultVerbs, furtherVerbs); !slices.Contains(known, verb) {
				b.errorf(rv.Type.Kind.VerbsPos, "%q is no verb that a kind without storage is served with: known "+
					"are %s", verb, strings.Join(known, ", "))
				continue
			}
			r.Verbs = append(r.Verbs, strings.ToLower(verb))
		}
		if rv.Type.Kind.Scale != nil {
			b.errorf(rv.Type.Kind.Scale.Pos, "the subresource scale changes its object, and nothing is stored of %s",
				r.Kind)
		}
	}
	if len(r.Verbs) == 0 {
		r.Verbs = slices.Clone(defaultVerbs)
	}
	slices.Sort(r.Verbs)
	r.Verbs = slices.Compact(r.Verbs)
}
