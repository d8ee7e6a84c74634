package expression

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
	"apigen.dev/runtime/cel"
)

// builder makes the schemas of Go types for CEL. They equal the schemas of a custom resource that controller-gen would
// write for the type.
type builder struct {
	resolver *schema.Resolver
	// excluded holds the positions of rules that are left out.
	excluded map[model.Position]bool
	// unfinished holds the structs that are being made, with their depth. A struct that contains itself is cut off
	// there: expressions see that it is present, and nothing inside of it. low is the least depth of the structs that
	// were met again.
	unfinished map[Struct]int
	low        int
	// passed holds structs that were made for a place within an unfinished struct that contains itself. In another
	// place they would be cut off elsewhere. They are not made again within that struct, or the builder would never
	// end.
	passed map[Struct]int
	// nested holds the named lists and maps that are being made.
	nested map[*schema.Type]bool
	// made holds finished schemas of structs that are the same everywhere.
	made map[Struct]*cel.Schema
	// sources holds the rules' markers for each schema with rules, and owners the name of its Go type or field for
	// messages.
	sources map[*cel.Schema][]model.CELRule
	owners  map[*cel.Schema]string
	// vague holds the schemas of types that don't compile, and of structs with one name twice: what an expression says
	// of them isn't judged.
	vague map[*cel.Schema]bool
	// cut holds the schemas of structs that are cut off, and of lists and maps of them. They have no rules: an
	// expression would name fields that aren't declared there.
	cut map[*cel.Schema]bool
	// types holds the struct of a schema.
	types map[*cel.Schema]Struct
}

// Struct is a struct with the fields that a schema has: all, or only those that have rules in them.
type Struct struct {
	Type *schema.Type
	All  bool
}

func newBuilder(excluded map[model.Position]bool) *builder {
	return &builder{
		resolver: schema.New(schema.CEL), excluded: excluded, unfinished: map[Struct]int{}, low: math.MaxInt,
		passed: map[Struct]int{}, nested: map[*schema.Type]bool{}, made: map[Struct]*cel.Schema{},
		sources: map[*cel.Schema][]model.CELRule{}, owners: map[*cel.Schema]string{}, types: map[*cel.Schema]Struct{},
		vague: map[*cel.Schema]bool{}, cut: map[*cel.Schema]bool{},
	}
}

// kind returns the schema of a kind, or of another type whose rules are judged, without the fields that have no rules.
func (b *builder) kind(t *model.Type) *cel.Schema { return b.value(b.resolver.Type(t), false) }

// value returns the schema of a type's values. Unless all is set, it leaves out fields without rules: expressions see
// only the value with the rule and its inside.
func (b *builder) value(t *schema.Type, all bool) *cel.Schema {
	if t.Go.Name != "" && t.Elem != nil {
		if b.nested[t] { // type T []T
			return &cel.Schema{PreserveUnknownFields: true}
		}
		b.nested[t] = true
		defer delete(b.nested, t)
	}
	s := b.shape(t, all || b.ruledType(t))
	if t.Named() && t.Go.Schema.Schemaless {
		s = &cel.Schema{PreserveUnknownFields: true}
	}
	for _, layer := range slices.Backward(t.Layers) {
		b.constrain(s, layer.Schema, layer.Type.Name)
	}
	b.vague[s] = b.vague[s] || t.Go.Unknown
	return s
}

func (b *builder) field(p *schema.Property, all bool) *cel.Schema {
	markers := &p.Go.Schema
	s := b.copy(b.value(p.Type, all || b.ruled(markers)))
	if markers.Schemaless {
		s = &cel.Schema{PreserveUnknownFields: true}
	}
	b.constrain(s, markers, p.Owner.Go.Name+"."+p.Go.Name)
	s.Defaulted = p.Default != nil
	return s
}

func (b *builder) copy(s *cel.Schema) *cel.Schema {
	out := *s
	out.Rules = slices.Clone(s.Rules)
	b.sources[&out] = slices.Clone(b.sources[s])
	b.owners[&out], b.vague[&out], b.cut[&out] = b.owners[s], b.vague[s], b.cut[s]
	if r, ok := b.types[s]; ok {
		b.types[&out] = r
	}
	return &out
}

func (b *builder) shape(t *schema.Type, all bool) *cel.Schema {
	switch {
	case t.JSON == schema.Any:
		return &cel.Schema{PreserveUnknownFields: true}
	case t.JSON == schema.IntOrString:
		return &cel.Schema{IntOrString: true}
	case t.Known == schema.RawExtension || t.Known == schema.Unstructured:
		return &cel.Schema{Type: "object", PreserveUnknownFields: true}
	case !t.Structural:
	case t.JSON == schema.Pointer:
		return b.copy(b.value(t.Elem, all))
	case t.JSON == schema.List:
		s := &cel.Schema{Type: "array", Items: b.value(t.Elem, all)}
		b.cut[s] = b.cut[s.Items]
		return s
	case t.JSON == schema.Map:
		s := &cel.Schema{Type: "object", Values: b.value(t.Elem, all)}
		b.cut[s] = b.cut[s.Values]
		return s
	case t.JSON == schema.Object:
		return b.copy(b.structure(t, all))
	}
	return &cel.Schema{Type: string(t.JSON), Format: t.Format}
}

