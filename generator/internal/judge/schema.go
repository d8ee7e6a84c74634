package judge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

// schema judges the schema of values of a type. Owner is the struct that the value is a field of, or nil.
func (r *checker) schema(t *model.Type, s *model.Schema, owner *model.Type, name string) {
	at, kept := t.Pointee(), new(*s)
	kept.Rules = nil
	for _, rule := range s.Rules {
		before := len(r.findings)
		if r.accepts(&rule, at, s, name) {
			kept.Rules = append(kept.Rules, rule)
			continue
		}
		clearKeyword(kept, rule.Check)
		r.findings[before].Omit = func() {
			s.Rules = slices.DeleteFunc(s.Rules, func(other model.Rule) bool {
				return other.Check == rule.Check && other.Pos == rule.Pos
			})
			clearKeyword(s, rule.Check)
		}
	}
	r.kept[s] = kept
	r.keys(at, kept, name)
	all := kept.Rules
	if owner != nil {
		all = r.rulesAt(kept, at)
	}
	if pos, message := disorder(kept.Rules, all); message != "" {
		r.faultf(pos, "%s", message)
	}
	r.parts(at, kept, name)
}

// rulesAt returns the rules of a place, and those of the type of its values.
func (r *checker) rulesAt(s *model.Schema, t *model.Type) []model.Rule {
	if t = t.Pointee(); t == nil || t.Name == "" {
		return r.of(s).Rules
	}
	return slices.Concat(r.of(s).Rules, r.of(&t.Schema).Rules)
}

// nullable reports a field whose +nullable says nothing: an enumeration without null refuses it.
func (r *checker) nullable(f *model.Field) {
	if !f.Schema.Nullable {
		return
	}
	for _, rule := range r.rulesAt(&f.Schema, f.Type) {
		if rule.Check == model.Enum && !rule.Declarative && !slices.Contains(rule.Values, "null") {
			r.warnf(f.Pos, "+nullable of %s has no effect, since null is none of the values of +%s: leave it out",
				f.Name, rule.Marker)
			r.omit(func() { f.Schema.Nullable = false })
			return
		}
	}
}

// inlined reports a rule about the number of members of a struct that another one inlines: in a definition, it would
// count those of the outer one.
func (r *checker) inlined(t *model.Type, f *model.Field) {
	of := f.Type.Pointee()
	if !f.Inline || f.Ignored || of == nil || of.Form != model.Struct {
		return
	}
	for _, rule := range r.of(&of.Schema).Rules {
		if rule.Declarative || rule.Check != model.MinProperties && rule.Check != model.MaxProperties {
			continue
		}
		r.faultf(f.Pos, "%s inlines %s, so that +%s of that counts the fields of both: put the marker on %s",
			cmp.Or(t.Name, "the struct"), of.Name, rule.Marker, cmp.Or(t.Name, "the field of the struct"))
	}
}

// parts judges what a schema says of parts of a value.
func (r *checker) parts(t *model.Type, s *model.Schema, name string) {
	var elem, key *model.Type
	if t != nil {
		elem, key = t.Elem, t.Key
	}
	for _, part := range []struct {
		schema     *model.Schema
		of         *model.Type
		name, want string
	}{{s.Items, elem, "an element of ", "lists and maps"}, {s.Keys, key, "a key of ", "maps"}} {
		switch {
		case part.schema == nil:
		case part.of != nil || flexible(t, s):
			r.schema(part.of, part.schema, nil, part.name+name)
		default:
			for _, rule := range part.schema.Rules {
				r.rulef(&rule, " here is for the parts of %s, and %s is %s", part.want, name, t.Describe())
			}
		}
	}
	for _, p := range s.Subfields {
		f := fieldNamed(t, p.Name)
		if f == nil && t.Ambiguous() {
			continue
		}
		if f == nil {
			r.faultf(p.Pos, "marker \"+k8s:subfield\": %s has no field %q", name, p.Name)
			continue
		}
		r.schema(f.Type, p.Schema, nil, f.Name)
	}
	for _, p := range s.Elements {
		for _, k := range p.Keys {
			if fieldNamed(elem, k.Key) == nil && !elem.Ambiguous() {
				r.faultf(p.Pos, "marker \"+k8s:item\": an element of %s has no field %q", name, k.Key)
			}
		}
		isMap := func(r model.Rule) bool { return r.Check == model.Unique && r.Text == "map" }
		if s.ListType != "map" && t != nil && r.of(&t.Schema).ListType != "map" &&
			!slices.ContainsFunc(s.Rules, isMap) {
			r.faultf(p.Pos, "marker \"+k8s:item\" picks an element by its keys, and %s is no list of type map: add "+
				"+k8s:listType=map and +k8s:listMapKey=<field>", name)
		}
	}
}

