package crd

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/schema"
)

// warnings are of definitions that kube-apiserver refuses, though types and markers are fine for a server of the user's
// own, each at the marker or type that it refuses.
func warnings(p *plan.Plan) []diag.Error {
	var out diag.Errors
	for _, pkg := range p.Written() {
		if pkg.CRDs == nil {
			continue
		}
		types := schema.New(schema.CRD)
		changes := transitions{&out, map[visited]bool{}}
		var kinds []*schema.Type
		for _, r := range resourcesBelow(p.Program, pkg) {
			undotted(r, &out)
			unapproved(r, &out)
			for _, v := range r.versions {
				selectables(v.Type.Kind, &out)
				scalePaths(v.Type.Kind, &out)
				kind := types.Type(v.Type)
				kinds = append(kinds, kind)
				changes.value(kind, &model.Schema{}, r.Kind, false)
			}
		}
		for _, t := range reached(kinds...) {
			membersUnseen(t, &t.Go.Schema, &out)
			for _, f := range t.Fields {
				membersUnseen(f.Type, &f.Go.Schema, &out)
				keysOf(f, &out)
				schemaless(f.Go, &out)
				setOfObjects(f, &out)
			}
		}
	}
	return out
}

const refuses = "kube-apiserver refuses the CustomResourceDefinition: "

func undotted(r resource, out *diag.Errors) {
	if !strings.Contains(r.group.Name, ".") {
		out.Add(r.versions[0].Type.Pos, refuses+"group %s of %s isn't a domain with a dot: name another group",
			r.group.Name, r.Kind)
	}
}

// approval is the annotation that definitions of Kubernetes' own groups need.
const approval = "api-approved.kubernetes.io"

func unapproved(r resource, out *diag.Errors) {
	if !regexp.MustCompile(`(^|\.)(k8s|kubernetes)\.io$`).MatchString(r.group.Name) {
		return
	}
	for _, v := range r.versions {
		if slices.ContainsFunc(v.Type.Kind.Manifest.Annotations,
			func(a model.KeyValue) bool { return a.Key == approval }) {
			return
		}
	}
	out.Add(r.versions[0].Type.Pos, refuses+"group %s is Kubernetes' own: mark %s with "+
		"+kubebuilder:metadata:annotations=\"%s=<pull request>\", or name another group", r.group.Name, r.Kind,
		approval)
}

// mostSelectable is how many selectable fields a version may have.
const mostSelectable = 8

func selectables(k *model.Kind, out *diag.Errors) {
	for i, f := range k.Selectable {
		if i == mostSelectable {
			out.Add(f.Pos, refuses+"a version has %d selectable fields at most", mostSelectable)
		}
		if message := unselectable(f); message != "" {
			out.Add(f.Pos, refuses+"%s can't be selected by: %s", f.JSONPath, message)
		}
	}
}

func unselectable(f model.SelectableField) string {
	var last *model.Type
	for i, s := range f.Steps {
		switch {
		case i == 0 && s.Field != nil && s.Field.JSON == "metadata":
			return "it is in the metadata"
		case s.Field != nil:
			last = s.Field.Type.Pointee()
		case last != nil:
			last = last.Elem.Pointee()
		}
	}
	if last != nil && last.Form == model.Basic && strings.HasPrefix(last.Basic, "float") {
		return "it is a number with fractions"
	}
	return ""
}

func scalePaths(k *model.Kind, out *diag.Errors) {
	s := k.Scale
	if s == nil {
		return
	}
	for _, p := range []struct{ name, path, below, or string }{
		{"specpath", s.SpecPath, ".spec", ".spec"}, {"statuspath", s.StatusPath, ".status", ".status"},
		{"selectorpath", s.SelectorPath, ".spec", ".status"},
	} {
		if p.path == "" || strings.HasPrefix(p.path, p.below+".") || strings.HasPrefix(p.path, p.or+".") {
			continue
		}
		if p.or != p.below {
			p.below += " or " + p.or
		}
		out.Add(s.Pos, refuses+"the %s of its scale is %s, and is not below %s.", p.name, p.path, p.below)
	}
}

// schemaless warns of a field without a schema that no marker describes instead.
func schemaless(f *model.Field, out *diag.Errors) {
	s := &f.Schema
	if s.Schemaless && s.Type == "" && !s.PreserveUnknownFields && !s.IntOrString {
		out.Add(f.Pos, refuses+"nothing is said of %s, which is schemaless: add "+
			"+kubebuilder:pruning:PreserveUnknownFields, "+
			"or +%s=<type>", f.Name, "kubebuilder:validation:Type")
	}
}

// membersUnseen warns of markers such as ExactlyOneOf, for which a definition has rules in CEL, that name members
// without a type: CEL doesn't see them.
func membersUnseen(t *schema.Type, s *model.Schema, out *diag.Errors) {
	for _, r := range s.Rules {
		if r.Check != model.OneOf {
			continue
		}
		for _, name := range r.Values {
			if member := t.Property(name); member != nil && untyped(member.Type, &member.Go.Schema) {
				out.Add(r.Pos, refuses+"+%s names %s, and the schema has no type for it: give %s another Go type",
					r.Marker, name, member.Go.Name)
			}
		}
	}
}

