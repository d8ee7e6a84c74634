package load

import (
	"slices"
	"strings"

	"apigen.dev/generator/model"
)

// virtualVerbs are the verbs of kinds without storage where nobody says, furtherVerbs those that they can have, too.
var (
	virtualVerbs = []string{"create", "get", "list", "watch"}
	furtherVerbs = []string{"delete", "deleteCollection", "patch", "update"}
)

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
			if known := slices.Concat(virtualVerbs, furtherVerbs); !slices.Contains(known, verb) {
				b.errorf(rv.Type.Kind.VerbsPos, "%q is no verb that a kind without storage is served with: known are %s", verb, strings.Join(known, ", "))
				continue
			}
			r.Verbs = append(r.Verbs, strings.ToLower(verb))
		}
		b.verbsTogether(rv.Type.Kind)
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

// verbsTogether finds verbs that aren't served without others: who updates or deletes needs what is there, and what updates
// can be patched.
func (b *builder) verbsTogether(k *model.Kind) {
	for _, rule := range []struct{ verb, needs string }{
		{"update", "get"}, {"update", "patch"}, {"patch", "update"}, {"delete", "get"}, {"deleteCollection", "list"}, {"deleteCollection", "delete"},
	} {
		if slices.Contains(k.Verbs, rule.verb) && !slices.Contains(k.Verbs, rule.needs) {
			b.errorf(k.VerbsPos, "a kind without storage that has the verb %s has %s, too: name both in +genclient:onlyVerbs", rule.verb, rule.needs)
		}
	}
	if slices.Contains(k.Verbs, "delete") && slices.Contains(k.Verbs, "list") && !slices.Contains(k.Verbs, "deleteCollection") {
		b.errorf(k.VerbsPos, "a kind without storage that has the verbs delete and list has deleteCollection, too: name all three in +genclient:onlyVerbs")
	}
}
