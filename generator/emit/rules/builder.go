package rules

import (
	"encoding/json"
	"maps"
	"math"
	"slices"

	"apigen.dev/generator/model"
	"apigen.dev/runtime/cel"
)

// builder makes the schemas that CEL sees of Go types. They are those of a custom resource: what controller-gen would
// write for the type.
type builder struct {
	// without are rules that are left out, by their positions.
	without map[model.Position]bool
	// under are the structs that are being made, and how deep: what contains itself is cut off there, and expressions see
	// that it is there, and not what is in it. low is the least depth of those that were met again.
	under map[request]int
	low   int
	// passed are structs that were made for a place in one that is being made, which is in them, too: in another place
	// they would be cut off elsewhere. They are not made again for that one, or it would take for ever.
	passed map[request]int
	// nested are the named lists and maps that are being made.
	nested map[*model.Type]bool
	// made holds what was made of structs, and is the same everywhere.
	made map[request]*cel.Schema
	// sources are the rules' markers, for each schema with rules, and owners what messages call it.
	sources map[*cel.Schema][]model.CELRule
	owners  map[*cel.Schema]string
	// types are the structs whose fields a schema has.
	types map[*cel.Schema]request
}

// request is for a struct's schema: all of it, or of its fields only what has rules in it.
type request struct {
	typ *model.Type
	all bool
}

func newBuilder(without map[model.Position]bool) *builder {
	return &builder{
		without: without, under: map[request]int{}, low: math.MaxInt, passed: map[request]int{}, nested: map[*model.Type]bool{}, made: map[request]*cel.Schema{},
		sources: map[*cel.Schema][]model.CELRule{}, owners: map[*cel.Schema]string{}, types: map[*cel.Schema]request{},
	}
}

// value is the schema of a type's values. Unless all of it is asked for, fields without rules are left out: expressions see
// what is at the place of a rule and below.
func (b *builder) value(t *model.Type, all bool) *cel.Schema {
	if t.Form == model.Pointer && t.Package == nil {
		return b.value(t.Elem, all)
	}
	if s := known(t); s != nil {
		return s
	}
	if t.Name != "" && t.Elem != nil {
		if b.nested[t] { // type T []T
			return &cel.Schema{PreserveUnknownFields: true}
		}
		b.nested[t] = true
		defer delete(b.nested, t)
	}
	s := b.shape(t, all || b.ruledType(t, map[*model.Type]bool{}))
	if t.Package != nil && t.Schema.Schemaless {
		s = &cel.Schema{PreserveUnknownFields: true}
	}
	for _, layer := range t.Layers() {
		if layer.Name != "" {
			b.constrain(s, layer.Schema, layer.Name)
		}
	}
	return s
}

// field is the schema of a field's values.
func (b *builder) field(f *model.Field, owner string, all bool) *cel.Schema {
	all = all || b.ruled(&f.Schema)
	s := b.copy(b.value(f.Type, all))
	if f.Schema.Schemaless {
		s = &cel.Schema{PreserveUnknownFields: true}
	}
	b.constrain(s, f.Schema, owner+"."+f.Name)
	s.Defaulted = f.Default != nil || f.Type.Pointee().Default != nil
	return s
}

// copy is a schema of its own, which shares what is below.
func (b *builder) copy(s *cel.Schema) *cel.Schema {
	out := *s
	out.Rules = slices.Clone(s.Rules)
	b.sources[&out] = slices.Clone(b.sources[s])
	b.owners[&out] = b.owners[s]
	if r, ok := b.types[s]; ok {
		b.types[&out] = r
	}
	return &out
}

