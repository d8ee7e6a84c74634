package resolve

import (
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

// defaultVerbs are the verbs of kinds without storage that no marker names.
var defaultVerbs = []string{"create", "get", "list", "watch"}

// verbs decides whether a kind is stored, and the verbs that it is served with.
func (b *groupBuilder) verbs(r *model.Resource) {
	r.WithoutStorage = slices.ContainsFunc(r.Versions, func(rv model.ResourceVersion) bool {
		return rv.Type.Kind.WithoutStorage
	})
	if r.WithoutStorage {
		b.provide(r)
	}
	switch {
	case b.markedVerbs(r):
	case r.WithoutStorage:
		b.providedVerbs(r)
	default:
		clientVerbs(r)
	}
	slices.Sort(r.Verbs)
	r.Verbs = slices.Compact(r.Verbs)
	if !r.WithoutStorage && slices.Equal(r.Verbs, model.Verbs()) {
		r.Verbs = nil
	}
}

// provide takes from a kind without storage what only stored kinds have.
func (b *groupBuilder) provide(r *model.Resource) {
	r.Status = false
	for _, rv := range r.Versions {
		if rv.Type.Kind.Scale != nil {
			b.errorf(rv.Type.Kind.Scale.Pos, "the subresource scale changes its object, and nothing is stored of %s",
				r.Kind)
		}
	}
}

// markedVerbs takes the verbs of +apigen:verbs, and reports whether there are any. Those of one version hold for all.
func (b *groupBuilder) markedVerbs(r *model.Resource) bool {
	for _, rv := range r.Versions {
		switch k := rv.Type.Kind; {
		case k.Verbs == nil:
		case r.Verbs == nil:
			r.Verbs, r.VerbsPos = slices.Clone(k.Verbs), k.VerbsPos
		case !slices.Equal(k.Verbs, r.Verbs):
			b.errorf(k.VerbsPos, "kind %s is served with the verbs %s here, but with %s in another version: all "+
				"versions have the same verbs", r.Kind, list(k.Verbs), list(r.Verbs))
		}
	}
	return r.Verbs != nil
}

func list(verbs []string) string { return strings.Join(verbs, ", ") }

// providedVerbs takes the verbs of a kind without storage: those of +genclient:onlyVerbs in any version, or the default
// ones without those that the client of another module's kind skips.
func (b *groupBuilder) providedVerbs(r *model.Resource) {
	for _, rv := range r.Versions {
		k := rv.Type.Kind
		for _, verb := range k.OnlyVerbs {
			lower := strings.ToLower(verb)
			if !slices.Contains(model.Verbs(), lower) {
				b.errorf(k.OnlyVerbsPos, "%q is no verb that a kind without storage is served with: known are create, "+
					"get, list, watch, delete, deleteCollection, patch, update", verb)
				continue
			}
			r.Verbs, r.VerbsPos = append(r.Verbs, lower), k.OnlyVerbsPos
		}
	}
	if len(r.Verbs) > 0 {
		return
	}
	r.Verbs = slices.Clone(defaultVerbs)
	for _, rv := range r.Versions {
		if c := foreignClient(rv.Type); c != nil && len(c.Skip) > 0 {
			r.VerbsPos = c.Pos
			r.Verbs = slices.DeleteFunc(r.Verbs, func(verb string) bool { return slices.Contains(c.Skip, verb) })
		}
	}
}

// clientVerbs takes the verbs of a stored kind of another module from its clients. A version whose client has all verbs
// is served with all.
func clientVerbs(r *model.Resource) {
	var out []string
	for _, rv := range r.Versions {
		c := foreignClient(rv.Type)
		if c == nil || c.Only == nil && c.Skip == nil {
			return
		}
		r.VerbsPos = c.Pos
		for _, verb := range c.Verbs {
			if verb = serverVerb(verb); slices.Contains(model.Verbs(), verb) {
				out = append(out, verb)
			}
		}
	}
	r.Verbs = append([]string{}, out...)
}

// foreignClient returns the client of a kind of another module; nil if there is none, or if it has no verbs at
// all, which says nothing of the server.
func foreignClient(t *model.Type) *model.Client {
	c := t.Kind.Client
	if t.Package.ServedBy == nil || c == nil || c.NoVerbs {
		return nil
	}
	return c
}
