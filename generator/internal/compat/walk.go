package compat

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
)

// walk compares the objects of a kind in one version. It compares each pair of structs once: a change in a struct that
// a kind holds in several places is reported at the first of them.
type walk struct {
	*diff
	seen map[pair]bool
}

type pair struct{ old, new *schema.Type }

func (w walk) object(here place, was, is *schema.Type) {
	if w.seen[pair{was, is}] {
		return
	}
	w.seen[pair{was, is}] = true
	before, after := fields(was), fields(is)
	renamed := renames(before, after)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		o, n := before[name], after[name]
		there := below(here, name, o.Go.Pos)
		switch {
		case n != nil:
			there.pos = orAbove(n.Go.Pos, here.pos)
			w.field(there, o, n)
		case renamed[name] != "":
			w.at(there).add("FIELD_RENAMED", "%s is called %s now", name, renamed[name])
		default:
			w.at(there).add("FIELD_REMOVED", "%s is gone", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if n := after[name]; before[name] == nil && !slices.Contains(slices.Collect(maps.Values(renamed)), name) {
			there := below(here, name, model.Position{})
			there.pos = orAbove(n.Go.Pos, here.pos)
			if n.Required {
				w.at(there).add("REQUIRED_FIELD_ADDED", "%s is new, and required", name)
			} else {
				w.at(there).add("FIELD_ADDED", "%s is new", name)
			}
		}
	}
}

func below(here place, name string, old model.Position) place {
	if here.path != "" {
		name = here.path + "." + name
	}
	here.path, here.old = name, orAbove(old, here.old)
	return here
}

// orAbove returns a position, or the one above it where the first is invalid: fields of dependencies have no position.
func orAbove(pos, above model.Position) model.Position {
	if pos.IsValid() {
		return pos
	}
	return above
}

// renames returns the fields whose Go name stayed and whose JSON name changed: the old names, each with the new one.
func renames(before, after map[string]*schema.Property) map[string]string {
	out := map[string]string{}
	for name, o := range before {
		if after[name] != nil {
			continue
		}
		for other, n := range after {
			if before[other] == nil && n.Go.Name == o.Go.Name && n.Value().JSON == o.Value().JSON {
				out[name] = other
			}
		}
	}
	return out
}

func (w walk) field(here place, o, n *schema.Property) {
	s := w.at(here)
	switch {
	case n.Required && !o.Required:
		s.add("FIELD_BECAME_REQUIRED", "%s could be left out, and is required", n.Go.JSON)
	case o.Required && !n.Required && n.Default == nil:
		s.add("FIELD_BECAME_OPTIONAL", "%s was always there, and may be missing", o.Go.JSON)
	}
	s.defaults(defaultOf(o), defaultOf(n))
	s.changed("PATCH_STRATEGY_CHANGED", "patch strategy", patchStrategy(o), patchStrategy(n), "none")
	w.value(here, o.Value(), n.Value())
}

func (s site) defaults(was, is string) {
	switch {
	case was == is:
	case is == "":
		s.add("DEFAULT_REMOVED", "the default %s is gone", was)
	case was == "":
		s.add("DEFAULT_ADDED", "the default is %s", is)
	default:
		s.add("DEFAULT_CHANGED", "the default was %s, and is %s", was, is)
	}
}

func (w walk) value(here place, o, n schema.Value) {
	s := w.at(here)
	s.changed("TYPE_CHANGED", "type", string(o.JSON), string(n.JSON), "")
	if o.JSON != n.JSON {
		return
	}
	switch {
	case n.Bits < o.Bits:
		s.add("INTEGER_NARROWED", "the number had %d bits, and has %d", o.Bits, n.Bits)
	case n.Bits > o.Bits:
		s.add("INTEGER_WIDENED", "the number had %d bits, and has %d", o.Bits, n.Bits)
	}
	s.changed("FORMAT_CHANGED", "format", o.Format, n.Format, "none")
	s.nulls(o.Layers, n.Layers)
	s.enums(enum(o.Layers), enum(n.Layers))
	s.bounds(o.Layers, n.Layers)
	s.rules(o.Layers, n.Layers)
	s.merging(o.Layers, n.Layers)
	if o.Type == nil || n.Type == nil || !o.Type.Structural || !n.Type.Structural {
		return
	}
	switch o.JSON {
	case schema.Object:
		w.object(here, o.Type, n.Type)
	case schema.List:
		w.elements(here, "[]", o, n)
	case schema.Map:
		w.elements(here, "{}", o, n)
	}
}

// elements compares the elements of two lists or maps, unless they are being compared: type Tree map[string]Tree.
func (w walk) elements(here place, suffix string, o, n schema.Value) {
	types := pair{o.Type, n.Type}
	if w.seen[types] {
		return
	}
	w.seen[types] = true
	here.path += suffix
	w.value(here, o.Elem(), n.Elem())
	delete(w.seen, types)
}

func (s site) nulls(o, n schema.Layers) {
	nullable := func(s *model.Schema) bool { return s.Nullable }
	switch was, is := o.Flag(nullable), n.Flag(nullable); {
	case was && !is:
		s.add("NULL_REFUSED", "null was taken, and is not any more")
	case is && !was:
		s.add("NULL_ALLOWED", "null is taken")
	}
	keeps := func(s *model.Schema) bool { return s.PreserveUnknownFields }
	if o.Flag(keeps) && !n.Flag(keeps) {
		s.add("UNKNOWN_FIELDS_DROPPED", "unknown fields were kept, and are dropped")
	}
}

func (s site) enums(was, is []string) {
	switch {
	case len(was) == 0 && len(is) == 0:
	case len(is) == 0:
		s.add("ENUM_LIFTED", "only %s were taken, and any value is", strings.Join(was, ", "))
	case len(was) == 0:
		s.add("ENUM_INTRODUCED", "any value was taken, and only %s are", strings.Join(is, ", "))
	default:
		s.each("ENUM_VALUE_REMOVED", was, is, "the value %s is gone")
		s.each("ENUM_VALUE_ADDED", is, was, "the value %s is new")
	}
}

func (s site) merging(o, n schema.Layers) {
	list := func(s *model.Schema) string { return s.ListType }
	keys := func(s *model.Schema) string { return strings.Join(s.ListMapKeys, ", ") }
	object := func(s *model.Schema) string { return s.MapType + s.StructType }
	was, is := cmp.Or(o.Text(list), "atomic"), cmp.Or(n.Text(list), "atomic")
	s.changed("LIST_TYPE_CHANGED", "list type", was, is, "")
	if before, after := o.Text(keys), n.Text(keys); was == is && before != after {
		s.add("LIST_MAP_KEYS_CHANGED", "the keys were %s, and are %s", cmp.Or(before, "none"), cmp.Or(after, "none"))
	}
	was, is = cmp.Or(o.Text(object), "granular"), cmp.Or(n.Text(object), "granular")
	s.changed("MAP_TYPE_CHANGED", "map type", was, is, "")
}

// covered holds the checks that have a rule of their own in the table.
var covered = map[model.Check]bool{
	model.Required: true, model.Optional: true, model.Minimum: true, model.Maximum: true, model.MultipleOf: true,
	model.MinLength: true, model.MaxLength: true, model.MinItems: true, model.MaxItems: true, model.MinProperties: true,
	model.MaxProperties: true, model.Pattern: true, model.Enum: true, model.Immutable: true, model.Format: true,
}

// otherRules returns the rules of a value that can only be added or removed, in words for readers.
func otherRules(layers schema.Layers) []string {
	var out []string
	add := func(s string) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, s := range layers {
		for _, r := range s.Rules {
			if listType := r.Check == model.Unique && r.Text == s.ListType; !listType && !covered[r.Check] {
				words := slices.DeleteFunc(append([]string{string(r.Check), r.Text}, r.Values...),
					func(word string) bool { return word == "" })
				add(strings.Join(words, " "))
			}
		}
		for _, c := range s.CEL {
			add("CEL " + c.Rule)
		}
		if s.UniqueItems {
			add("uniqueItems")
		}
		for _, part := range parts(s.Schema) {
			add(part)
		}
	}
	return out
}

func enum(layers schema.Layers) []string {
	values := layers.Enum()
	for i, value := range values {
		values[i] = schema.Canonical(value)
	}
	return values
}

func fields(t *schema.Type) map[string]*schema.Property {
	out := map[string]*schema.Property{}
	for _, p := range t.Properties() {
		out[p.Go.JSON] = p
	}
	return out
}

func defaultOf(f *schema.Property) string {
	switch d := f.Default; {
	case d == nil:
		return ""
	case d.Ref == nil || d.JSON != "":
		return schema.Canonical(d.JSON)
	default:
		return fmt.Sprintf("%q", d.Ref.Path+"."+d.Ref.Name)
	}
}

// patchStrategy returns the strategy and the key by which strategic merge patches merge a field.
func patchStrategy(f *schema.Property) string {
	return strings.TrimSpace(f.Go.Schema.PatchStrategy + " " + f.Go.Schema.PatchMergeKey)
}
