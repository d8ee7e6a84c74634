package compat

import (
	"fmt"
	"strconv"
	"strings"

	"apigen.dev/generator/model"
	"apigen.dev/generator/schema"
)

type bound struct {
	name  string
	lower bool
	of    func(*model.Schema) *float64
}

var limits = []bound{
	{"minimum", true, func(s *model.Schema) *float64 { return s.Minimum }},
	{"maximum", false, func(s *model.Schema) *float64 { return s.Maximum }},
	{"minLength", true, func(s *model.Schema) *float64 { return count(s.MinLength) }},
	{"maxLength", false, func(s *model.Schema) *float64 { return count(s.MaxLength) }},
	{"minItems", true, func(s *model.Schema) *float64 { return count(s.MinItems) }},
	{"maxItems", false, func(s *model.Schema) *float64 { return count(s.MaxItems) }},
	{"minProperties", true, func(s *model.Schema) *float64 { return count(s.MinProperties) }},
	{"maxProperties", false, func(s *model.Schema) *float64 { return count(s.MaxProperties) }},
}

func count(n *int64) *float64 {
	if n == nil {
		return nil
	}
	f := float64(*n)
	return &f
}

func (s site) bounds(o, n schema.Layers) {
	for _, b := range limits {
		was, is := o.Strictest(b.of, b.lower), n.Strictest(b.of, b.lower)
		if is != nil && (was == nil || *is != *was && (*is > *was) == b.lower) {
			s.add("BOUND_TIGHTENED", "%s was %s, and is %s", b.name, number(was), number(is))
		}
	}
	s.exclusive("minimum", o, n, func(s *model.Schema) (*float64, bool) { return s.Minimum, s.ExclusiveMinimum })
	s.exclusive("maximum", o, n, func(s *model.Schema) (*float64, bool) { return s.Maximum, s.ExclusiveMaximum })
	step := func(s *model.Schema) *float64 { return s.MultipleOf }
	if was, is := o.Strictest(step, true), n.Strictest(step, true); is != nil && (was == nil || *was != *is) {
		s.add("BOUND_TIGHTENED", "multipleOf was %s, and is %s", number(was), number(is))
	}
}

func (s site) exclusive(name string, o, n schema.Layers, of func(*model.Schema) (*float64, bool)) {
	find := func(layers schema.Layers) (*float64, bool) {
		for _, layer := range layers {
			if x, exclusive := of(layer.Schema); x != nil {
				return x, exclusive
			}
		}
		return nil, false
	}
	was, wasOut := find(o)
	is, isOut := find(n)
	if was != nil && is != nil && *was == *is && isOut && !wasOut {
		s.add("BOUND_TIGHTENED", "the %s %s was taken, and is not any more", name, number(is))
	}
}

func number(f *float64) string {
	if f == nil {
		return "none"
	}
	return strconv.FormatFloat(*f, 'g', -1, 64)
}

func (s site) rules(o, n schema.Layers) {
	for _, p := range missing(n.Patterns(), o.Patterns()) {
		if was := missing(o.Patterns(), n.Patterns()); len(was) > 0 {
			s.add("PATTERN_CHANGED", "the pattern was %s, and is %s", was[0], p)
		} else {
			s.add("PATTERN_CHANGED", "the pattern is new: %s", p)
		}
	}
	immutable := func(s *model.Schema) bool { return s.Immutable || s.Rule(model.Immutable) != nil }
	if n.Flag(immutable) && !o.Flag(immutable) {
		s.add("FIELD_BECAME_IMMUTABLE", "the value could be changed, and can't be any more")
	}
	s.each("VALIDATION_ADDED", otherRules(n), otherRules(o), "the rule is new: %s")
}

func parts(s *model.Schema) []string {
	var out []string
	add := func(what, name string, inner *model.Schema) {
		if inner == nil {
			return
		}
		for _, r := range inner.Rules {
			if r.Check == model.Optional {
				continue // nothing is asked
			}
			out = append(out, strings.TrimSpace(what+" "+name+": "+string(r.Check)+" "+r.Text+" "+
				""+strings.Join(r.Values, " ")))
		}
	}
	add("keys", "", s.Keys)
	for _, p := range s.Subfields {
		add("field", p.Name, p.Schema)
	}
	for _, p := range s.Elements {
		add("item", fmt.Sprint(p.Keys), p.Schema)
	}
	for _, p := range s.Modes {
		add("mode", p.Name, p.Schema)
	}
	return out
}
