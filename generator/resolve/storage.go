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
	if !slices.ContainsFunc(r.Versions, func(rv model.ResourceVersion) bool { return rv.Type.Kind.WithoutStorage }) {
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

// resolveStoragePrefix decides where a resource's keys are. A prefix of any version holds for all versions.
func (b *groupBuilder) resolveStoragePrefix(r *model.Resource) {
	for _, rv := range r.Versions {
		k := rv.Type.Kind
		prefix := strings.ReplaceAll(k.StoragePrefix, "*", r.Plural)
		switch {
		case prefix == "":
		case k.WithoutStorage || r.WithoutStorage():
			b.errorf(k.StoragePrefixPos, "marker \"+apigen:storagePrefix\" says where %s is stored, and nothing is "+
				"stored of it", r.Kind)
		case r.StoragePrefix != "" && r.StoragePrefix != prefix:
			b.errorf(k.StoragePrefixPos, "kind %s is stored below %s here, but below %s in another version: all "+
				"versions share their keys", r.Kind, prefix, r.StoragePrefix)
		default:
			r.StoragePrefix = prefix
		}
	}
}
