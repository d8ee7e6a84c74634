package crd

import (
	"reflect"
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
)

type builder struct {
	embeddedMetadata bool
	types            *schema.Resolver

	done map[*schema.Type]object
}

func newBuilder(embeddedMetadata bool) *builder {
	return &builder{embeddedMetadata: embeddedMetadata, types: schema.New(schema.CRD), done: map[*schema.Type]object{}}
}

// place is a schema where a type is used: the markers there, and the named type whose schema is merged into it.
type place struct {
	named *schema.Type // nil for types without a name
	here  object
	// inlined are the schemas of the structs that the value inlines.
	inlined []object
	// items constrain the elements, which are of that type, where the named type is the list or map.
	items *model.Schema
	elem  *schema.Type
}

// flat returns the schema of a place with everything in place. The result is the caller's.
func (b *builder) flat(p place) object {
	if p.named == nil && p.inlined == nil {
		return p.here
	}
	named, out := object{}, object{}
	if p.named != nil {
		named = b.named(p.named)
	}
	merge(out, named)
	for _, inner := range p.inlined {
		merge(out, inner)
	}
	elements(out, p.items, p.elem)
	merge(out, p.here)
	if out[intOrString] != nil {
		delete(out, "type")
	}
	for key := range documentation {
		if v := p.here[key]; v != nil {
			out[key] = v
		} else if v := named[key]; v != nil {
			out[key] = v
		}
	}
	return out
}

func (b *builder) use(t *schema.Type) place {
	if t.Named() {
		return place{named: t, here: object{}}
	}
	return b.form(t)
}

// named returns the schema of a named type. Callers must not change it.
func (b *builder) named(t *schema.Type) object {
	if s := b.done[t]; s != nil {
		return s
	}
	b.done[t] = b.declared(t) // which doesn't come back here: judges refuse types that contain themselves
	return b.done[t]
}

// declared returns the schema of a type by its declaration: by the methods that write its JSON, by the type that it is
// declared over, or by its form.
func (b *builder) declared(t *schema.Type) object {
	if !t.Structural {
		s := b.special(t)
		if t.Known == "" {
			constrain(s, &t.Go.Schema, t.Go)
		}
		return s
	}
	p := place{here: object{}}
	if t.Go.Of != nil {
		p.named = b.types.Type(t.Go.Of)
	} else {
		p = b.form(t)
	}
	text(p.here, "description", description(t.Go.Doc))
	constrainPlace(&p, &t.Go.Schema, t)
	return b.flat(p)
}

// form returns the place of a type's JSON form, whatever its name.
func (b *builder) form(t *schema.Type) place {
	switch {
	case t.Structural && t.JSON == schema.Object:
		return b.structure(t)
	case t.JSON == schema.Pointer:
		return b.use(t.Elem)
	}
	return place{here: b.simple(t)}
}

func (b *builder) simple(t *schema.Type) object {
	switch {
	case t.JSON == schema.Any:
		return object{preserve: true}
	case t.JSON == schema.IntOrString:
		return object{"anyOf": []any{object{"type": "integer"}, object{"type": "string"}}, intOrString: true}
	case t.Structural && t.JSON == schema.List:
		return object{"type": "array", "items": b.flat(b.use(t.Elem))}
	case t.Structural && t.JSON == schema.Map:
		return object{"type": "object", "additionalProperties": b.flat(b.use(t.Elem))}
	}
	s := object{"type": string(t.JSON)}
	text(s, "format", t.Format)
	return s
}

// structure returns the place of a struct: its fields, and separately the fields of the structs that it inlines.
func (b *builder) structure(t *schema.Type) place {
	s, properties := object{"type": "object"}, object{}
	p := place{here: s}
	var required []string
	var rules []any
	for _, f := range t.Fields {
		if f.Go.Inline || standsFor(t.Go, f.Go) {
			p.inlined = append(p.inlined, b.field(f))
			continue
		}
		name := f.Go.JSON
		properties[name] = b.field(f)
		if f.Required {
			required = append(required, name)
		} else if f.Go.Schema.Immutable {
			rules = append(rules, object{
				"rule":    "!has(oldSelf." + name + ") || has(self." + name + ")",
				"message": "field " + name + " is immutable once set",
			})
		}
	}
	if len(properties) > 0 {
		s["properties"] = properties
	}
	slices.Sort(required)
	list(s, "required", required)
	list(s, "x-kubernetes-validations", rules)
	return p
}

// standsFor reports whether a struct that writes its own JSON writes the field in its place: its tag says inline,
// though the field has a name.
func standsFor(t *model.Type, f *model.Field) bool {
	name, options, _ := strings.Cut(reflect.StructTag(f.Tag).Get("json"), ",")
	return t.Methods["MarshalJSON"] != nil && name == "" && slices.Contains(strings.Split(options, ","), "inline")
}

func (b *builder) field(f *schema.Field) object {
	p := place{here: object{}}
	if !f.Go.Schema.Schemaless {
		p = b.use(f.Type)
	}
	text(p.here, "description", description(f.Go.Doc))
	constrainPlace(&p, &f.Go.Schema, f.Type)
	setDefault(p.here, f)
	return b.flat(p)
}

// quantity is the pattern of a resource.Quantity in a string.
const quantity = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))` +
	`(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`

const (
	preserve    = "x-kubernetes-preserve-unknown-fields"
	intOrString = "x-kubernetes-int-or-string"
)

// special returns the schema of a type whose form doesn't follow from its Go form.
func (b *builder) special(t *schema.Type) object {
	s := b.simple(t)
	switch t.Known {
	case schema.ObjectMeta:
		return b.metadata()
	case schema.Fields:
		s["additionalProperties"] = object{}
	case schema.Quantity:
		s["pattern"] = quantity
	case schema.RawExtension, schema.Unstructured:
		s[preserve] = true
	}
	return s
}

// metadata returns the schema of the metadata of an embedded object. A cluster prunes all fields that it doesn't
// describe.
func (b *builder) metadata() object {
	if !b.embeddedMetadata {
		return object{"type": "object"}
	}
	text := func() object { return object{"type": "string"} }
	texts := func() object { return object{"type": "object", "additionalProperties": text()} }
	return object{"type": "object", "properties": object{
		"name": text(), "namespace": text(), "labels": texts(), "annotations": texts(),
		"finalizers": object{"type": "array", "items": text()},
	}}
}
