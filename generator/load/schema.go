package load

import (
	"apigen.dev/generator/marker"
	"apigen.dev/generator/model"
)

// fieldMarkers gives a field what its comments say.
func (b *builder) fieldMarkers(f *model.Field, p *model.Package, nt *note) {
	ms := effective(nt.markers)
	f.Doc = nt.doc
	if nt.pos.IsValid() {
		f.Pos = nt.pos
	}
	f.ConversionOff, f.Preserve = ms.Has("apigen:conversion:drop"), ms.Has("apigen:conversion:preserve")
	f.ConversionName = text(ms, "apigen:conversion:name")
	if c, ok := ms.Get("k8s:conversion-gen"); ok && c.Value == "false" {
		f.ConversionOff = true
	}
	f.Default = b.defaultOf(p, f.Type, ms)
	b.schema(&f.Schema, f.Type, ms)
	for _, name := range []string{"patchStrategy", "patchMergeKey"} {
		for _, m := range ms.All(name) {
			f.PatchMarkers = append(f.PatchMarkers, model.PatchMarker{Name: name, Value: marker.Unquote(m.Value), Pos: m.Pos})
		}
	}
	if n := b.notes[p.Path]; n != nil && !f.Schema.Optional && !f.Schema.Required {
		f.Schema.Optional = n.pkg.markers.Has("kubebuilder:validation:Optional")
		f.Schema.Required = n.pkg.markers.Has("kubebuilder:validation:Required")
	}
}

// schema reads the constraints that markers put on values of a type.
func (b *builder) schema(s *model.Schema, t *model.Type, ms marker.Markers) {
	const v = "kubebuilder:validation:"
	s.Optional = ms.Has("optional") || ms.Has("k8s:optional") || ms.Has(v+"Optional")
	s.Required = ms.Has("required") || ms.Has("k8s:required") || ms.Has(v+"Required")
	if ms.Has("k8s:required") && !ms.Has("k8s:optional") {
		s.Optional = false // whatever is said for clients that were generated before
	}
	s.Nullable = ms.Has("nullable")
	s.Claims = claims(ms)
	s.Immutable = ms.Has("k8s:immutable")
	s.ListType = text(ms, "listType", "k8s:listType")
	s.MapType, s.StructType = text(ms, "mapType"), text(ms, "structType")
	for _, name := range []string{"listMapKey", "k8s:listMapKey"} {
		if len(s.ListMapKeys) == 0 {
			for _, m := range ms.All(name) {
				s.ListMapKeys, s.ListMapKeysPos = append(s.ListMapKeys, m.Value), m.Pos
			}
		}
	}
	s.Format, s.Pattern, s.Type = marker.Unquote(text(ms, v+"Format", "k8s:format")), text(ms, v+"Pattern"), text(ms, v+"Type")
	s.Minimum, s.Maximum = number(ms, v+"Minimum", "k8s:minimum"), number(ms, v+"Maximum", "k8s:maximum")
	s.MultipleOf = number(ms, v+"MultipleOf")
	s.ExclusiveMinimum, s.ExclusiveMaximum = ms.Has(v+"ExclusiveMinimum"), ms.Has(v+"ExclusiveMaximum")
	s.MinLength, s.MaxLength = whole(ms, v+"MinLength", "k8s:minLength"), whole(ms, v+"MaxLength", "k8s:maxLength", "k8s:maxBytes")
	s.MinItems, s.MaxItems = whole(ms, v+"MinItems", "k8s:minItems"), whole(ms, v+"MaxItems", "k8s:maxItems")
	s.MinProperties = whole(ms, v+"MinProperties", "k8s:minProperties")
	s.MaxProperties = whole(ms, v+"MaxProperties", "k8s:maxProperties")
	s.UniqueItems = ms.Has(v + "UniqueItems")
	s.PreserveUnknownFields = ms.Has("kubebuilder:pruning:PreserveUnknownFields") || ms.Has(v+"XPreserveUnknownFields")
	s.EmbeddedResource = ms.Has(v+"EmbeddedResource") || ms.Has(v+"XEmbeddedResource")
	s.IntOrString, s.Schemaless = ms.Has(v+"XIntOrString"), ms.Has(v+"Schemaless")
	if m, ok := ms.Get(v + "Enum"); ok {
		for _, e := range m.Strings() {
			s.Enum = append(s.Enum, jsonElement(e, t))
		}
	}
	if m, ok := ms.Get("kubebuilder:example"); ok {
		s.Example = jsonValue(m.Value, t)
	}
	s.Title = marker.Unquote(text(ms, "kubebuilder:title", v+"Title"))
	s.ExternalDocs = b.externalDocs(ms)
	for _, m := range ms.All(v + "XValidation") {
		s.CEL = append(s.CEL, celRule(m))
	}
	b.rules(s, t, ms)
}

// jsonElement is an element of an enum, whose quotes are gone.
func jsonElement(e string, t *model.Type) string {
	if isString(t) {
		return quoteJSON(e)
	}
	return jsonValue(e, t)
}

func celRule(m marker.Marker) model.CELRule {
	arg := func(key string) string { v, _ := m.Arg(key); return v }
	return model.CELRule{
		Rule: arg("rule"), Message: arg("message"), MessageExpression: arg("messageExpression"),
		Reason: arg("reason"), FieldPath: arg("fieldPath"), OptionalOldSelf: arg("optionalOldSelf") == "true",
		Pos: m.Pos,
	}
}

// text, number and whole return the value of the first of the names that is there.
func text(ms marker.Markers, names ...string) string {
	for _, n := range names {
		if m, ok := ms.Get(n); ok {
			return m.Value
		}
	}
	return ""
}

func number(ms marker.Markers, names ...string) *float64 {
	for _, n := range names {
		if m, ok := ms.Get(n); ok {
			return m.Float()
		}
	}
	return nil
}

func whole(ms marker.Markers, names ...string) *int64 {
	for _, n := range names {
		if m, ok := ms.Get(n); ok {
			return m.Int()
		}
	}
	return nil
}
