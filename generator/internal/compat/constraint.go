package compat

import (
	"fmt"
	"strconv"
	"strings"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
)

// limits are the checks of bounds, and whether each is a lower one.
var limits = []struct {
	check model.Check
	lower bool
}{
	{model.Minimum, true}, {model.Maximum, false}, {model.MinLength, true}, {model.MaxLength, false},
	{model.MinItems, true}, {model.MaxItems, false}, {model.MinProperties, true}, {model.MaxProperties, false},
}

func (s site) bounds(o, n schema.Layers) {
	for _, b := range limits {
		was, is := o.Strictest(b.check, b.lower), n.Strictest(b.check, b.lower)
		if is != nil && (was == nil || *is != *was && (*is > *was) == b.lower) {
			s.add("BOUND_TIGHTENED", "%s was %s, and is %s", b.check, number(was), number(is))
		}
	}
	s.exclusive(model.Minimum, o, n, func(s *model.Schema) bool { return s.ExclusiveMinimum })
	s.exclusive(model.Maximum, o, n, func(s *model.Schema) bool { return s.ExclusiveMaximum })
	was, is := o.Strictest(model.MultipleOf, true), n.Strictest(model.MultipleOf, true)
	if is != nil && (was == nil || *was != *is) {
		s.add("BOUND_TIGHTENED", "multipleOf was %s, and is %s", number(was), number(is))
	}
}

func (s site) exclusive(check model.Check, o, n schema.Layers, excludes func(*model.Schema) bool) {
	find := func(layers schema.Layers) (*float64, bool) {
		for _, layer := range layers {
			if x := layer.Limit(check); x != nil {
				return x, excludes(layer.Schema)
			}
		}
		return nil, false
	}
	was, wasOut := find(o)
	is, isOut := find(n)
	if was != nil && is != nil && *was == *is && isOut && !wasOut {
		s.add("BOUND_TIGHTENED", "the %s %s was taken, and is not any more", check, number(is))
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