// shape is the schema of a type's form.
func (b *builder) shape(t *model.Type, all bool) *cel.Schema {
	if t.SchemaType != "" {
		return &cel.Schema{Type: t.SchemaType, Format: t.SchemaFormat}
	}
	if t.Package != nil && t.Schema.Type != "" {
		return &cel.Schema{Type: t.Schema.Type}
	}
	if t.Package != nil && t.OpaqueJSON() {
		return &cel.Schema{PreserveUnknownFields: true}
	}
	if t.Package != nil && t.Methods["MarshalText"] != nil {
		return &cel.Schema{Type: "string"}
	}
	switch t.Form {
	case model.Basic:
		return &cel.Schema{Type: basic(t.Basic)}
	case model.Pointer:
		return b.copy(b.value(t.Elem, all))
	case model.Slice, model.Array:
		if t.Form == model.Slice && t.Elem.Form == model.Basic && basic(t.Elem.Basic) == "integer" && (t.Elem.Basic == "byte" || t.Elem.Basic == "uint8") {
			return &cel.Schema{Type: "string", Format: "byte"}
		}
		return &cel.Schema{Type: "array", Items: b.value(t.Elem, all)}
	case model.Map:
		return &cel.Schema{Type: "object", Values: b.value(t.Elem, all)}
	case model.Struct:
		return b.copy(b.structure(t, all))
	}
	return &cel.Schema{PreserveUnknownFields: true}
}

// structure is the schema of a struct, made once, unless it is part of one that is being made and leads back there.
func (b *builder) structure(t *model.Type, all bool) *cel.Schema {
	key := request{t, all}
	if s, ok := b.made[key]; ok {
		return s
	}
	for _, met := range []map[request]int{b.under, b.passed} {
		if depth, ok := met[key]; ok {
			b.low = min(b.low, depth)
			return &cel.Schema{Type: "object", PreserveUnknownFields: true}
		}
	}
	depth, outer := len(b.under), b.low
	b.under[key], b.low = depth, math.MaxInt
	s := &cel.Schema{Type: "object", Properties: map[string]*cel.Schema{}}
	nested := b.nested
	b.nested = map[*model.Type]bool{} // a struct in between is what is cut off
	b.fields(t, s, all, map[*model.Type]bool{})
	b.inlined(t, s, map[*model.Type]bool{})
	b.nested = nested
	delete(b.under, key)
	if b.low >= depth { // what was met again is in here
		maps.DeleteFunc(b.passed, func(_ request, low int) bool { return low >= depth })
		b.made[key] = s
		if t.Name != "" {
			b.types[s] = key
		}
	} else {
		b.passed[key] = b.low
		outer = min(outer, b.low)
	}
	b.low = outer
	return s
}

// fields adds the properties of a struct and of what it inlines. A field nearer to the outer struct wins, as in Go.
func (b *builder) fields(t *model.Type, s *cel.Schema, all bool, inlined map[*model.Type]bool) {
	inlined[t] = true
	for _, f := range t.Fields {
		if f.Ignored || f.Inline || f.JSON == "" || s.Properties[f.JSON] != nil {
			continue
		}
		p := b.field(f, t.Name, all)
		if !all && !p.HasRules() {
			continue
		}
		s.Properties[f.JSON] = p
		if all && !f.Schema.Optional && (f.Schema.Required || !f.OmitEmpty) {
			s.Required = append(s.Required, f.JSON)
		}
	}
	for _, f := range inlines(t) {
		if inner := f.Type.Pointee(); !inlined[inner] {
			b.fields(inner, s, all, inlined)
		}
	}
}

// inlined adds the rules of structs whose fields a struct has, too.
func (b *builder) inlined(t *model.Type, s *cel.Schema, met map[*model.Type]bool) {
	met[t] = true
	for _, f := range inlines(t) {
		inner := f.Type.Pointee()
		if met[inner] {
			continue
		}
		b.inlined(inner, s, met)
		for _, layer := range inner.Layers() {
			b.constrain(s, model.Schema{Constraints: model.Constraints{CEL: layer.Schema.CEL}}, layer.Name)
		}
		b.constrain(s, model.Schema{Constraints: model.Constraints{CEL: f.Schema.CEL}}, t.Name+"."+f.Name)
	}
}

// inlines are the fields of a struct that are structs whose fields it has, too.
func inlines(t *model.Type) []*model.Field {
	var out []*model.Field
	for _, f := range t.Fields {
		if f.Inline && !f.Ignored && f.Type.Pointee().Form == model.Struct {
			out = append(out, f)
		}
	}
	return out
}

