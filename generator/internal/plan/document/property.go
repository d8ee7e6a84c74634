package document

import (
	"maps"
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
)

func (b *builder) property(f *schema.Field) object {
	extra := object{}
	text(extra, "description", description(f.Go.Doc))
	enum(extra, f.Type.Go)
	b.constrain(extra, &f.Go.Schema)
	text(extra, "x-kubernetes-patch-strategy", f.Go.Schema.PatchStrategy)
	text(extra, "x-kubernetes-patch-merge-key", f.Go.Schema.PatchMergeKey)
	b.setDefault(extra, f)
	value := b.value
	if b.inside && schema.KnownAs(f.Go.Type.Pointee()) == schema.ObjectMeta {
		value = b.metadataInside
	}
	whole := overlay(replaceBase(value(f.Type), &f.Go.Schema), extra)
	b.elements(whole, f.Go.Schema.Items)
	if !b.writesZeros && f.Go.Schema.PatchStrategy != "" && f.Type.JSON == schema.List {
		replaceAsWhole(whole)
	}
	return whole
}

// replaceAsWhole says of a list that field ownership replaces it as a whole, unless a marker has said how its elements
// are told apart: a custom resource knows nothing of the tags for strategic merge patches, by which Kubernetes' own
// kinds are merged.
func replaceAsWhole(list object) {
	if list["x-kubernetes-list-type"] == nil {
		list["x-kubernetes-list-type"] = "atomic"
	}
}

// metadataInside returns the schema of the metadata of a part of a custom resource, such as a template. Its lists are
// replaced as a whole, as in a definition of controller-gen's, while those of an object are merged.
func (b *builder) metadataInside(t *schema.Type) object {
	for t.JSON == schema.Pointer {
		t = t.Elem
	}
	s := b.structure(t)
	for _, property := range s["properties"].(object) {
		if property, ok := property.(object); ok && property["type"] == "array" {
			delete(property, "x-kubernetes-list-type")
			delete(property, "x-kubernetes-list-map-keys")
			replaceAsWhole(property)
		}
	}
	return s
}

// replaceBase returns the schema of the form that markers set instead of the Go type's.
func replaceBase(base object, s *model.Schema) object {
	switch form, _ := schema.Override(s); form {
	case "":
		return base
	case schema.Any:
		return object{}
	case schema.IntOrString:
		return object{"anyOf": []any{object{"type": "integer"}, object{"type": "string"}}}
	case schema.List:
		if base["type"] == "array" {
			return base
		}
		return anyList()
	default:
		return object{"type": string(form)}
	}
}

// anyList returns the schema of a list whose type doesn't tell what its elements are. Field ownership refuses a list
// without a schema of its elements.
func anyList() object {
	return object{"type": "array", "items": object{"x-kubernetes-preserve-unknown-fields": true}}
}

// overlay adds keywords to a schema. A reference can't have any, so it becomes the only part of an allOf.
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

// value returns the schema of a type where it is used: a reference to a struct, else the schema in place.
func (b *builder) value(t *schema.Type) object {
	if !t.Named() || inStandardLibrary[t.Known] {
		return b.form(t)
	}
	if descriptions[t.Known] != "" || t.Go.Form == model.Struct && t.Go.SchemaType == "" || b.unfinished[t] {
		return b.ref(t.Go)
	}
	b.unfinished[t] = true
	s := b.form(t)
	delete(b.unfinished, t)
	b.layers(s, t)
	return s
}

// form returns the schema of a type's JSON form, whatever its name.
func (b *builder) form(t *schema.Type) object {
	switch {
	case t.JSON == schema.Any:
		return object{"x-kubernetes-preserve-unknown-fields": true}
	case t.JSON == schema.Decimal:
		return object{"oneOf": []any{object{"type": "string"}, object{"type": "number"}}}
	case t.JSON == schema.IntOrString:
		return object{"format": "int-or-string", "oneOf": []any{object{"type": "integer"}, object{"type": "string"}}}
	case t.Structural && t.JSON == schema.Pointer:
		return b.value(t.Elem)
	case t.Structural && t.JSON == schema.Object:
		return b.structure(t)
	case t.Structural && t.JSON == schema.List:
		return object{"type": "array", "items": b.element(t.Elem)}
	case t.Structural && t.JSON == schema.Map:
		return object{"type": "object", "additionalProperties": b.element(t.Elem)}
	case t.JSON == schema.List:
		return anyList()
	}
	s := object{"type": string(t.JSON)}
	text(s, "format", t.Format)
	return s
}

func (b *builder) element(t *schema.Type) object {
	extra := object{}
	enum(extra, t.Go)
	return overlay(b.value(t), extra)
}

// setDefault adds the default: the marker's on the field or its type, or the zero value that the server always writes.
func (b *builder) setDefault(s object, f *schema.Field) {
	d := f.Default
	if d == nil {
		if zero := zeroOf(f); zero != nil && b.writesZeros {
			s["default"] = zero
		}
		return
	}
	s["default"] = d.Value()
}

// zeroOf returns the default that a document states for a field that clients may omit and the server always writes: its
// zero value. It returns nil if there is none.
func zeroOf(f *schema.Field) any {
	t := f.Go.Type
	if form, _ := schema.Override(&f.Go.Schema); form == schema.List {
		return nil // the Go type has no list as its zero value
	}
	if !f.Type.Structural || t.Methods["UnmarshalJSON"] != nil || t.Methods["MarshalJSON"] != nil {
		return nil
	}
	switch {
	case t.Form == model.Struct:
		return object{}
	case t.Form != model.Basic || f.Go.OmitEmpty:
		return nil
	case f.Type.JSON == schema.String:
		return ""
	case f.Type.JSON == schema.Boolean:
		return false
	}
	return 0
}