// siblings judges the rules of a field that refer to its siblings.
func (r *checker) siblings(owner *model.Type, f *model.Field) {
	for _, rule := range r.of(&f.Schema).Rules {
		switch rule.Check {
		case model.DependentRequired, model.DependentForbidden:
			if rule.Text == f.JSON || fieldNamed(owner, rule.Text) == nil {
				r.rulef(&rule, ": there is no field %q beside %s", rule.Text, f.Name)
			}
		case model.UnionMember, model.ZeroOrOneOfMember:
			if f.Type.Form == model.Struct {
				r.rulef(&rule, ": %s is a struct, which is always there: make it a pointer", f.Name)
			}
		case model.UnionDiscriminator, model.ModeDiscriminator:
			if at := f.Type.Pointee(); !f.Type.IsString() && (rule.Check == model.UnionDiscriminator || at == nil ||
				at.Form != model.Basic) {
				r.rulef(&rule, " is for strings, and %s is %s", f.Name, at.Describe())
			}
		}
	}
	for _, p := range f.Schema.Modes {
		discriminates := func(x *model.Field) bool {
			return slices.ContainsFunc(r.of(&x.Schema).Rules, func(rule model.Rule) bool {
				return rule.Check == model.ModeDiscriminator && rule.Text == p.Group
			})
		}
		if !slices.ContainsFunc(owner.Fields, discriminates) {
			r.faultf(p.Pos, "marker \"+k8s:ifMode\": no field beside %s is a +k8s:modeDiscriminator", f.Name)
		}
	}
}

var wants = map[model.Check]string{
	model.Minimum: "numbers", model.Maximum: "numbers", model.MultipleOf: "numbers", model.Monotonic: "whole numbers",
	model.MinLength: "strings", model.MaxLength: "strings", model.MaxBytes: "strings", model.Pattern: "strings",
	model.MinItems: "lists", model.MaxItems: "lists", model.Unique: "lists",
	model.MinProperties: "objects", model.MaxProperties: "objects", model.OneOf: "structs",
}

// accepts judges a rule, and reports whether it can be kept, or at least in part: most of an enumeration is better than
// none.
func (r *checker) accepts(rule *model.Rule, t *model.Type, s *model.Schema, name string) bool {
	if want := wants[rule.Check]; want != "" && !flexible(t, s) && !suits(rule, t, want) {
		r.rulef(rule, " is for %s, and %s is %s%s", want, name, t.Describe(), insteadFor(rule, t, want))
		return false
	}
	before := len(r.findings)
	r.rule(rule, t, s, name)
	return len(r.findings) == before || rule.Check == model.Enum || rule.Check == model.Required
}

// clearKeyword takes the OpenAPI keyword of a check from a schema.
func clearKeyword(s *model.Schema, check model.Check) {
	limited := check
	if check == model.MaxBytes {
		limited = model.MaxLength
	}
	s.Limits = maps.Clone(s.Limits) // a schema and what is kept of it share them
	delete(s.Limits, limited)
	switch check {
	case model.Minimum:
		s.ExclusiveMinimum = false
	case model.Maximum:
		s.ExclusiveMaximum = false
	case model.Pattern:
		s.Pattern = ""
	case model.Format:
		s.Format = ""
	case model.Unique:
		s.ListType, s.ListMapKeys, s.UniqueItems = "", nil, false
	}
}

func (r *checker) rule(rule *model.Rule, t *model.Type, s *model.Schema, name string) {
	switch rule.Check {
	case model.Minimum, model.Maximum, model.MultipleOf:
		if message := outOfRange(rule, t); message != "" {
			r.rulef(rule, ": %s", message)
		}
	case model.MinLength, model.MaxLength, model.MaxBytes, model.MinItems, model.MaxItems, model.MinProperties,
		model.MaxProperties:
		if strings.HasPrefix(rule.Text, "-") {
			r.rulef(rule, ": %s is less than nothing", rule.Text)
		}
	case model.Pattern:
		if _, err := regexp.Compile(rule.Text); err != nil {
			r.rulef(rule, ": %v", err)
		}
	case model.Format:
		if rule.Declarative && !t.IsString() && !flexible(t, s) {
			r.rulef(rule, " is for strings, and %s is %s", name, t.Describe())
		} else if rule.Declarative && !slices.Contains(formats, rule.Text) {
			r.rulef(rule, ": unknown format %q: known are %s", rule.Text, strings.Join(formats, ", "))
		}
	case model.Enum:
		r.enum(rule, t, s, name)
	case model.Unique:
		if rule.Text != "set" && rule.Text != "map" {
			r.rulef(rule, ": %q is not set or map", rule.Text)
		}
	case model.Update:
		for _, word := range rule.Values {
			if !slices.Contains(updateWords, word) {
				r.rulef(rule, ": %q is not one of %s", word, strings.Join(updateWords, ", "))
			}
		}
	case model.OneOf:
		for _, field := range rule.Values {
			if fieldNamed(t, field) == nil && !t.Ambiguous() {
				r.rulef(rule, ": %s has no field %q", name, field)
			}
		}
	case model.Required:
		if rule.Declarative && s.Rule(model.Forbidden) != nil {
			r.rulef(rule, ": %s is forbidden, too", name)
		}
	}
}

