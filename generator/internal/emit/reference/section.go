package reference

import (
	"fmt"
	"strconv"
	"strings"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
)

func (m *maker) section(named *model.Type) *section {
	t := m.types.Type(named)
	s := &section{Name: named.Name, Anchor: m.anchor(named), Text: parse(named.Doc), Rules: rules(&named.Schema)}
	if named.Form == model.Struct {
		for _, p := range t.InSourceOrder() {
			if typeMeta := m.kinds[named] && p.Owner.Go.Name == "TypeMeta"; !typeMeta {
				s.Fields = append(s.Fields, m.field(p))
			}
		}
		s.Rules = append(s.Rules, unions(named)...)
		return s
	}
	s.Shape = m.form(t)
	if named.Enum {
		for _, c := range schema.Constants(named) {
			s.Values = append(s.Values, enumValue{Value: c.Value, Text: parse(c.Doc)})
		}
	}
	return s
}

func (m *maker) field(p *schema.Property) field {
	markers := &p.Go.Schema
	out := field{
		Name: p.Go.JSON, Shape: m.shape(p.Type), Text: parse(p.Go.Doc), Required: p.Required, Rules: rules(markers),
	}
	if d := p.Default; d != nil {
		out.Default = d.JSON
		if d.Ref != nil && d.JSON == "" {
			out.Default = d.Ref.Name
		}
	}
	if form, ok := schema.Override(markers); ok {
		out.Shape = shape{Name: inWords(schema.Form{JSON: form})}
	}
	if markers.Items != nil {
		for _, r := range rules(markers.Items) {
			out.Rules = append(out.Rules, "each: "+r)
		}
	}
	return out
}

// documentation is where Kubernetes' own reference describes common types.
const documentation = "https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/"

// wellKnown describes types of Kubernetes and Go in words, with links to their descriptions.
var wellKnown = map[schema.WellKnown]shape{
	schema.ObjectMeta:    {Name: "ObjectMeta", Link: documentation + "object-meta/"},
	schema.ListMeta:      {Name: "ListMeta", Link: documentation + "list-meta/"},
	schema.LabelSelector: {Name: "LabelSelector", Link: documentation + "label-selector/"},
	schema.Quantity:      {Name: "Quantity", Link: documentation + "quantity/"},
	schema.Time:          {Name: "string (RFC 3339 time)"},
	schema.MicroTime:     {Name: "string (RFC 3339 time in microseconds)"},
	schema.GoTime:        {Name: "string (RFC 3339 time)"},
	schema.Duration:      {Name: "string (duration: 1h30m)"},
	schema.IntOrStr:      {Name: "integer or string"},
	schema.RawExtension:  {Name: "object of any kind"},
	schema.RawMessage:    {Name: "any value"},
}

func (m *maker) shape(t *schema.Type) shape {
	if words, ok := wellKnown[t.Known]; ok {
		return words
	}
	if !t.Named() {
		return m.form(t)
	}
	if t.Go.SchemaType != "" {
		return shape{Name: strings.TrimSpace(t.Go.SchemaType + " " + t.Go.SchemaFormat)}
	}
	home := t.Go.Package.Home()
	switch {
	case home.Own():
		return shape{Name: t.Go.Name, Link: "#" + m.anchor(t.Go)}
	case t.Go.Form == model.Struct:
		return shape{Name: t.Go.Name, After: " (" + t.Go.Package.Path + ")"}
	}
	return m.form(t)
}

func (m *maker) form(t *schema.Type) shape {
	before := map[schema.JSON]string{schema.List: "list of ", schema.Map: "map of "}[t.JSON]
	if before == "" || t.Elem == nil {
		return shape{Name: inWords(t.Form)}
	}
	s := m.shape(t.Elem)
	s.Before = before + s.Before
	return s
}

func inWords(f schema.Form) string {
	switch {
	case f.JSON == schema.Any || f.JSON == schema.Pointer:
		return "any value"
	case f.JSON == schema.IntOrString:
		return "integer or string"
	case f.Format == "byte":
		return "string (base64)"
	}
	return string(f.JSON)
}

