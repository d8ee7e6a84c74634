package validation

import (
	"slices"

	"apigen.dev/generator/model"
	"apigen.dev/generator/schema"
)

// applies reports whether the server can check a rule on values of a type, which is no pointer. It is false for rules
// about a field as a whole, and for rules about several fields.
func applies(r *model.Rule, t *model.Type) bool {
	if half := halfOf(r, t); half != nil {
		t = half
	}
	switch r.Check {
	case model.Minimum, model.Maximum:
		return numeric(t) && (integral(r.Text) || !integer(t)) && !vacuous(r, t)
	case model.MultipleOf:
		return numeric(t) && (integral(r.Text) || !integer(t))
	case model.Monotonic:
		return integer(t)
	case model.MinLength, model.MaxLength:
		return isString(t) || t.IsBytes() && !r.Declarative
	case model.MaxBytes, model.Pattern:
		return isString(t)
	case model.Format:
		return isString(t) && knownFormat(r.Text)
	case model.Enum:
		return isString(t) || integer(t) && !r.Declarative
	case model.NotEqual:
		return t.Form == model.Basic
	case model.MinItems, model.MaxItems, model.Unique:
		return t.Form == model.Slice && !t.IsBytes()
	case model.MinProperties, model.MaxProperties:
		return t.Form == model.Map || t.Form == model.Struct && !r.Declarative && !opaqueJSON(t)
	case model.OneOf:
		return t.Form == model.Struct
	case model.Immutable, model.Update:
		return true
	}
	return false
}

// applies is the function of that name for kinds of the graph's package.
func (g *graph) applies(r *model.Rule, t *model.Type) bool {
	if g.builtIn && r.Check == model.Unique && !r.Declarative {
		return false
	}
	return applies(r, t)
}

// effective reports whether a schema has checks for values of a type.
func (g *graph) effective(t *model.Type, s *model.Schema) bool {
	t = t.Pointee()
	if s == nil || t == nil {
		return false
	}
	if slices.ContainsFunc(s.Rules, func(r model.Rule) bool { return g.applies(&r, t) }) {
		return true
	}
	if t.Elem != nil && !t.IsBytes() && s.Items != nil && g.effective(t.Elem, s.Items) ||
		t.Form == model.Map && s.Keys != nil && g.effective(t.Key, s.Keys) {
		return true
	}
	switch t.Form {
	case model.Slice:
		checked := func(p model.Part) bool { return g.effective(t.Elem, p.Schema) }
		unions, _ := elementUnions(value{typ: t}, s)
		return len(unions) > 0 || slices.ContainsFunc(s.Elements, checked)
	case model.Struct:
		return len(subfieldUnions(t, s)) > 0 || slices.ContainsFunc(s.Subfields, func(p model.Part) bool {
			f := fieldByJSON(t, p.Name)
			return f != nil && g.fieldEffective(subfield(f, p))
		})
	}
	return false
}

// fieldEffective is effective for a field, whose presence may be checked, too.
func (g *graph) fieldEffective(f *model.Field) bool {
	s := &f.Schema
	if missing(f) || s.Rule(model.Forbidden) != nil || s.Rule(model.DependentRequired) != nil ||
		s.Rule(model.DependentForbidden) != nil {
		return true
	}
	return g.effective(f.Type, s) || len(s.Modes) > 0
}

// subfield returns the field with the rules that a part of its parent has for it, and no others.
func subfield(f *model.Field, p model.Part) *model.Field {
	out := *f
	out.Schema = *p.Schema
	out.Schema.Opaque = true
	out.OmitEmpty = f.OmitEmpty && !p.Schema.Required
	return &out
}

// missing reports whether the field is required and has a value that counts as absent. A required field of a custom
// resource may have its zero value, so that only fields that can be nil may be absent. Kubernetes' own grammar treats a
// zero value as absent.
func missing(f *model.Field) bool {
	yes, declarative := schema.Checked(f)
	if !yes {
		return false
	}
	switch f.Type.Form {
	case model.Pointer, model.Slice, model.Map, model.Interface:
		return declarative || !f.Schema.Nullable
	case model.Basic:
		return declarative
	}
	return false
}

// optional reports whether an unset value is not checked.
func optional(f *model.Field) bool {
	if yes, declarative := schema.Checked(f); yes && declarative {
		return false
	}
	if f.Type.Form == model.Struct {
		return f.Schema.Optional && len(f.Schema.Subfields) == 0 && !hasDeclarativeRules(f.Type)
	}
	return f.Schema.Optional || !f.Schema.Required && f.OmitEmpty
}

// hasDeclarativeRules reports whether fields of a struct have rules of Kubernetes' own grammar: these apply to a struct
// that is no pointer even where it is zero.
func hasDeclarativeRules(t *model.Type) bool {
	for _, f := range t.Fields {
		ruled := func(r model.Rule) bool { return r.Declarative && r.Check != model.Optional }
		if slices.ContainsFunc(f.Schema.Rules, ruled) || f.Type.Form == model.Struct && hasDeclarativeRules(f.Type) {
			return true
		}
	}
	return false
}

func fieldByJSON(t *model.Type, name string) *model.Field {
	if t = t.Pointee(); t == nil || t.Form != model.Struct {
		return nil
	}
	for _, f := range t.Fields {
		if f.JSON == name && !f.Ignored && !f.Inline {
			return f
		}
	}
	return nil
}

var (
	plainString = &model.Type{Form: model.Basic, Basic: "string"}
	plainInt32  = &model.Type{Form: model.Basic, Basic: "int32"}
)

// halfOf returns the half of an IntOrString to which a rule applies, or nil for other types and rules.
func halfOf(r *model.Rule, t *model.Type) *model.Type {
	if schema.KnownAs(t) != schema.IntOrStr {
		return nil
	}
	switch r.Check {
	case model.Minimum, model.Maximum, model.MultipleOf:
		return plainInt32
	case model.MinLength, model.MaxLength, model.Pattern, model.Format:
		return plainString
	}
	return nil
}

func isString(t *model.Type) bool { return t.Form == model.Basic && t.Basic == "string" }

func numeric(t *model.Type) bool { return integer(t) || isFloat(t) }

func isFloat(t *model.Type) bool {
	return t.Form == model.Basic && schema.Basics[t.Basic].JSON == schema.Number
}

func integer(t *model.Type) bool {
	return t.Form == model.Basic && schema.Basics[t.Basic].JSON == schema.Integer
}

// opaqueJSON reports whether the JSON of a struct differs from its fields.
func opaqueJSON(t *model.Type) bool {
	return t.SchemaType != "" || t.Methods["MarshalJSON"] != nil
}

// direct reports whether == compares values of the type.
func direct(t *model.Type) bool {
	switch t.Form {
	case model.Basic, model.Pointer:
		return true
	case model.Array:
		return direct(t.Elem)
	case model.Struct:
		for _, f := range t.Fields {
			// A pointer inside would be compared by where it points to.
			if f.Type.Form == model.Pointer || !direct(f.Type) {
				return false
			}
		}
		return t.SchemaType == "" && t.Methods["Equal"] == nil && t.Methods["Cmp"] == nil
	}
	return false
}