// untyped reports whether the schema of a value, at which there are markers, has no type, or one of what has none.
func untyped(t *schema.Type, at *model.Schema) bool {
	switch {
	case at.Type != "" || at.IntOrString:
		return false
	case at.Schemaless || t.JSON == schema.Any:
		return true
	case t.JSON != schema.List && t.JSON != schema.Map || t.Elem == nil:
		return false
	}
	items := at.Items
	if items == nil {
		items = &model.Schema{}
	}
	return untyped(t.Elem, items)
}

// setOfObjects warns of a set whose elements are merged themselves.
func setOfObjects(f *schema.Field, out *diag.Errors) {
	set := &f.Go.Schema
	if f.Type.Elem == nil || set.ListType != "set" && f.Type.Go.Schema.ListType != "set" {
		return
	}
	pos := f.Go.Pos
	if unique := set.Rule(model.Unique); unique != nil {
		pos = unique.Pos
	}
	e := f.Type.Elem.Go
	switch {
	case e.Methods["MarshalJSON"] != nil || e.Methods["MarshalText"] != nil:
	case e.Form == model.Struct && e.Schema.StructType != "atomic" && e.Schema.MapType != "atomic",
		e.Form == model.Map && e.Schema.MapType != "atomic":
		out.Add(pos, refuses+"the elements of the set %s are objects, and not atomic: %s", f.Go.Name, atomicMark(e))
	}
}

func atomicMark(t *model.Type) string {
	if t.Name == "" {
		return "give them a type that is marked +mapType=atomic"
	}
	return fmt.Sprintf("mark %s with +structType=atomic", t.Name)
}

// keysOf warns of optional keys of a list: kube-apiserver refuses a list whose elements may lack a key. A server of the
// user's own accepts it, and k8s.io/api has such lists.
func keysOf(list *schema.Field, out *diag.Errors) {
	markers := &list.Go.Schema
	if markers.ListType != "map" || list.Type.Elem == nil {
		return
	}
	for _, name := range markers.ListMapKeys {
		if key := list.Type.Elem.Property(name); key != nil && !key.Required && key.Default == nil {
			out.Add(markers.ListMapKeysPos, refuses+"the key %q of the elements of %s is optional and has no default: "+
				"mark %s with +required, or give it a +default", name, list.Go.Name, key.Go.Name)
		}
	}
}

// transitions warns of immutable values in lists without keys: kube-apiserver refuses rules about a change where it
// can't tell which element was which.
type transitions struct {
	out  *diag.Errors
	seen map[visited]bool
}

// visited is a type within such a list, or outside of one.
type visited struct {
	t     *schema.Type
	loose bool
}

// value visits a value of a type and its markers. Loose is a value within a list without keys.
func (w *transitions) value(t *schema.Type, s *model.Schema, name string, loose bool) {
	w.immutable(s, name, loose)
	if t.Go.Name != "" {
		w.immutable(&t.Go.Schema, name, loose)
		if w.seen[visited{t, loose}] || !editable(t.Go) {
			return
		}
		w.seen[visited{t, loose}] = true
	}
	for _, f := range t.Fields {
		w.value(f.Type, &f.Go.Schema, f.Go.Name, loose)
	}
	if t.Elem == nil {
		return
	}
	items := s.Items
	if items == nil {
		items = &model.Schema{}
	}
	list := t.Go.Form == model.Slice || t.Go.Form == model.Array
	unkeyed := list && s.ListType != "map" && t.Go.Schema.ListType != "map"
	w.value(t.Elem, items, "an element of "+name, loose || unkeyed)
}

func (w *transitions) immutable(s *model.Schema, name string, loose bool) {
	i := slices.IndexFunc(s.Rules, func(r model.Rule) bool { return r.Check == model.Immutable })
	if loose && s.Immutable && i >= 0 {
		w.out.Add(s.Rules[i].Pos, refuses+"%s is immutable, and in a list whose elements can't be followed: "+
			"make it a +listType=map, or remove +%s", name, s.Rules[i].Marker)
	}
}

// reached returns the types that kinds lead to, once each, in the packages that the user can edit.
func reached(kinds ...*schema.Type) []*schema.Type {
	var out []*schema.Type
	seen := map[*model.Type]bool{}
	var visit func(*schema.Type)
	visit = func(t *schema.Type) {
		for t.Elem != nil && !t.Named() {
			t = t.Elem
		}
		if seen[t.Go] || !editable(t.Go) {
			return
		}
		seen[t.Go] = true
		out = append(out, t)
		for _, f := range t.Fields {
			visit(f.Type)
		}
		if t.Elem != nil {
			visit(t.Elem)
		}
	}
	for _, t := range kinds {
		visit(t)
	}
	return out
}

// editable reports whether a type has no package, or one in a module of the user's own.
func editable(t *model.Type) bool {
	return t.Package == nil || t.Package.Own()
}
