package compat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"apigen.dev/generator/model"
)

// group compares two states of a group.
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
			gone := here
			gone.version, gone.kind, gone.old = newest(r), r.Kind, r.Served()[0].Type.Pos
			d.at(gone).add(kindRemoved, "the kind is gone")
		}
	}
	for _, r := range n.Resources {
		if old := resourceOf(o, r.Kind); len(r.Served()) > 0 && (old == nil || len(old.Served()) == 0) {
			d.at(place{group: n.Name, kind: r.Kind, pos: r.Served()[0].Type.Pos}).add(kindAdded,
				"the kind is new, in "+strings.Join(versions(r), ", "))
		}
	}
}

// newest is the version by which a kind that is gone was known best.
func newest(r *model.Resource) string { return r.Served()[0].Version.Name }

func (d *diff) preferred(here place, o, n *model.Group) {
	was, is := o.ServedVersions(), n.ServedVersions()
	if len(was) == 0 || len(is) == 0 || was[0].Name == is[0].Name {
		return
	}
	if slices.ContainsFunc(is, func(v *model.Version) bool { return v.Name == was[0].Name }) {
		d.at(here).add(preferredChanged, fmt.Sprintf("the preferred version was %s, and is %s", was[0].Name,
			is[0].Name))
	}
}

func resourceOf(g *model.Group, kind string) *model.Resource {
	for _, r := range g.Resources {
		if r.Kind == kind {
			return r
		}
	}
	return nil
}

func versions(r *model.Resource) []string {
	var out []string
	for _, v := range r.Served() {
		out = append(out, v.Version.Name)
	}
	return out
}

// resource compares a kind: what holds in all versions, and each version.
func (d *diff) resource(here place, o, n *model.Resource) {
	here.kind, here.pos, here.old = o.Kind, n.Served()[0].Type.Pos, o.Served()[0].Type.Pos
	d.at(here).names(o, n)
	d.at(here).provider(o, n)
	d.at(here).storage(o, n)
	for _, was := range o.Served() {
		here := here
		here.version, here.old = was.Version.Name, was.Type.Pos
		is := versionOf(n.Served(), was.Version.Name)
		if is == nil {
			d.at(here).gone(was.Type)
			continue
		}
		here.pos = is.Type.Pos
		d.at(here).version(was.Type, is.Type)
	}
	for _, is := range n.Served() {
		if versionOf(o.Served(), is.Version.Name) == nil {
			here := here
			here.version, here.pos = is.Version.Name, is.Type.Pos
			d.at(here).add(versionAdded, "the kind is new in this version")
		}
	}
}

func versionOf(list []model.ResourceVersion, name string) *model.ResourceVersion {
	for i := range list {
		if list[i].Version.Name == name {
			return &list[i]
		}
	}
	return nil
}

// gone reports a version that is no longer served; a version that was marked deprecated before is a warning.
func (s site) gone(was *model.Type) {
	s.add(versionRemoved, "the version is no longer served")
	if was.Kind != nil && (was.Kind.IsDeprecated || was.Kind.Deprecated != "") {
		f := &s.findings[len(s.findings)-1]
		f.Level, f.Message = Warn, "the version, which was deprecated, is no longer served"
	}
}

// names compares what a resource is called.
func (s site) names(o, n *model.Resource) {
	if o.Plural != n.Plural {
		s.add(resourceRenamed, fmt.Sprintf("the resource was %s, and is %s", o.Plural, n.Plural))
	}
	if o.ClusterScoped != n.ClusterScoped {
		s.add(scopeChanged, fmt.Sprintf("the kind was %s, and is %s", scope(o), scope(n)))
	}
	if o.ListKind != n.ListKind {
		s.add(listKindChanged, fmt.Sprintf("lists were %s, and are %s", o.ListKind, n.ListKind))
	}
	if o.Singular != n.Singular {
		s.add(singularChanged, fmt.Sprintf("the singular was %s, and is %s", o.Singular, n.Singular))
	}
	for _, name := range missing(o.ShortNames, n.ShortNames) {
		s.add(shortNameRemoved, fmt.Sprintf("the short name %s is gone", name))
	}
	for _, name := range missing(o.Categories, n.Categories) {
		s.add(categoryRemoved, fmt.Sprintf("the category %s is gone", name))
	}
	switch {
	case o.Status && !n.Status:
		s.add(subresourceRemoved, "the subresource status is gone")
	case !o.Status && n.Status:
		s.add(subresourceAdded, "status is a subresource now")
	}
	s.subresources(o, n)
}

