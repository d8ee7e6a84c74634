package compat

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"apigen.dev/generator/model"
)

// walk compares the objects of a kind in one version, each pair of structs once: a change in a struct that a kind holds in
// several places is told at the first of them.
type walk struct {
	*diff
	seen map[pair]bool
}

type pair struct{ old, new *model.Type }

// object compares two structs.
func (w walk) object(here place, was, is *model.Type) {
	if w.seen[pair{was, is}] {
		return
	}
	w.seen[pair{was, is}] = true
	before, after := fields(w.before, was), fields(w.after, is)
	renamed := renames(before, after)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		o, n := before[name], after[name]
		there := below(here, name, o.Pos)
		switch {
		case n != nil:
			there.pos = known(n.Pos, here.pos)
			w.field(there, o, n)
		case renamed[name] != "":
			w.at(there).add(fieldRenamed, fmt.Sprintf("%s is called %s now", name, renamed[name]))
		default:
			w.at(there).add(fieldRemoved, name+" is gone")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if n := after[name]; before[name] == nil && !slices.Contains(slices.Collect(maps.Values(renamed)), name) {
			there := below(here, name, model.Position{})
			there.pos = known(n.Pos, here.pos)
			w.added(there, n)
		}
	}
}

func below(here place, name string, old model.Position) place {
	if here.path != "" {
		name = here.path + "." + name
	}
	here.path, here.old = name, known(old, here.old)
	return here
}

// known is a position, or the one above it where there is none: fields of dependencies have none.
func known(pos, above model.Position) model.Position {
	if pos.IsValid() {
		return pos
	}
	return above
}

// renames are fields whose Go field is the same and whose JSON name is another: old to new.
func renames(before, after map[string]*field) map[string]string {
	out := map[string]string{}
	for name, o := range before {
		if after[name] != nil {
			continue
		}
		for other, n := range after {
			if before[other] == nil && n.Name == o.Name && n.value.typ == o.value.typ {
				out[name] = other
			}
		}
	}
	return out
}

func (w walk) added(here place, n *field) {
	if n.required {
		w.at(here).add(requiredAdded, n.JSON+" is new, and required")
		return
	}
	w.at(here).add(fieldAdded, n.JSON+" is new")
}

// field compares two states of a field, and what is in it.
func (w walk) field(here place, o, n *field) {
	s := w.at(here)
	switch {
	case n.required && !o.required:
		s.add(becameRequired, n.JSON+" could be left out, and is required")
	case o.required && !n.required && n.fallback == "":
		s.add(becameOptional, o.JSON+" was always there, and may be missing")
	}
	s.defaults(o, n)
	if was, is := o.patch(), n.patch(); was != is {
		s.add(patchChanged, fmt.Sprintf("the patch strategy was %s, and is %s", said(was), said(is)))
	}
	w.value(here, o.value, n.value)
}

func (s site) defaults(o, n *field) {
	switch {
	case o.fallback == n.fallback:
	case n.fallback == "":
		s.add(defaultRemoved, "the default "+o.fallback+" is gone")
	case o.fallback == "":
		s.add(defaultAdded, "the default is "+n.fallback)
	default:
		s.add(defaultChanged, fmt.Sprintf("the default was %s, and is %s", o.fallback, n.fallback))
	}
}

func said(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// value compares two values, and what is in them.
func (w walk) value(here place, o, n value) {
	s := w.at(here)
	if o.typ != n.typ {
		s.add(typeChanged, fmt.Sprintf("the type was %s, and is %s", o.typ, n.typ))
		return
	}
	s.numbers(o, n)
	if o.format != n.format {
		s.add(formatChanged, fmt.Sprintf("the format was %s, and is %s", said(o.format), said(n.format)))
	}
	s.nulls(o, n)
	s.enums(o, n)
	s.bounds(o, n)
	s.rules(o, n)
	s.merging(o, n)
	if o.of == nil || n.of == nil {
		return
	}
	switch o.typ {
	case "object":
		w.object(here, o.of, n.of)
	case "array":
		here.path += "[]"
		w.value(here, valueOf(o.of, o.items()...), valueOf(n.of, n.items()...))
	case "map":
		here.path += "{}"
		w.value(here, valueOf(o.of, o.items()...), valueOf(n.of, n.items()...))
	}
}

func (s site) numbers(o, n value) {
	switch {
	case n.bits < o.bits:
		s.add(integerNarrowed, fmt.Sprintf("the number had %d bits, and has %d", o.bits, n.bits))
	case n.bits > o.bits:
		s.add(integerWidened, fmt.Sprintf("the number had %d bits, and has %d", o.bits, n.bits))
	}
}

func (s site) nulls(o, n value) {
	nullable := func(s *model.Schema) bool { return s.Nullable }
	switch was, is := o.flag(nullable), n.flag(nullable); {
	case was && !is:
		s.add(nullRefused, "null was taken, and is not any more")
	case is && !was:
		s.add(nullAllowed, "null is taken")
	}
	keeps := func(s *model.Schema) bool { return s.PreserveUnknownFields }
	if o.flag(keeps) && !n.flag(keeps) {
		s.add(unknownPruned, "unknown fields were kept, and are dropped")
	}
}

func (s site) enums(o, n value) {
	was, is := o.enum(), n.enum()
	switch {
	case len(was) == 0 && len(is) == 0:
	case len(is) == 0:
		s.add(enumLifted, "only "+strings.Join(was, ", ")+" were taken, and any value is")
	case len(was) == 0:
		s.add(enumIntroduced, "any value was taken, and only "+strings.Join(is, ", ")+" are")
	default:
		for _, gone := range missing(was, is) {
			s.add(enumRemoved, "the value "+gone+" is gone")
		}
		for _, added := range missing(is, was) {
			s.add(enumAdded, "the value "+added+" is new")
		}
	}
}

// merging compares how server-side apply merges a value.
func (s site) merging(o, n value) {
	list := func(s *model.Schema) string { return s.ListType }
	keys := func(s *model.Schema) string { return strings.Join(s.ListMapKeys, ", ") }
	object := func(s *model.Schema) string { return s.MapType + s.StructType }
	if was, is := orElse(o.text(list), "atomic"), orElse(n.text(list), "atomic"); was != is {
		s.add(listTypeChanged, fmt.Sprintf("the list type was %s, and is %s", was, is))
	} else if was, is := o.text(keys), n.text(keys); was != is {
		s.add(listKeysChanged, fmt.Sprintf("the keys were %s, and are %s", said(was), said(is)))
	}
	if was, is := orElse(o.text(object), "granular"), orElse(n.text(object), "granular"); was != is {
		s.add(mapTypeChanged, fmt.Sprintf("the map type was %s, and is %s", was, is))
	}
}

func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}
