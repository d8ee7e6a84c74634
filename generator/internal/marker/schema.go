package marker

import (
	"cmp"
	"slices"
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
)

func (ms Markers) toSchema(s *model.Schema, u Use) diag.Errors {
	rest, parts := ms.parts()
	faults := apply(rest, s, u, func(set *Set) func(*model.Schema, *Use) { return set.Value })
	u.faults, u.beside = &faults, rest
	rest.claims(s)
	rest.rules(s, u)
	rest.uniqueness(s)
	for _, p := range parts {
		p.Schema = new(model.Schema)
		of := Use{In: u.In, On: p.about.of(u.On)}
		faults = append(faults, p.markers.Effective().toSchema(p.Schema, of)...)
		to := &s.Subfields
		switch p.about {
		case EachValue:
			s.Items = p.Schema
			continue
		case EachKey:
			s.Keys = p.Schema
			continue
		case ListItem:
			to = &s.Elements
		case InMode:
			to = &s.Modes
		}
		if p.Schema.Checked() || p.Schema.Optional {
			*to = append(*to, p.Part)
		}
	}
	return faults
}

// of returns the type of the part of a value of the type; nil if it isn't known.
func (p Part) of(t *model.Type) *model.Type {
	at := t.Pointee()
	switch {
	case p == InMode:
		return t
	case p == Subfield || at == nil:
		return nil
	case p == EachKey:
		return at.Key
	}
	return at.Elem
}

// claims notes the markers that only values of some form can have.
func (ms Markers) claims(s *model.Schema) {
	for _, m := range ms {
		if m.Definition.Claims != model.NoClaim && m.True() {
			s.Claims = append(s.Claims, model.Claim{
				Marker: m.Name, Value: Unquote(m.Value), Form: m.Definition.Claims, Pos: m.Pos,
			})
		}
	}
}

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
		case m.Definition.Lifts == model.Unique && m.True():
			return
		case m.Definition.Claims == model.MergedLists && (m.declarative() || !by.declarative()):
			by = m
		}
	}
	s.Rules = append(s.Rules, model.Rule{
		Check: model.Unique, Declarative: by.declarative(), Text: s.ListType, Marker: by.Name, Pos: by.Pos,
	})
}

type part struct {
	model.Part
	about   Part
	markers Markers
}

// parts sorts the markers by the part of the value that they are about; the rest are about the value itself.
func (ms Markers) parts() (rest Markers, parts []part) {
	for _, m := range ms {
		p := part{about: m.Definition.Wraps, Part: model.Part{Pos: m.Pos}}
		named := func(name string) string { v, _ := m.Arg(name); return Unquote(v) }
		switch {
		case m.Definition.Element != "":
			p.about = EachValue
			m.Element, m.Name = m.Name, m.Definition.Element
			m.Definition, _ = Lookup(m.Name)
			p.markers = Markers{m}
		case m.Wrapped == nil:
			rest = append(rest, m)
		default:
			p.markers = Markers{*m.Wrapped}
		}
		switch p.about {
		case Subfield:
			p.Name = named("")
		case InMode:
			p.Name, p.Group = cmp.Or(named(""), named("mode")), named("modality")
		case ListItem:
			for _, a := range m.Args {
				p.Keys = append(p.Keys, model.KeyValue{Key: a.Key, Value: Unquote(a.Value)})
			}
		}
		if p.markers != nil && p.about != Nothing {
			parts = add(parts, p)
		}
	}
	return rest, parts
}

func add(to []part, p part) []part {
	i := slices.IndexFunc(to, func(other part) bool {
		return other.about == p.about && other.Name == p.Name && other.Group == p.Group &&
			slices.Equal(other.Keys, p.Keys)
	})
	if i < 0 {
		return append(to, p)
	}
	to[i].markers = append(to[i].markers, p.markers...)
	return to
}
