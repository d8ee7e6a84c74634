package crd

import (
	"errors"
	"reflect"
	"strings"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/emit/wiring"
	"apigen.dev/generator/model"
)

// Remarks are what the definitions of all marked packages leave out, since a CustomResourceDefinition has no word for it: a
// cluster that is given the definition doesn't do it. They are sorted by position.
func Remarks(p *model.Program) []emit.Error {
	var out emit.Errors
	for _, pkg := range p.Packages {
		if pkg.CRDs == nil || !pkg.Output {
			continue
		}
		b := newBuilder(p, pkg.EmbeddedMetadata, new(emit.Errors))
		w := &walk{out: &out, seen: map[*model.Type]bool{}}
		for _, r := range kindsBelow(p, pkg) {
			switch {
			case r.Virtual():
				out.Add(r.Hub.Pos, "a CustomResourceDefinition can't express %s, of which nothing is stored: there is none", r.Kind)
				continue
			case r.group.Name == "":
				out.Add(r.Hub.Pos, "a CustomResourceDefinition can't express %s, which is of the core group: there is none", r.Kind)
				continue
			}
			hooks(&out, r)
			subresources(&out, r)
			kinds(&out, r)
			b.conversions(&out, r)
			for _, v := range r.versions {
				w.defaults(v)
				w.named(v.Type)
			}
		}
	}
	var sorted emit.Errors
	errors.As(out.Err(), &sorted)
	return sorted
}

// hooks remarks on the methods that a server calls on writes.
func hooks(out *emit.Errors, r resource) {
	for _, m := range wiring.Hooks(r.Resource) {
		out.Add(m.Pos, "a CustomResourceDefinition can't express %s.%s: what the method does on writes, a cluster needs a webhook for", r.Kind, m.Name)
	}
}

// subresources remarks on those that are no status and no scale.
func subresources(out *emit.Errors, r resource) {
	for _, s := range r.Subresources {
		if s.Form != model.ScaleSubresource {
			out.Add(s.Pos, "a CustomResourceDefinition can't express the subresource %s of %s", s.Name, r.Kind)
		}
	}
}

// kinds remarks on what markers say of a kind.
func kinds(out *emit.Errors, r resource) {
	for _, v := range r.versions {
		k := v.Type.Kind
		if k.HasStatus && !k.Manifest.Status {
			out.Add(v.Type.Pos, "the server has a status subresource of %s, for there is a field Status; the CustomResourceDefinition has none in %s without +kubebuilder:subresource:status", r.Kind, v.Version.Name)
		}
		for _, c := range k.Columns {
			if c.Method != "" {
				out.Add(c.Pos, "a CustomResourceDefinition can't express the column %s, which the method %s makes: it is left out", c.Name, c.Method)
			}
		}
		for _, m := range []struct {
			said bool
			name string
		}{{k.CreateOnUpdate, "createOnUpdate"}, {k.RequireResourceVersion, "requireResourceVersion"}, {k.ReturnDeletedObject, "returnDeletedObject"}} {
			if m.said {
				out.Add(v.Type.Pos, "a CustomResourceDefinition can't express +apigen:%s of %s", m.name, r.Kind)
			}
		}
		if k.Generation != nil && !*k.Generation {
			out.Add(v.Type.Pos, "a CustomResourceDefinition can't express +apigen:generation=false of %s: custom resources always have one", r.Kind)
		}
	}
}

// conversions remarks on versions whose objects look different: a cluster changes nothing but their apiVersion.
func (b *builder) conversions(out *emit.Errors, r resource) {
	var stored object
	for _, v := range r.versions {
		if v.Version == r.storage {
			stored = shapeOf(b.root(v.Type))
		}
	}
	for _, v := range r.versions {
		if stored != nil && v.Version != r.storage && !reflect.DeepEqual(shapeOf(b.root(v.Type)), stored) {
			out.Add(v.Type.Pos, "a CustomResourceDefinition can't express the conversion of %s between %s and %s, whose schemas differ: a cluster needs a webhook for it", r.Kind, v.Version.Name, r.storage.Name)
		}
	}
}

// shapeOf is a schema without what it says for people.
func shapeOf(s object) object {
	for key, value := range s {
		switch {
		case key == "properties":
			for _, property := range value.(object) {
				shapeOf(property.(object))
			}
		case documentation[key]:
			delete(s, key)
		default:
			if inner, ok := value.(object); ok && key != "default" {
				shapeOf(inner)
			}
		}
	}
	return s
}

// walk visits the types of kinds, as far as their markers are the user's.
type walk struct {
	out  *emit.Errors
	seen map[*model.Type]bool
}

// defaults remarks on hand-written defaulting functions beside a kind.
func (w *walk) defaults(v model.ResourceVersion) {
	for _, f := range v.Version.Package.Funcs {
		if strings.HasPrefix(f.Name, "SetDefaults_") {
			w.out.Add(f.Pos, "a CustomResourceDefinition can't express %s: defaults that code sets are left out", f.Name)
		}
	}
}

func (w *walk) named(t *model.Type) {
	t = t.Pointee()
	for t.Elem != nil && t.Name == "" {
		t = t.Elem.Pointee()
	}
	if w.seen[t] || t.Package != nil && (t.Package.Module == nil || !t.Package.Module.Own) {
		return
	}
	w.seen[t] = true
	w.schema(&t.Schema)
	for _, f := range t.Fields {
		if !f.Ignored {
			w.schema(&f.Schema)
			w.named(f.Type)
		}
	}
	if t.Elem != nil {
		w.named(t.Elem)
	}
}

// schema remarks on constraints that a schema has no word for.
func (w *walk) schema(s *model.Schema) {
	if s == nil {
		return
	}
	for _, r := range s.Rules {
		switch {
		case r.Check == model.MaxBytes:
			w.out.Add(r.Pos, "a CustomResourceDefinition can't express +%s: it counts characters", r.Marker)
		case !expressed(r):
			w.out.Add(r.Pos, "a CustomResourceDefinition can't express +%s: it is left out", r.Marker)
		}
	}
	w.schema(s.Items)
	if s.Keys.Checked() {
		w.schemaPart("k8s:eachKey", s.Keys)
	}
	for _, parts := range []struct {
		marker string
		list   []model.Part
	}{{"k8s:subfield", s.Subfields}, {"k8s:item", s.Elements}, {"k8s:ifMode", s.Modes}} {
		for _, p := range parts.list {
			w.out.Add(p.Pos, "a CustomResourceDefinition can't express +%s: it is left out", parts.marker)
		}
	}
}

// schemaPart remarks on each rule of a part of a value.
func (w *walk) schemaPart(marker string, s *model.Schema) {
	for _, r := range s.Rules {
		w.out.Add(r.Pos, "a CustomResourceDefinition can't express +%s=+%s: it is left out", marker, r.Marker)
	}
}

// expressed tells whether a schema has a word for the rule.
func expressed(r model.Rule) bool {
	switch r.Check {
	case model.Forbidden, model.NotEqual, model.Update, model.Monotonic, model.UnionMember, model.UnionDiscriminator,
		model.ZeroOrOneOfMember, model.ModeDiscriminator, model.DependentRequired, model.DependentForbidden:
		return false
	case model.Unique: // but by the type of the list
		return strings.HasSuffix(r.Marker, "listType")
	}
	return true
}