// subresources compares those beside status. A new one hurts only where it takes a part of the object for itself.
func (s site) subresources(o, n *model.Resource) {
	for _, was := range o.Subresources {
		if subresourceOf(n, was.Name) == nil {
			s.add(subresourceRemoved, fmt.Sprintf("the subresource %s is gone", was.Name))
		}
	}
	for _, is := range n.Subresources {
		if is.Form == model.FieldSubresource && subresourceOf(o, is.Name) == nil {
			s.add(subresourceAdded, fmt.Sprintf("%s is a subresource now", is.Name))
		}
	}
}

func subresourceOf(r *model.Resource, name string) *model.Subresource {
	for _, x := range r.Subresources {
		if x.Name == name {
			return x
		}
	}
	return nil
}

func scope(r *model.Resource) string {
	if r.ClusterScoped {
		return "cluster-scoped"
	}
	return "namespaced"
}

// missing are the names of was that are not in is.
func missing(was, is []string) []string {
	var out []string
	for _, name := range was {
		if !slices.Contains(is, name) {
			out = append(out, name)
		}
	}
	return out
}

// provider compares whether objects are stored, and the verbs of kinds of which nothing is.
func (s site) provider(o, n *model.Resource) {
	switch {
	case !o.Virtual() && n.Virtual():
		s.add(storageRemoved, "objects were stored, and come from a provider with the verbs "+strings.Join(n.Verbs,
			", "))
		return
	case o.Virtual() && !n.Virtual():
		s.add(storageAdded, "objects came from a provider, and are stored")
		return
	}
	for _, verb := range missing(o.Verbs, n.Verbs) {
		s.add(verbRemoved, fmt.Sprintf("the verb %s is gone", verb))
	}
	for _, verb := range missing(n.Verbs, o.Verbs) {
		s.add(verbAdded, fmt.Sprintf("the verb %s is new", verb))
	}
}

// storage compares where objects are stored, and in which version.
func (s site) storage(o, n *model.Resource) {
	if o.Virtual() || n.Virtual() {
		return
	}
	if o.StoragePrefix != n.StoragePrefix {
		s.add(prefixChanged, fmt.Sprintf("objects were stored below %s, and are stored below %s", prefix(o), prefix(n)))
	}
	if o.Storage == nil || n.Storage == nil || o.Storage.Name == n.Storage.Name {
		return
	}
	if versionOf(n.Versions, o.Storage.Name) == nil {
		s.add(storedVersionDropped, fmt.Sprintf("objects were stored as %s, which doesn't exist any more",
			o.Storage.Name))
		return
	}
	s.add(storageChanged, fmt.Sprintf("objects were stored as %s, and are stored as %s", o.Storage.Name,
		n.Storage.Name))
}

// prefix is where a resource's keys are.
func prefix(r *model.Resource) string {
	return cmp.Or(r.StoragePrefix, "the group's name and "+r.Plural)
}

// version compares a kind in one version.
func (s site) version(was, is *model.Type) {
	o, n := kindOf(was), kindOf(is)
	if n.IsDeprecated && !o.IsDeprecated || n.Deprecated != "" && o.Deprecated == "" && !o.IsDeprecated {
		s.add(versionDeprecated, "the version is deprecated")
	}
	if o.CreateOnUpdate && !n.CreateOnUpdate {
		s.add(createOnUpdateGone, "an update of an object that doesn't exist created it, and doesn't any more")
	}
	if n.RequireResourceVersion && !o.RequireResourceVersion {
		s.add(versionRequired, "an update needs metadata.resourceVersion")
	}
	if n.ReturnDeletedObject != o.ReturnDeletedObject {
		answers := map[bool]string{false: "a Status", true: "the object"}
		s.add(deletionChanged, fmt.Sprintf("a deletion answered with %s, and answers with %s",
			answers[o.ReturnDeletedObject], answers[n.ReturnDeletedObject]))
	}
	s.selectable(o, n)
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

func (s site) selectable(o, n *model.Kind) {
	for _, f := range o.Selectable {
		if !slices.ContainsFunc(n.Selectable, func(x model.SelectableField) bool { return x.JSONPath == f.JSONPath }) {
			s.add(selectableRemoved, fmt.Sprintf("field selectors may no longer name %s",
				strings.TrimPrefix(f.JSONPath, ".")))
		}
	}
}

func (s site) columns(o, n *model.Kind) {
	for _, was := range o.Columns {
		i := slices.IndexFunc(n.Columns, func(c model.Column) bool { return c.Name == was.Name })
		if i < 0 {
			s.add(columnRemoved, fmt.Sprintf("the column %s is gone", was.Name))
			continue
		}
		is := n.Columns[i]
		if was.Type != is.Type || was.JSONPath != is.JSONPath || was.Method != is.Method {
			s.add(columnChanged, fmt.Sprintf("the column %s showed %s (%s), and shows %s (%s)", was.Name,
				was.JSONPath+was.Method, was.Type, is.JSONPath+is.Method, is.Type))
		}
	}
}