// The prefixes of controller-gen's markers for values and for the elements of lists.
const (
	values   = "kubebuilder:validation:"
	elements = values + "items:"
)

// insteadFor says how to write a rule that was meant for the elements of a list.
func insteadFor(rule *model.Rule, t *model.Type, want string) string {
	if t.Elem == nil || opaque(t.Elem) || !suits(rule, t.Elem.Pointee(), want) {
		return ""
	}
	if rule.Declarative {
		return fmt.Sprintf(": for its elements, write +k8s:eachVal=+%s=%s", rule.Marker, rule.Text)
	}
	return fmt.Sprintf(": for its elements, write +%s%s=%s", elements, strings.TrimPrefix(rule.Marker, values),
		rule.Text)
}

func (r *checker) enum(rule *model.Rule, t *model.Type, s *model.Schema, name string) {
	if flexible(t, s) {
		return
	}
	if rule.Declarative {
		if !t.IsString() {
			r.rulef(rule, ": the constants of strings are values, and %s is %s", name, t.Describe())
		} else if len(constantsOf(t)) == 0 {
			r.rulef(rule, ": there is no constant of the type")
		}
		return
	}
	if t.Form == model.Slice || t.Form == model.Array {
		r.rulef(rule, ": %s is a list: for its elements, write +%sEnum", name, elements)
		return
	}
	if text := rule.Text; strings.Contains(text, ",") && !strings.ContainsAny(text, ";{[\"'`") {
		r.rulef(rule, ": the values of an enumeration are separated by semicolons: %s",
			strings.ReplaceAll(text, ",", ";"))
		return
	}
	for i, v := range rule.Values {
		if slices.Contains(rule.Values[:i], v) {
			r.rulef(rule, ": %s is there twice", unquoted(v))
		}
		if !fits(v, t) {
			r.rulef(rule, ": %s is no value of %s, which is %s", unquoted(v), name, t.Describe())
		}
	}
}

// unquoted returns the text of a JSON string, and other values as they are.
func unquoted(value string) string {
	var text string
	if json.Unmarshal([]byte(value), &text) == nil {
		return text
	}
	return value
}

// otherKey returns advice for a key that the elements don't have.
func otherKey(elem *model.Type, key string) string {
	if strings.ContainsAny(key, ", ") {
		return ": write +listMapKey= once for each of several keys"
	}
	for _, f := range elem.Fields {
		if f.JSON != "" && (strings.EqualFold(f.JSON, key) || f.Name == key) {
			return fmt.Sprintf(": did you mean %q?", f.JSON)
		}
	}
	return ""
}

func (r *checker) keys(t *model.Type, s *model.Schema, name string) {
	if t != nil && t.Elem != nil && len(s.ListMapKeys) > 0 && s.ListType != "map" &&
		r.of(&t.Schema).ListType != "map" && (s.Rule(model.Unique) == nil || s.ListType == "set") {
		r.faultf(s.ListMapKeysPos, "marker \"+listMapKey\": %s is no list of type map: add +listType=map", name)
	}
	unique := s.Rule(model.Unique)
	if unique == nil || s.ListType != "map" && unique.Text != "map" || t == nil || t.Elem == nil ||
		!unique.Pos.IsValid() {
		return
	}
	keys := s.ListMapKeys
	if len(keys) == 0 {
		keys = r.of(&t.Schema).ListMapKeys
	}
	if len(keys) == 0 {
		r.rulef(unique, ": a list of this type needs its keys: add +listMapKey=<field>")
		return
	}
	elem := t.Elem.Pointee()
	if opaque(elem) {
		return
	}
	if elem.Form != model.Struct {
		r.rulef(unique, ": the elements of %s have no fields to tell them apart by: use set or atomic", name)
		return
	}
	r.keyFields(unique, elem, keys, name)
}

func (r *checker) keyFields(unique *model.Rule, elem *model.Type, keys []string, name string) {
	for i, key := range keys {
		f := fieldNamed(elem, key)
		switch {
		case slices.Contains(keys[:i], key):
			r.rulef(unique, ": the key %q is there twice: remove one", key)
		case elem.Ambiguous():
		case f == nil:
			r.rulef(unique, ": the elements of %s have no field %q, which is their key%s", name, key,
				otherKey(elem, key))
		case !opaque(f.Type.Pointee()) && f.Type.Pointee().Form != model.Basic:
			r.rulef(unique, ": the key %q of the elements of %s is %s, and no plain value", key, name,
				f.Type.Pointee().Describe())
		}
	}
}