// structure returns the schema of a struct. It makes the schema once, unless the struct is part of an unfinished one
// and leads back to it.
func (b *builder) structure(t *schema.Type, all bool) *cel.Schema {
	key := Struct{t, all}
	if s, ok := b.made[key]; ok {
		return s
	}
	for _, met := range []map[Struct]int{b.unfinished, b.passed} {
		if depth, ok := met[key]; ok {
			b.low = min(b.low, depth)
			s := &cel.Schema{Type: "object", PreserveUnknownFields: true}
			b.cut[s] = true
			return s
		}
	}
	depth, outer := len(b.unfinished), b.low
	b.unfinished[key], b.low = depth, math.MaxInt
	s := &cel.Schema{Type: "object", Properties: map[string]*cel.Schema{}}
	nested := b.nested
	b.vague[s] = t.Go.Ambiguous()
	b.nested = map[*schema.Type]bool{} // a struct in between is what is cut off
	b.fields(t, s, all)
	b.nested = nested
	delete(b.unfinished, key)
	if b.low >= depth { // what was met again is in here
		maps.DeleteFunc(b.passed, func(_ Struct, low int) bool { return low >= depth })
		b.made[key] = s
		if t.Go.Name != "" {
			b.types[s] = key
		}
	} else {
		b.passed[key] = b.low
		outer = min(outer, b.low)
	}
	b.low = outer
	return s
}

// fields adds the properties of a struct, and the rules of structs that it inlines.
func (b *builder) fields(t *schema.Type, s *cel.Schema, all bool) {
	for _, property := range t.Properties() {
		name, p := property.Go.JSON, b.field(property, all)
		if !all && !p.HasRules() {
			continue
		}
		s.Properties[name] = p
		if all && property.Required {
			s.Required = append(s.Required, name)
		}
	}
	for _, inline := range t.Inlines() {
		for _, layer := range slices.Backward(inline.Inlined().Layers) {
			b.addRules(s, layer.CEL, layer.Type.Name)
		}
		b.addRules(s, inline.Go.Schema.CEL, inline.Owner.Go.Name+"."+inline.Go.Name)
	}
}

func (b *builder) constrain(s *cel.Schema, c *model.Schema, owner string) {
	if c.IntOrString {
		*s = cel.Schema{IntOrString: true}
	} else if c.Type != "" && c.Type != s.Type {
		*s = cel.Schema{Type: c.Type}
	}
	s.Format = cmp.Or(c.Format, s.Format)
	s.Nullable = s.Nullable || c.Nullable
	s.PreserveUnknownFields = s.PreserveUnknownFields || c.PreserveUnknownFields
	s.EmbeddedResource = s.EmbeddedResource || c.EmbeddedResource
	s.ListType, s.MapType = cmp.Or(c.ListType, s.ListType), cmp.Or(c.MapType+c.StructType, s.MapType)
	if len(c.ListMapKeys) > 0 {
		s.ListMapKeys = c.ListMapKeys
	}
	if values := stringsOf(c.Enum); values != nil {
		s.Enum = values
	}
	s.MaxLength = least(s.MaxLength, c.Limit(model.MaxLength))
	s.MaxItems = least(s.MaxItems, c.Limit(model.MaxItems))
	s.MaxProperties = least(s.MaxProperties, c.Limit(model.MaxProperties))
	if c.Items != nil {
		for _, elem := range []**cel.Schema{&s.Items, &s.Values} {
			if *elem != nil {
				*elem = b.copy(*elem)
				b.constrain(*elem, c.Items, "an element of "+owner)
			}
		}
	}
	b.addRules(s, c.CEL, owner)
}

func (b *builder) addRules(s *cel.Schema, rules []model.CELRule, owner string) {
	if b.cut[s] {
		return
	}
	for _, r := range b.rules(rules) {
		s.Rules = append(s.Rules, cel.Rule{
			Rule: r.Rule, Message: r.Message, MessageExpression: r.MessageExpression, Reason: r.Reason,
			FieldPath: r.FieldPath, OptionalOldSelf: r.OptionalOldSelf,
		})
		b.sources[s] = append(b.sources[s], r)
		b.owners[s] = owner
	}
}

func (b *builder) rules(all []model.CELRule) []model.CELRule {
	return slices.DeleteFunc(slices.Clone(all), func(r model.CELRule) bool { return b.excluded[r.Pos] })
}

func (b *builder) ruledType(t *schema.Type) bool {
	ruled := func(layer schema.Layer) bool { return b.ruled(layer.Schema) }
	return slices.ContainsFunc(t.Layers, ruled) || slices.ContainsFunc(t.Inlines(), func(inline *schema.Property) bool {
		return b.ruled(&inline.Go.Schema) || slices.ContainsFunc(inline.Inlined().Layers, ruled)
	})
}

func (b *builder) ruled(s *model.Schema) bool {
	return s != nil && (len(b.rules(s.CEL)) > 0 || b.ruled(s.Items))
}

func least(a *int64, limit *float64) *int64 {
	if limit == nil || a != nil && *a <= int64(*limit) {
		return a
	}
	return new(int64(*limit))
}

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