// enum adds the constants of an enumeration, and lists them with their comments in the description.
func enum(s object, t *model.Type) {
	t = t.Pointee()
	if !t.Enum || len(t.Schema.Enum) > 0 {
		return
	}
	consts := schema.ConstantsByValue(t)
	if len(consts) == 0 {
		return
	}
	var values []any
	lines := []string{"Possible enum values:"}
	for _, c := range consts {
		values = append(values, schema.Literal(c.Value))
		line := " - `" + c.Value + "`"
		if d := description(c.Doc); d != "" {
			line += " " + strings.ReplaceAll(d, "\n", " ")
		}
		lines = append(lines, line)
	}
	s["enum"] = values
	before, _ := s["description"].(string)
	s["description"] = strings.TrimSpace(before + "\n\n" + strings.Join(lines, "\n"))
}

// layers adds the constraints of all layers of a type: nearer layers override the others.
func (b *builder) layers(s object, t *schema.Type) {
	for _, layer := range slices.Backward(t.Layers) {
		b.constrain(s, layer.Schema)
	}
}

func (b *builder) constrain(s object, c *model.Schema) {
	maps.Copy(s, schema.Keywords(c))
	if c.UniqueItems {
		s["uniqueItems"] = true
	}
	validations(s, c)
	b.elements(s, c.Items)
}

func (b *builder) elements(s object, c *model.Schema) {
	if c == nil {
		return
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if element, ok := s[key].(object); ok {
			extra := object{}
			b.constrain(extra, c)
			s[key] = overlay(replaceBase(element, c), extra)
			b.elements(element, c.Items)
		}
	}
}

func validations(s object, c *model.Schema) {
	rules, _ := s["x-kubernetes-validations"].([]any)
	rules = append(append(rules, counts(c.Rules)...), schema.Validations(c)...)
	if len(rules) > 0 {
		s["x-kubernetes-validations"] = rules
	}
}

func counts(rules []model.Rule) []any {
	var out []any
	for i := range rules {
		r := &rules[i]
		if r.Check != model.OneOf {
			continue
		}
		var has []string
		for _, name := range r.Values {
			has = append(has, "has(self."+name+")")
		}
		bound := "== 1"
		switch {
		case r.Most < 0:
			bound = ">= 1"
		case r.Least == 0:
			bound = "<= 1"
		}
		rule := "[" + strings.Join(has, ",") + "].filter(x,x==true).size() " + bound
		out = append(out, object{"rule": rule, "message": schema.OneOfMessage(r)})
	}
	return out
}

func text(s object, key, value string) {
	if value != "" {
		s[key] = value
	}
}

// descriptions are the descriptions of the well-known types that are components of a document.
var descriptions = map[schema.WellKnown]string{
	schema.Time:      "Time is a moment, written as RFC 3339 in whole seconds.",
	schema.MicroTime: "MicroTime is a moment, written as RFC 3339 in microseconds.",
	schema.Duration:  "Duration is a span of time as Go writes it: 1h30m.",
	schema.FieldsV1: "FieldsV1 is a set of fields: a tree whose keys are f:<name> for a field, k:<keys> for an item " +
		"of a list by its keys, v:<value> for one by its value, i:<index> for one by its place, and . " +
		"for the node itself.",
	schema.Patch: "Patch is the body of a patch, in the form that the content type names.",
	schema.Quantity: "Quantity is a number with a suffix: 100m, 1.5, 2Gi. The suffixes are n, u, m, k, M, G, T, P, " +
		"E, and Ki, Mi, Gi, Ti, Pi, Ei.",
	schema.IntOrStr:     "IntOrString is a whole number or a string.",
	schema.RawExtension: "RawExtension is an object of any kind.",
	schema.AnyJSON:      "JSON is any JSON value.",
	schema.AnyJSONBeta:  "JSON is any JSON value.",
}

// inStandardLibrary holds the well-known types whose schemas are written in place.
var inStandardLibrary = map[schema.WellKnown]bool{schema.GoTime: true, schema.RawMessage: true, schema.JSONNumber: true}

// description turns a doc comment into a description as Kubernetes' documents have it: the lines of a paragraph are
// joined, indented ones keep their place, markers, TODO lines and everything behind a line of dashes are left out, but
// for those behind a backslash.
func description(doc string) string {
	var out strings.Builder
	space := func() { // between what was written and what follows
		if s := out.String(); s != "" && !strings.HasSuffix(s, "\n") {
			out.WriteByte(' ')
		}
	}
	for _, line := range strings.Split(doc, "\n") {
		line = strings.TrimRight(line, " \t\r")
		text := strings.TrimLeft(line, " \t")
		switch {
		case strings.HasPrefix(text, "---"):
			return strings.TrimSpace(out.String())
		case strings.HasPrefix(text, "+"), strings.HasPrefix(text, "TODO"):
		case text == "":
			if s := out.String(); s != "" && !strings.HasSuffix(s, "\n\n") {
				out.WriteString(strings.Repeat("\n", 2-trailing(s)))
			}
		case line != text:
			if s := out.String(); s != "" && trailing(s) == 0 {
				out.WriteByte('\n')
			}
			out.WriteString(model.UnescapeDocLine(line) + "\n")
		default:
			space()
			out.WriteString(model.UnescapeDocLine(text))
		}
	}
	return strings.TrimSpace(out.String())
}

// trailing counts the line feeds at the end, up to two.
func trailing(s string) int {
	n := 0
	for n < 2 && strings.HasSuffix(s[:len(s)-n], "\n") {
		n++
	}
	return n
}
