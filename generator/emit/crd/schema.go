package crd

import (
	"reflect"
	"slices"
	"strings"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/model"
)

// builder makes the schemas of the documents of one package.
type builder struct {
	program          *model.Program
	embeddedMetadata bool
	errs             *emit.Errors

	done map[*model.Type]object
	// under holds the named types that are not finished, so that one which contains itself is found.
	under map[*model.Type]bool
}

func newBuilder(p *model.Program, embeddedMetadata bool, errs *emit.Errors) *builder {
	return &builder{program: p, embeddedMetadata: embeddedMetadata, errs: errs, done: map[*model.Type]object{}, under: map[*model.Type]bool{}}
}

// place is a schema where a type is used: what is said at the place, and the named type behind it, if there is one, which has
// its own say.
type place struct {
	of   *model.Type
	said object
	// inlined are the structs whose fields the value has, too.
	inlined []object
	// items is what is said of the elements, which are of that type, where the named type is the list or map.
	items *model.Schema
	elem  *model.Type
}

// flat is the schema of a place with everything in place. The result is the caller's.
func (b *builder) flat(p place, at *model.Field) object {
	if p.of == nil && p.inlined == nil {
		return p.said
	}
	of, out := object{}, object{}
	if p.of != nil {
		if b.under[p.of] {
			b.endless(p.of, at)
			return p.said
		}
		of = b.named(p.of)
	}
	merge(out, of)
	for _, inner := range p.inlined {
		merge(out, inner)
	}
	b.elements(out, p.items, p.elem)
	merge(out, p.said)
	if out[either] != nil {
		delete(out, "type")
	}
	for key := range documentation {
		if v := p.said[key]; v != nil {
			out[key] = v
		} else if v := of[key]; v != nil {
			out[key] = v
		}
	}
	return out
}

// endless reports a type that contains itself.
func (b *builder) endless(t *model.Type, at *model.Field) {
	pos := t.Pos
	if at != nil {
		pos = at.Pos
	}
	b.errs.Add(pos, "%s contains itself here, which a CustomResourceDefinition can't express: mark the field +kubebuilder:validation:Schemaless and +kubebuilder:pruning:PreserveUnknownFields", t.Name)
}

// use is the place where a type is used.
func (b *builder) use(t *model.Type, at *model.Field) place {
	for t.Name == "" && t.Form == model.Pointer && t.Elem != nil {
		t = t.Elem
	}
	if t.Package != nil && t.Name != "" {
		return place{of: t, said: object{}}
	}
	return b.form(t, at)
}

// named is the schema of a named type. It must not be changed.
func (b *builder) named(t *model.Type) object {
	if s := b.done[t]; s != nil {
		return s
	}
	b.under[t] = true
	s := b.known(t)
	if s == nil {
		s = b.declared(t)
	}
	delete(b.under, t)
	b.done[t] = s
	return s
}

// declared is the schema of a type by its declaration: by what its markers say where it has a JSON form of its own, by what it
// is declared over, or by its form.
func (b *builder) declared(t *model.Type) object {
	switch {
	case marshals(t, "MarshalJSON", nil):
		if t.Schema.Type != "" {
			s := object{}
			b.constrain(s, &t.Schema, t)
			return s
		}
	case marshals(t, "MarshalText", nil):
		s := object{"type": "string"}
		b.constrain(s, &t.Schema, t)
		return s
	}
	p := place{of: t.Of, said: object{}}
	if p.of == nil {
		p = b.form(t, nil)
	}
	text(p.said, "description", description(t.Doc))
	b.constrainPlace(&p, &t.Schema, t)
	return b.flat(p, nil)
}

// marshals tells whether a type has a method, its own or one of what it embeds.
func marshals(t *model.Type, method string, seen []*model.Type) bool {
	if t.Methods[method] != nil {
		return true
	}
	if t.Form != model.Struct || slices.Contains(seen, t) {
		return false
	}
	return slices.ContainsFunc(t.Fields, func(f *model.Field) bool {
		return f.Embedded && marshals(f.Type.Pointee(), method, append(seen, t))
	})
}

// form is what a type's form says, whatever its name.
func (b *builder) form(t *model.Type, at *model.Field) place {
	switch t.Form {
	case model.Struct:
		return b.structure(t)
	case model.Pointer:
		return b.use(t.Elem, at)
	}
	return place{said: b.simple(t, at)}
}

func (b *builder) simple(t *model.Type, at *model.Field) object {
	switch t.Form {
	case model.Basic:
		return basic(t.Basic)
	case model.Slice, model.Array:
		if t.Form == model.Slice && t.Elem.Package == nil && t.Elem.Form == model.Basic && (t.Elem.Basic == "byte" || t.Elem.Basic == "uint8") {
			return object{"type": "string", "format": "byte"}
		}
		return object{"type": "array", "items": b.flat(b.use(t.Elem, at), at)}
	case model.Map:
		return object{"type": "object", "additionalProperties": b.flat(b.use(t.Elem, at), at)}
	}
	return object{preserve: true}
}

// structure is what a struct says: its fields, and apart those of what it inlines.
func (b *builder) structure(t *model.Type) place {
	s, properties := object{"type": "object"}, object{}
	p := place{said: s}
	var required []string
	var rules []any
	for _, f := range t.Fields {
		if f.Ignored {
			continue
		}
		if f.Inline || standsFor(t, f) {
			p.inlined = append(p.inlined, b.field(f))
			continue
		}
		properties[f.JSON] = b.field(f)
		must := demanded(f)
		if must {
			required = append(required, f.JSON)
		}
		if f.Schema.Immutable && !must {
			rules = append(rules, object{
				"rule":    "!has(oldSelf." + f.JSON + ") || has(self." + f.JSON + ")",
				"message": "field " + f.JSON + " is immutable once set",
			})
		}
	}
	if len(properties) > 0 {
		s["properties"] = properties
	}
	if len(required) > 0 {
		slices.Sort(required)
		s["required"] = required
	}
	if len(rules) > 0 {
		s["x-kubernetes-validations"] = rules
	}
	return p
}

// standsFor tells whether a field is what a struct that writes its own JSON writes in its place: one that its tag calls inline, though
// it has a name.
func standsFor(t *model.Type, f *model.Field) bool {
	name, options, _ := strings.Cut(reflect.StructTag(f.Tag).Get("json"), ",")
	return t.Methods["MarshalJSON"] != nil && name == "" && slices.Contains(strings.Split(options, ","), "inline")
}

// demanded tells whether a field must be there. controller-gen's own markers count first, then Kubernetes', then what the tag
// says.
func demanded(f *model.Field) bool {
	if said(f, "kubebuilder:validation:Required") {
		return true
	}
	switch {
	case f.Schema.Optional:
		return false
	case said(f, "required"), said(f, "k8s:required"):
		return true
	}
	return !f.OmitEmpty
}

// said tells whether a field is marked required by that marker itself.
func said(f *model.Field, marker string) bool {
	return slices.ContainsFunc(f.Schema.Rules, func(r model.Rule) bool { return r.Check == model.Required && r.Marker == marker })
}

// field is the schema of a field.
func (b *builder) field(f *model.Field) object {
	p := place{said: object{}}
	if !f.Schema.Schemaless {
		p = b.use(f.Type, f)
	}
	text(p.said, "description", description(f.Doc))
	b.constrainPlace(&p, &f.Schema, f.Type)
	b.byDefault(p.said, f)
	return b.flat(p, f)
}