// constrain adds what markers say of values.
func (b *builder) constrain(s *cel.Schema, c model.Schema, owner string) {
	if c.IntOrString {
		*s = cel.Schema{IntOrString: true}
	} else if c.Type != "" && c.Type != s.Type {
		*s = cel.Schema{Type: c.Type}
	}
	if c.Format != "" {
		s.Format = c.Format
	}
	s.Nullable = s.Nullable || c.Nullable
	s.PreserveUnknownFields = s.PreserveUnknownFields || c.PreserveUnknownFields
	s.EmbeddedResource = s.EmbeddedResource || c.EmbeddedResource
	set(&s.ListType, c.ListType)
	set(&s.MapType, c.MapType+c.StructType)
	if len(c.ListMapKeys) > 0 {
		s.ListMapKeys = c.ListMapKeys
	}
	if values := stringsOf(c.Enum); values != nil {
		s.Enum = values
	}
	s.MaxLength, s.MaxItems, s.MaxProperties = least(s.MaxLength, c.MaxLength), least(s.MaxItems, c.MaxItems), least(s.MaxProperties, c.MaxProperties)
	if c.Items != nil {
		for _, elem := range []**cel.Schema{&s.Items, &s.Values} {
			if *elem != nil {
				*elem = b.copy(*elem)
				b.constrain(*elem, *c.Items, "an element of "+owner)
			}
		}
	}
	rules := b.rules(c.CEL)
	for _, r := range rules {
		s.Rules = append(s.Rules, cel.Rule{
			Rule: r.Rule, Message: r.Message, MessageExpression: r.MessageExpression, Reason: r.Reason, FieldPath: r.FieldPath,
			OptionalOldSelf: r.OptionalOldSelf,
		})
		b.sources[s] = append(b.sources[s], r)
		b.owners[s] = owner
	}
}

// rules are those that are not left out.
func (b *builder) rules(all []model.CELRule) []model.CELRule {
	return slices.DeleteFunc(slices.Clone(all), func(r model.CELRule) bool { return b.without[r.Pos] })
}

// ruledType tells whether there are rules for all values of a type.
func (b *builder) ruledType(t *model.Type, met map[*model.Type]bool) bool {
	if met[t] {
		return false
	}
	met[t] = true
	return slices.ContainsFunc(t.Layers(), func(layer *model.Type) bool { return b.ruled(&layer.Schema) }) ||
		slices.ContainsFunc(inlines(t), func(f *model.Field) bool { return b.ruled(&f.Schema) || b.ruledType(f.Type.Pointee(), met) })
}

// ruled tells whether there are rules for a value or its elements.
func (b *builder) ruled(s *model.Schema) bool {
	return s != nil && (len(b.rules(s.CEL)) > 0 || b.ruled(s.Items))
}

func set(at *string, value string) {
	if value != "" {
		*at = value
	}
}

// least is the tighter of two bounds.
func least(a, b *int64) *int64 {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}

// stringsOf are the values of an enumeration of strings, or nil.
func stringsOf(values []string) []string {
	var out []string
	for _, v := range values {
		var s string
		if json.Unmarshal([]byte(v), &s) != nil {
			return nil
		}
		out = append(out, s)
	}
	return out
}

func basic(name string) string {
	switch name {
	case "bool":
		return "boolean"
	case "string":
		return "string"
	case "float32", "float64":
		return "number"
	}
	return "integer"
}

// known is the schema of a type whose JSON isn't what its Go fields say, or nil.
func known(t *model.Type) *cel.Schema {
	if t.Package == nil {
		return nil
	}
	switch t.Package.Path + "." + t.Name {
	case metaPath + ".Time", metaPath + ".MicroTime", "time.Time":
		return &cel.Schema{Type: "string", Format: "date-time"}
	case metaPath + ".Duration":
		return &cel.Schema{Type: "string"}
	case metaPath + ".ObjectMeta", metaPath + ".ListMeta", metaPath + ".FieldsV1":
		return &cel.Schema{Type: "object"}
	case "k8s.io/apimachinery/pkg/api/resource.Quantity", "k8s.io/apimachinery/pkg/util/intstr.IntOrString":
		return &cel.Schema{IntOrString: true}
	case "k8s.io/apimachinery/pkg/runtime.RawExtension", "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured.Unstructured":
		return &cel.Schema{Type: "object", PreserveUnknownFields: true}
	case "encoding/json.RawMessage":
		return &cel.Schema{PreserveUnknownFields: true}
	case "encoding/json.Number":
		return &cel.Schema{Type: "number"}
	}
	return nil
}

const metaPath = "k8s.io/apimachinery/pkg/apis/meta/v1"
