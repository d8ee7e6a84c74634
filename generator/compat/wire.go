package compat

import (
	"fmt"
	"slices"
	"strings"

	"apigen.dev/generator/model"
	"apigen.dev/generator/schema"
)

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

// enum returns the values that a field takes, as canonical JSON; nil where it takes any value.
func enum(layers schema.Layers) []string {
	values := layers.Enum()
	for i, value := range values {
		values[i] = schema.Canonical(value)
	}
	return values
}

// fields returns the properties of a struct by their JSON names.
func fields(t *schema.Type) map[string]*schema.Property {
	out := map[string]*schema.Property{}
	for _, p := range t.Properties() {
		out[p.Go.JSON] = p
	}
	return out
}

// defaultOf returns the default of a field as JSON; it is empty where the field has none.
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