func rules(s *model.Schema) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	bounds(s, add)
	if s.Pattern != "" {
		add("matches %s", code(s.Pattern))
	}
	if s.Format != "" {
		add("format %s", s.Format)
	}
	if len(s.Enum) > 0 {
		values := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			values[i] = code(v)
		}
		add("one of %s", strings.Join(values, ", "))
	}
	if s.Immutable || s.Rule(model.Immutable) != nil {
		add("can't be changed")
	}
	if s.Nullable {
		add("may be null")
	}
	switch s.ListType {
	case "map":
		add("items differ in %s", strings.Join(s.ListMapKeys, ", "))
	case "set":
		add("items differ")
	}
	if s.UniqueItems && s.ListType == "" {
		add("items differ")
	}
	for _, r := range s.Rules {
		if r.Check == model.OneOf {
			add("%s", oneOf(r.Least, r.Most, r.Values))
		}
	}
	for _, r := range s.CEL {
		if r.Message != "" {
			add("%s (%s)", r.Message, code(r.Rule))
		} else {
			add("%s", code(r.Rule))
		}
	}
	return out
}

// code marks a piece of text as code, for words that may be shown as such.
func code(s string) string { return codeMark + s + codeMark }

// codeMark is a character that no source holds in text. The templates show the text between two of them as code.
const codeMark = "\x00"

func bounds(s *model.Schema, add func(string, ...any)) {
	number := func(f *float64) string { return strconv.FormatFloat(*f, 'g', -1, 64) }
	if least := s.Limit(model.Minimum); least != nil {
		add("%s %s", map[bool]string{false: "at least", true: "more than"}[s.ExclusiveMinimum], number(least))
	}
	if most := s.Limit(model.Maximum); most != nil {
		add("%s %s", map[bool]string{false: "at most", true: "less than"}[s.ExclusiveMaximum], number(most))
	}
	if step := s.Limit(model.MultipleOf); step != nil {
		add("a multiple of %s", number(step))
	}
	for _, b := range []struct {
		least, most model.Check
		one, many   string
	}{{model.MinLength, model.MaxLength, "character", "characters"}, {model.MinItems, model.MaxItems, "item", "items"},
		{model.MinProperties, model.MaxProperties, "entry", "entries"}} {
		least, most := s.Limit(b.least), s.Limit(b.most)
		counted := func(n float64) string {
			if n == 1 {
				return "1 " + b.one
			}
			return fmt.Sprintf("%.0f %s", n, b.many)
		}
		switch {
		case least != nil && most != nil && *least == *most:
			add("%s", counted(*least))
		case least != nil && most != nil:
			add("%.0f to %s", *least, counted(*most))
		case least != nil:
			add("at least %s", counted(*least))
		case most != nil:
			add("at most %s", counted(*most))
		}
	}
}

func unions(t *model.Type) []string {
	var out []string
	for _, u := range schema.UnionsOf(t) {
		var members []string
		for _, f := range u.Members {
			members = append(members, f.JSON)
		}
		switch {
		case len(members) == 0:
		case u.Discriminator != nil:
			out = append(out, fmt.Sprintf("%s says which of %s is set", code(u.Discriminator.JSON), listed(members)))
		case u.ZeroOrOne:
			out = append(out, oneOf(0, 1, members))
		default:
			out = append(out, oneOf(1, 1, members))
		}
	}
	return out
}

func oneOf(least, most int, fields []string) string {
	switch {
	case least == most:
		return fmt.Sprintf("exactly %d of %s is set", least, listed(fields))
	case most < 0:
		return fmt.Sprintf("at least %d of %s is set", least, listed(fields))
	}
	return fmt.Sprintf("at most %d of %s is set", most, listed(fields))
}

func listed(fields []string) string {
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = code(f)
	}
	return strings.Join(all, ", ")
}
