package compat

import (
	"fmt"
	"slices"
	"strings"

	"apigen.dev/generator/model"
	"apigen.dev/generator/schema"
)

// elsewhere are the checks that have a rule of their own here.
var elsewhere = map[model.Check]bool{
	model.Required: true, model.Optional: true, model.Minimum: true, model.Maximum: true, model.MultipleOf: true,
	model.MinLength: true, model.MaxLength: true, model.MinItems: true, model.MaxItems: true, model.MinProperties: true,
	model.MaxProperties: true, model.Pattern: true, model.Enum: true, model.Immutable: true, model.Format: true,
}

// others are the rules of a value that are only there or not, as a reader would say them.
func others(layers schema.Layers) []string {
	var out []string
	add := func(s string) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, s := range layers {
		for _, r := range s.Rules {
			if listType := r.Check == model.Unique && r.Text == s.ListType; !listType && !elsewhere[r.Check] {
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

// enum are the values that are taken, as JSON in one form; nil where any value is.
func enum(layers schema.Layers) []string {
	values := layers.Enum()
	for i, value := range values {
		values[i] = schema.Canonical(value)
	}
	return values
}

// fields are the properties of a struct by their JSON names.
func fields(t *schema.Type) map[string]*schema.Property {
	out := map[string]*schema.Property{}
	for _, p := range t.Properties() {
		out[p.Go.JSON] = p
	}
	return out
}

// defaultOf is the default of a field as JSON; empty where there is none.
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

// patchStrategy is how strategic merge patches treat a field.
func patchStrategy(f *schema.Property) string {
	return strings.TrimSpace(f.Go.Schema.PatchStrategy + " " + f.Go.Schema.PatchMergeKey)
}
