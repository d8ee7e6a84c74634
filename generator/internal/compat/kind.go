package compat

import (
	"cmp"
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

func (d *diff) group(o, n *model.Group) {
	here := place{group: o.Name, pos: groupPosition(n), old: groupPosition(o)}
	d.preferred(here, o, n)
	for _, r := range o.Resources {
		if len(r.Served()) == 0 {
			continue
		}
		if now := resourceOf(n, r.Kind); now != nil && len(now.Served()) > 0 {
			d.resource(here, r, now)
		} else {
			removed := here
			newest := r.Served()[0]
			removed.version, removed.kind, removed.old = newest.Version.Name, r.Kind, newest.Type.Pos
			d.at(removed).add("KIND_REMOVED", "the kind is gone")
		}
	}
	for _, r := range n.Resources {
		if old := resourceOf(o, r.Kind); len(r.Served()) > 0 && (old == nil || len(old.Served()) == 0) {
			d.at(place{group: n.Name, kind: r.Kind, pos: r.Served()[0].Type.Pos}).add("KIND_ADDED",
				"the kind is new, in %s", strings.Join(versions(r), ", "))
		}
	}
}

func (d *diff) preferred(here place, o, n *model.Group) {
	was, is := o.ServedVersions(), n.ServedVersions()
	if len(was) == 0 || len(is) == 0 {
		return
	}
	if slices.ContainsFunc(is, func(v *model.Version) bool { return v.Name == was[0].Name }) {
		d.at(here).changed("PREFERRED_VERSION_CHANGED", "preferred version", was[0].Name, is[0].Name, "")
	}
}

func resourceOf(g *model.Group, kind string) *model.Resource {
	return find(g.Resources, func(r *model.Resource) bool { return r.Kind == kind })
}

func versions(r *model.Resource) []string {
	var out []string
	for _, v := range r.Served() {
		out = append(out, v.Version.Name)
	}
	return out
}

func (d *diff) resource(here place, o, n *model.Resource) {
	here.kind, here.pos, here.old = o.Kind, n.Served()[0].Type.Pos, o.Served()[0].Type.Pos
	d.at(here).names(o, n)
	d.at(here).provider(o, n)
	d.at(here).storage(o, n)
	d.at(here).nameRules(o, n)
	for _, was := range o.Served() {
		here := here
		here.version, here.old = was.Version.Name, was.Type.Pos
		is := versionOf(n.Served(), was.Version.Name)
		if is.Version == nil {
			d.at(here).removed(was.Type)
			continue
		}
		here.pos = is.Type.Pos
		d.at(here).version(was.Type, is.Type)
	}
	for _, is := range n.Served() {
		if versionOf(o.Served(), is.Version.Name).Version == nil {
			here := here
			here.version, here.pos = is.Version.Name, is.Type.Pos
			d.at(here).add("VERSION_ADDED", "the kind is new in this version")
		}
	}
}

func versionOf(list []model.ResourceVersion, name string) model.ResourceVersion {
	return find(list, func(v model.ResourceVersion) bool { return v.Version.Name == name })
}

// removed reports a version that is no longer served. For a version that was marked as deprecated, this is a warning.
func (s site) removed(was *model.Type) {
	s.add("VERSION_REMOVED", "the version is no longer served")
	if was.Kind != nil && (was.Kind.IsDeprecated || was.Kind.Deprecated != "") {
		f := &s.findings[len(s.findings)-1]
		f.Level, f.Message = Warn, "the version, which was deprecated, is no longer served"
	}
}

func (s site) names(o, n *model.Resource) {
	s.changed("RESOURCE_RENAMED", "resource", o.Plural, n.Plural, "")
	s.changed("SCOPE_CHANGED", "kind", scope(o), scope(n), "")
	if o.ListKind != n.ListKind {
		s.add("LIST_KIND_CHANGED", "lists were %s, and are %s", o.ListKind, n.ListKind)
	}
	s.changed("SINGULAR_CHANGED", "singular", o.Singular, n.Singular, "")
	s.each("SHORT_NAME_REMOVED", o.ShortNames, n.ShortNames, "the short name %s is gone")
	s.each("CATEGORY_REMOVED", o.Categories, n.Categories, "the category %s is gone")
	before, _ := subresources(o)
	after, fields := subresources(n)
	s.each("SUBRESOURCE_REMOVED", before, after, "the subresource %s is gone")
	s.each("SUBRESOURCE_ADDED", fields, before, "%s is a subresource now")
	for _, was := range o.Subresources {
		is := find(n.Subresources, func(s *model.Subresource) bool { return s.Name == was.Name })
		if is != nil {
			s.parts(was.SubresourceMarker, is.SubresourceMarker)
		}
	}
}

// parts reports what a subresource no longer changes, and the methods that it no longer has.
func (s site) parts(was, is model.SubresourceMarker) {
	s.each("SUBRESOURCE_PART_REMOVED", was.Parts, is.Parts, "the subresource "+was.Name+" no longer changes %s")
	s.each("SUBRESOURCE_PART_REMOVED", was.Metadata, is.Metadata,
		"the subresource "+was.Name+" no longer changes metadata.%s")
	s.each("SUBRESOURCE_METHOD_REMOVED", was.Methods, is.Methods, "the subresource "+was.Name+" has no %s")
}

// subresources returns the names of all subresources, and those of fields: a new one of these takes its part of the
// object away from other writes.
func subresources(r *model.Resource) (all, fields []string) {
	if r.Status {
		all, fields = []string{"status"}, []string{"status"}
	}
	for _, s := range r.Subresources {
		all = append(all, s.Name)
		if s.Form == model.FieldSubresource {
			fields = append(fields, s.Name)
		}
	}
	return all, fields
}

func scope(r *model.Resource) string {
	if r.ClusterScoped {
		return "cluster-scoped"
	}
	return "namespaced"
}

func (s site) provider(o, n *model.Resource) {
	switch {
	case !o.WithoutStorage && n.WithoutStorage:
		s.add("STORAGE_REMOVED", "objects were stored, and come from a provider with the verbs %s",
			strings.Join(n.Verbs, ", "))
		return
	case o.WithoutStorage && !n.WithoutStorage:
		s.add("STORAGE_ADDED", "objects came from a provider, and are stored")
		return
	}
	s.each("VERB_REMOVED", o.ServedVerbs(), n.ServedVerbs(), "the verb %s is gone")
	s.each("VERB_ADDED", n.ServedVerbs(), o.ServedVerbs(), "the verb %s is new")
}

// nameRules reports another rule for names. Every name follows the rule model.AnyName.
func (s site) nameRules(o, n *model.Resource) {
	was, is := nameRule(o), nameRule(n)
	if was != is && is != model.AnyName {
		s.add("NAME_RULE_CHANGED", "names followed the rule %s, and follow %s", was, is)
	}
}

// nameRule returns the word of the rule for the names of a resource.
func nameRule(r *model.Resource) string {
	for _, v := range r.Versions {
		if k := kindOf(v.Type); k.Name != nil {
			return k.Name.Word
		}
	}
	return model.NameRuleWords()[0]
}

func (s site) storage(o, n *model.Resource) {
	if o.WithoutStorage || n.WithoutStorage {
		return
	}
	if o.StoragePrefix != n.StoragePrefix {
		s.add("STORAGE_PREFIX_CHANGED", "objects were stored below %s, and are stored below %s", prefix(o), prefix(n))
	}
	if o.Storage == nil || n.Storage == nil || o.Storage.Name == n.Storage.Name ||
		o.SameAs != nil && n.SameAs != nil { // it is that of a resource which is compared, too
		return
	}
	if versionOf(n.Versions, o.Storage.Name).Version == nil {
		s.add("STORED_VERSION_DROPPED", "objects were stored as %s, which doesn't exist any more", o.Storage.Name)
		return
	}
	s.add("STORAGE_VERSION_CHANGED", "objects were stored as %s, and are stored as %s", o.Storage.Name, n.Storage.Name)
}

func prefix(r *model.Resource) string {
	return cmp.Or(r.StoragePrefix, "the group's name and "+r.Plural)
}

func (s site) version(was, is *model.Type) {
	o, n := kindOf(was), kindOf(is)
	if n.IsDeprecated && !o.IsDeprecated || n.Deprecated != "" && o.Deprecated == "" && !o.IsDeprecated {
		s.add("VERSION_DEPRECATED", "the version is deprecated")
	}
	if o.CreateOnUpdate && !n.CreateOnUpdate {
		s.add("CREATE_ON_UPDATE_REMOVED", "an update of an object that doesn't exist created it, and doesn't any more")
	}
	if n.RequireResourceVersion && !o.RequireResourceVersion {
		s.add("RESOURCE_VERSION_REQUIRED", "an update needs metadata.resourceVersion")
	}
	if n.ReturnDeletedObject != o.ReturnDeletedObject {
		answers := map[bool]string{false: "a Status", true: "the object"}
		s.add("DELETION_ANSWER_CHANGED", "a deletion answered with %s, and answers with %s",
			answers[o.ReturnDeletedObject], answers[n.ReturnDeletedObject])
	}
	s.each("SELECTABLE_FIELD_REMOVED", selectable(o), selectable(n), "field selectors may no longer name %s")
	s.columns(o, n)
	w := walk{diff: s.diff, seen: map[pair]bool{}}
	w.object(s.place, s.types.Type(was), s.types.Type(is))
}

func kindOf(t *model.Type) *model.Kind {
	if t.Kind == nil {
		return &model.Kind{}
	}
	return t.Kind
}

func selectable(k *model.Kind) []string {
	var out []string
	for _, f := range k.Selectable {
		out = append(out, f.Name)
	}
	return out
}

func (s site) columns(o, n *model.Kind) {
	for _, was := range o.Columns {
		i := slices.IndexFunc(n.Columns, func(c model.Column) bool { return c.Name == was.Name })
		if i < 0 {
			s.add("COLUMN_REMOVED", "the column %s is gone", was.Name)
			continue
		}
		is := n.Columns[i]
		if was.Type != is.Type || was.JSONPath != is.JSONPath || was.Method != is.Method {
			s.add("COLUMN_CHANGED", "the column %s showed %s (%s), and shows %s (%s)", was.Name,
				was.JSONPath+was.Method, was.Type, is.JSONPath+is.Method, is.Type)
		}
	}
}
