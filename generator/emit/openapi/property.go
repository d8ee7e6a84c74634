package openapi

import (
	"encoding/json"
	"sort"
	"strings"

	"apigen.dev/generator/model"
)

// property is the schema of a field.
func (b *builder) property(f *model.Field) object {
	base := b.value(b.known(f.Type))
	extra := object{}
	if d := description(f.Doc); d != "" {
		extra["description"] = d
	}
	b.enum(extra, f.Type)
	b.constrain(extra, f.Schema)
	patch(extra, f)
	b.byDefault(extra, f)
	whole := overlay(replaceBase(base, f.Schema), extra)
	b.elements(whole, f.Schema.Items)
	return whole
}

// replaceBase is the schema that markers put in the place of what the Go type says.
func replaceBase(base object, s model.Schema) object {
	switch {
	case s.Schemaless:
		return object{}
	case s.IntOrString:
		return object{"anyOf": []any{object{"type": "integer"}, object{"type": "string"}}}
	case s.Type != "":
		return object{"type": s.Type}
	}
	return base
}

// overlay puts keywords beside a schema; a reference can't have any, and becomes the one part of an allOf.
func overlay(base, extra object) object {
	if len(extra) == 0 {
		return base
	}
	if base["$ref"] != nil {
		base = object{"allOf": []any{base}}
	}
	for k, v := range extra {
		base[k] = v
	}
	return base
}

// value is the schema of a type where it is used: a reference for structs, else in place.
func (b *builder) value(t *model.Type) object {
	t = b.known(t)
	if s := inlineKnown(t); s != nil {
		return s
	}
	if t.Form == model.Pointer && t.Package == nil {
		return b.value(t.Elem)
	}
	if t.Package != nil && (wellKnown(t) != nil || (t.Form == model.Struct && t.SchemaType == "")) {
		return b.ref(t)
	}
	if t.Package == nil {
		return b.shape(t)
	}
	if b.under[t] { // it contains itself
		return b.ref(t)
	}
	b.under[t] = true
	s := b.shape(t)
	delete(b.under, t)
	b.layers(s, t)
	return s
}

// shape is the schema of a type's form, whatever its name.
func (b *builder) shape(t *model.Type) object {
	if t.SchemaType != "" {
		s := object{"type": t.SchemaType}
		if t.SchemaFormat != "" {
			s["format"] = t.SchemaFormat
		}
		return s
	}
	if t.Package != nil && t.Schema.Type != "" {
		return object{"type": t.Schema.Type}
	}
	if t.Package != nil && t.OpaqueJSON() {
		return object{"x-kubernetes-preserve-unknown-fields": true}
	}
	switch t.Form {
	case model.Basic:
		return basic(t.Basic)
	case model.Pointer:
		return b.value(t.Elem)
	case model.Slice, model.Array:
		if isBytes(t) {
			return object{"type": "string", "format": "byte"}
		}
		return object{"type": "array", "items": b.element(t.Elem)}
	case model.Map:
		return object{"type": "object", "additionalProperties": b.element(t.Elem)}
	case model.Struct:
		return b.structure(t)
	case model.Interface:
		return object{"x-kubernetes-preserve-unknown-fields": true}
	}
	return object{}
}

// element is the schema of a list's or a map's elements.
func (b *builder) element(t *model.Type) object {
	s := b.value(t)
	extra := object{}
	b.enum(extra, t)
	return overlay(s, extra)
}

// byDefault adds the default: the marker's on the field or its type, or the zero value that the field can't be without.
func (b *builder) byDefault(s object, f *model.Field) {
	d := f.Default
	if d == nil {
		d = f.Type.Pointee().Default
	}
	if d == nil {
		if z := zero(b.known(f.Type), f.OmitEmpty); z != nil {
			s["default"] = z
		}
		return
	}
	text := d.JSON
	if d.Ref != nil && text == "" {
		b.errs.Add(d.Pos, "default %s.%s is no constant that can be read: name an exported constant, or write the value as JSON", d.Ref.Path, d.Ref.Name)
		return
	}
	var v any
	if err := decode(text, &v); err != nil {
		b.errs.Add(d.Pos, "default %s is not JSON: %v", text, err)
		return
	}
	s["default"] = v
}

// decode reads JSON and keeps numbers as they are written.
func decode(text string, into *any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

// enum adds the constants of an enumeration, and lists them with their comments in the description.
func (b *builder) enum(s object, t *model.Type) {
	t = t.Pointee()
	if !t.Enum || t.Package == nil || len(t.Schema.Enum) > 0 {
		return
	}
	var consts []*model.Const
	for _, c := range t.Package.Consts {
		if c.Type == t && !c.Excluded {
			consts = append(consts, c)
		}
	}
	if len(consts) == 0 {
		return
	}
	sort.SliceStable(consts, func(i, j int) bool { return consts[i].Value < consts[j].Value })
	var values []any
	lines := []string{"Possible enum values:"}
	for i, c := range consts {
		if i > 0 && c.Value == consts[i-1].Value {
			continue
		}
		values = append(values, json.RawMessage(c.Value))
		line := " - `" + c.Value + "`"
		if d := description(c.Doc); d != "" {
			line += " " + strings.ReplaceAll(d, "\n", " ")
		}
		lines = append(lines, line)
	}
	s["enum"] = values
	text, _ := s["description"].(string)
	s["description"] = strings.TrimSpace(text + "\n\n" + strings.Join(lines, "\n"))
}

// patch adds the extensions of strategic merge patch.
func patch(s object, f *model.Field) {
	text(s, "x-kubernetes-patch-strategy", f.Schema.PatchStrategy)
	text(s, "x-kubernetes-patch-merge-key", f.Schema.PatchMergeKey)
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
