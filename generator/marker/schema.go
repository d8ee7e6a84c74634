package marker

import (
	"slices"
	"strings"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/model"
)

// toSchema puts the markers into the schema of the values of a type.
func (ms Markers) toSchema(s *model.Schema, u Use) diag.Errors {
	var p parts
	rest := p.take(ms)
	faults := apply(rest, s, u, func(set *Set) func(*model.Schema, *Use) { return set.Value })
	u.faults, u.beside = &faults, rest
	rest.claims(s)
	rest.rules(s, u)
	rest.uniqueness(s)

	var elem, key *model.Type
	if at := u.On.Pointee(); at != nil {
		elem, key = at.Elem, at.Key
	}
	of := func(t *model.Type) Use { return Use{In: u.In, On: t, faults: &faults} }
	s.Items, s.Keys = p.items.schema(of(elem)), p.keys.schema(of(key))
	s.Subfields, s.Elements, s.Modes = schemas(p.subfields, of(nil)), schemas(p.elements, of(elem)), schemas(p.modes,
		of(u.On))
	return faults
}

// schema returns what markers say of a part of a value; nil where there are none.
func (ms Markers) schema(u Use) *model.Schema {
	if len(ms) == 0 {
		return nil
	}
	s := new(model.Schema)
	*u.faults = append(*u.faults, ms.Effective().toSchema(s, u)...)
	return s
}

func schemas(parts []part, u Use) []model.Part {
	var out []model.Part
	for _, p := range parts {
		if p.Schema = p.markers.schema(u); p.Schema.Checked() || p.Schema.Optional {
			out = append(out, p.Part)
		}
	}
	return out
}

// claims notes the markers that only values of some form can have.
func (ms Markers) claims(s *model.Schema) {
	for _, m := range ms {
		if m.Definition.Claims != model.NoClaim && m.says() {
			s.Claims = append(s.Claims, model.Claim{
				Marker: m.Name, Value: Unquote(m.Value), Form: m.Definition.Claims, Pos: m.Pos,
			})
		}
	}
}

// rules adds the rules that are checked when objects are written.
func (ms Markers) rules(s *model.Schema, u Use) {
	var lifted []model.Check
	for _, m := range ms {
		if m.Value == "false" && (m.Definition.Kind == Flag || m.Definition.Kind == Bool) {
			continue
		}
		d := m.Definition
		if d.Lifts != "" {
			lifted = append(lifted, d.Lifts)
		}
		if d.Check == "" {
			continue
		}
		r := model.Rule{
			Check: d.Check, Declarative: m.declarative(), Text: strings.TrimSpace(m.Value), Marker: m.written(),
			Pos: m.Pos,
		}
		if d.Refine != nil {
			u.Marker = m
			d.Refine(&r, &u, s)
		}
		s.Rules = append(s.Rules, r)
	}
	s.Rules = slices.DeleteFunc(s.Rules, func(r model.Rule) bool { return slices.Contains(lifted, r.Check) })
}

// declarative reports whether the marker means what kube-apiserver makes of it for its own kinds.
func (m Marker) declarative() bool { return strings.HasPrefix(m.Name, "k8s:") }

// written returns the name of a marker as the user wrote it.
func (m Marker) written() string {
	if m.Element != "" {
		return m.Element
	}
	return m.Name
}

// uniqueness adds the rule that the elements of a set, and the keys of a map, are unique.
func (ms Markers) uniqueness(s *model.Schema) {
	if s.Rule(model.Unique) != nil || s.ListType != "set" && s.ListType != "map" {
		return
	}
	var by Marker
	for _, m := range ms {
		switch {
		case m.Definition.Lifts == model.Unique && m.says():
			return
		case m.Definition.Claims == model.MergedLists && (m.declarative() || !by.declarative()):
			by = m
		}
	}
	s.Rules = append(s.Rules, model.Rule{
		Check: model.Unique, Declarative: by.declarative(), Text: s.ListType, Marker: by.Name, Pos: by.Pos,
	})
}

// parts are markers sorted by the part of a value that they are about.
type parts struct {
	items, keys Markers
	subfields   []part
	elements    []part
	modes       []part
}

type part struct {
	model.Part
	markers Markers
}

// take takes the markers that are about parts of the value, and returns the others.
func (p *parts) take(ms Markers) Markers {
	var rest Markers
	for _, m := range ms {
		switch {
		case m.Definition.Element != "":
			m.Element, m.Name = m.Name, m.Definition.Element
			m.Definition, _ = Lookup(m.Name)
			p.items = append(p.items, m)
		case m.Wrapped == nil:
			rest = append(rest, m)
		default:
			p.wrapped(m, *m.Wrapped)
		}
	}
	return rest
}

func (p *parts) wrapped(m, w Marker) {
	named := func(name string) string { v, _ := m.Arg(name); return Unquote(v) }
	switch m.Definition.Wraps {
	case EachValue:
		p.items = append(p.items, w)
	case EachKey:
		p.keys = append(p.keys, w)
	case Subfield:
		p.subfields = add(p.subfields, model.Part{Name: named(""), Pos: m.Pos}, w)
	case InMode:
		name := named("")
		if name == "" {
			name = named("mode")
		}
		p.modes = add(p.modes, model.Part{Name: name, Group: named("modality"), Pos: m.Pos}, w)
	case ListItem:
		var keys []model.KeyValue
		for _, a := range m.Args {
			keys = append(keys, model.KeyValue{Key: a.Key, Value: Unquote(a.Value)})
		}
		p.elements = add(p.elements, model.Part{Keys: keys, Pos: m.Pos}, w)
	}
}

func add(to []part, p model.Part, m Marker) []part {
	for i := range to {
		if to[i].Name == p.Name && to[i].Group == p.Group && slices.Equal(to[i].Keys, p.Keys) {
			to[i].markers = append(to[i].markers, m)
			return to
		}
	}
	return append(to, part{Part: p, markers: Markers{m}})
}
