package validation

import (
	"slices"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan/check"
	"apigen.dev/generator/internal/schema"
)

// unkept warns of rules about fields that clients may leave out, and that clients in Go always send, as the fields have
// no omitempty.
func unkept(out *diag.Errors, t *model.Type) {
	for _, f := range t.Fields {
		if !mayBeAbsent(f) {
			continue
		}
		name := t.Name + "." + f.Name
		zero := zeroText(f.Type)
		switch d, rule := schema.DefaultOf(f), refusing(f, map[*model.Type]bool{}); {
		case d != nil && (d.Ref != nil || d.JSON != zero) && f.Type.Form == model.Basic:
			out.Add(f.Pos, "%s has a default and no omitempty: Go clients that set nothing send %s, which the server "+
				"keeps, as in a custom resource: write `json:\"%s,omitempty\"`, or make it a pointer",
				name, zero, f.JSON)
		case d == nil && rule != nil:
			out.Add(f.Pos, "%s is optional and has no omitempty: Go clients that set nothing send %s, which +%s "+
				"refuses: write `json:\"%s,%s\"`, or make it a pointer", name, zero, rule.Marker, f.JSON,
				omission(f.Type))
		}
	}
}

// mayBeAbsent reports whether clients may leave out a field that encoding/json always writes.
func mayBeAbsent(f *model.Field) bool {
	if f.OmitEmpty || f.Ignored || f.Inline || f.Embedded || f.JSON == "" {
		return false
	}
	if f.Type.Form != model.Basic && f.Type.Form != model.Struct {
		return false
	}
	return f.Schema.Optional || !f.Schema.Required && schema.DefaultOf(f) != nil
}

// refusing returns a rule that refuses the zero value of a field, or a zero value that the JSON of a zero struct has.
func refusing(f *model.Field, seen map[*model.Type]bool) *model.Rule {
	if slices.ContainsFunc(f.Schema.Rules, func(r model.Rule) bool { return r.Declarative }) {
		return nil
	}
	if rule, _ := check.RefusesZero(f); rule != nil || f.Type.Form != model.Struct || seen[f.Type] ||
		schema.KnownAs(f.Type) != "" {
		return rule
	}
	seen[f.Type] = true
	for _, inner := range f.Type.Fields {
		if inner.OmitEmpty || inner.Ignored || schema.DefaultOf(inner) != nil {
			continue
		}
		if rule := refusing(inner, seen); rule != nil {
			return rule
		}
	}
	return nil
}

// zeroText is the JSON of a zero value.
func zeroText(t *model.Type) string {
	switch {
	case model.IsString(t):
		return `""`
	case model.IsBool(t):
		return "false"
	case t.Form == model.Struct:
		return "an object of zero values"
	}
	return "0"
}

func omission(t *model.Type) string {
	if t.Form == model.Struct {
		return "omitzero"
	}
	return "omitempty"
}
