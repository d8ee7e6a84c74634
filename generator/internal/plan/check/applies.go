package check

import (
	"math/big"
	"slices"
	"strconv"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
)

// Applies reports whether the server can check a rule on values of a type, which is not a pointer. It is false for
// rules about a field as a whole, and for rules about several fields.
func Applies(r *model.Rule, t *model.Type) bool {
	if half := HalfOf(r, t); half != nil {
		t = half
	}
	switch r.Check {
	case model.Minimum, model.Maximum:
		return numeric(t) && (Integral(r.Text) || !model.IsInteger(t)) && !vacuous(r, t)
	case model.MultipleOf:
		return numeric(t) && (Integral(r.Text) || !model.IsInteger(t))
	case model.Monotonic:
		return model.IsInteger(t)
	case model.MinLength, model.MaxLength:
		return model.IsString(t) || t.IsBytes() && !r.Declarative
	case model.MaxBytes, model.Pattern:
		return model.IsString(t)
	case model.Format:
		return model.IsString(t) && (Formats[r.Text] != "" || slices.Contains(formats, r.Text))
	case model.Enum:
		return model.IsString(t) || model.IsInteger(t) && !r.Declarative
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

// Applies reports whether the server checks a rule on values of a type of the package, which is not a pointer.
func (g *Functions) Applies(r *model.Rule, t *model.Type) bool {
	if g.builtIn && r.Check == model.Unique && !r.Declarative {
		return false
	}
	return Applies(r, t)
}

// Effective reports whether a schema has checks for values of a type.
func (g *Functions) Effective(t *model.Type, s *model.Schema) bool {
	t = t.Pointee()
	if s == nil || t == nil {
		return false
	}
	if slices.ContainsFunc(s.Rules, func(r model.Rule) bool { return g.Applies(&r, t) }) {
		return true
	}
	if t.Elem != nil && !t.IsBytes() && s.Items != nil && g.Effective(t.Elem, s.Items) ||
		t.Form == model.Map && s.Keys != nil && g.Effective(t.Key, s.Keys) {
		return true
	}
	switch t.Form {
	case model.Slice:
		checked := func(p model.Part) bool { return g.Effective(t.Elem, p.Schema) }
		found, _ := ElementUnions(t, "", s)
		return len(found) > 0 || slices.ContainsFunc(s.Elements, checked)
	case model.Struct:
		return len(SubfieldUnions(t, s)) > 0 || slices.ContainsFunc(s.Subfields, func(p model.Part) bool {
			f := FieldByJSON(t, p.Name)
			return f != nil && g.FieldEffective(Subfield(f, p))
		})
	}
	return false
}

// FieldEffective is effective for a field, whose presence may be checked, too.
func (g *Functions) FieldEffective(f *model.Field) bool {
	s := &f.Schema
	if Missing(f) || s.Rule(model.Forbidden) != nil || s.Rule(model.DependentRequired) != nil ||
		s.Rule(model.DependentForbidden) != nil {
		return true
	}
	return g.Effective(f.Type, s) || len(s.Modes) > 0
}

// NamesType reports whether the checks of a field name its type: those that go by more than whether it is set.
func (g *Functions) NamesType(f *model.Field) bool {
	return g.Effective(f.Type, &f.Schema) || len(f.Schema.Modes) > 0 || !f.Schema.HidesType() && g.Reaches(f.Type) ||
		f.Type.Form == model.Struct && g.FieldEffective(f)
}

// Subfield returns the field with the rules that a part of its parent has for it, and no others.
func Subfield(f *model.Field, p model.Part) *model.Field {
	out := *f
	out.Schema = *p.Schema
	out.Schema.Opaque = true
	out.OmitEmpty = f.OmitEmpty && !p.Schema.Required
	return &out
}

// Missing reports whether the field is required and has a value that counts as absent. A required field of a custom
// resource may have its zero value, so that only fields that can be nil may be absent. Kubernetes' own grammar treats a
// zero value as absent.
func Missing(f *model.Field) bool {
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

// Optional reports whether an unset value is not checked.
func (g *Functions) Optional(f *model.Field) bool {
	if yes, declarative := schema.Checked(f); yes && declarative {
		return false
	}
	if f.Type.Form == model.Struct {
		absent := f.Schema.Optional || g.OmitsZero(f) && !f.Schema.Required &&
			(g.Effective(f.Type, &f.Schema) || g.refusesZero(f.Type, nil))
		return absent && len(f.Schema.Subfields) == 0 && !g.hasDeclarativeRules(f.Type)
	}
	return f.Schema.Optional || !f.Schema.Required && f.OmitEmpty
}

// OmitsZero reports whether the JSON of an object lacks the field if it is zero. encoding/json writes a zero struct
// although its field has omitempty; servers leave it out of kinds that are treated as custom resources.
func (g *Functions) OmitsZero(f *model.Field) bool {
	return f.OmitEmpty && (g.custom || !f.WritesZeroStruct())
}

// refusesZero reports whether the zero value of a struct may break a rule. The members of a struct that it embeds by a
// pointer are its own. around are the structs that embed it.
func (g *Functions) refusesZero(t *model.Type, around []*model.Type) bool {
	if g.Effective(t, schema.Enforced(t)) || len(Unions(t)) > 0 {
		return true
	}
	around = append(around, t)
	return slices.ContainsFunc(t.Fields, func(f *model.Field) bool {
		of := f.Type
		if f.Inline {
			of = of.Pointee()
		}
		return Accessible(g.pkg, t, f) && !g.Optional(f) && !slices.Contains(around, of) &&
			(g.FieldEffective(f) || g.Effective(of, schema.Enforced(of)) ||
				of.Form == model.Struct && g.refusesZero(of, around))
	})
}

// hasDeclarativeRules reports whether fields of a struct have rules of Kubernetes' own grammar: these apply to a struct
// that is not a pointer even if it is zero. Structs of Kubernetes inside of a custom resource's have such rules, too,
// which apply where their own struct is there.
func (g *Functions) hasDeclarativeRules(t *model.Type) bool {
	for _, f := range t.Fields {
		ruled := func(r model.Rule) bool { return r.Declarative && r.Check != model.Optional }
		within := f.Type.Form == model.Struct && (f.Inline || !g.custom)
		if slices.ContainsFunc(f.Schema.Rules, ruled) || within && g.hasDeclarativeRules(f.Type) {
			return true
		}
	}
	return false
}

// FieldByJSON returns the field of a struct, or of one that t points to, of that name in JSON; nil if there is none.
func FieldByJSON(t *model.Type, name string) *model.Field {
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
	PlainString = &model.Type{Form: model.Basic, Basic: "string"}
	plainInt32  = &model.Type{Form: model.Basic, Basic: "int32"}
)

// HalfOf returns the half of an IntOrString to which a rule applies, or nil for other types and rules.
func HalfOf(r *model.Rule, t *model.Type) *model.Type {
	if schema.KnownAs(t) != schema.IntOrStr {
		return nil
	}
	switch r.Check {
	case model.Minimum, model.Maximum, model.MultipleOf:
		return plainInt32
	case model.MinLength, model.MaxLength, model.Pattern, model.Format:
		return PlainString
	}
	return nil
}

func numeric(t *model.Type) bool { return model.IsInteger(t) || IsFloat(t) }

// IsFloat reports whether values are numbers with fractions.
func IsFloat(t *model.Type) bool {
	return t.Form == model.Basic && schema.Basics[t.Basic].JSON == schema.Number
}

func opaqueJSON(t *model.Type) bool {
	return t.SchemaType != "" || t.Methods["MarshalJSON"] != nil
}

// formats are the formats that the server checks beside Kubernetes' own, as in a custom resource; other formats only
// document the schema.
var formats = []string{
	"date-time", "datetime", "date", "duration", "cidr", "mac", "uri", "email", "hostname", "ipv4", "ipv6", "uuid",
	"uuid3", "uuid4", "uuid5", "byte", "isbn", "isbn10", "isbn13", "creditcard", "ssn", "hexcolor", "rgbcolor",
	"bsonobjectid",
}

// Formats holds the formats of Kubernetes' own grammar, and the functions that check them.
var Formats = map[string]string{
	"k8s-short-name":                    "ShortName",
	"k8s-long-name":                     "LongName",
	"k8s-long-name-caseless":            "LongNameCaseless",
	"k8s-label-key":                     "LabelKey",
	"k8s-prefixed-label-key":            "PrefixedLabelKey",
	"k8s-label-value":                   "LabelValue",
	"k8s-path-segment-name":             "PathSegmentName",
	"k8s-uuid":                          "UUID",
	"k8s-resource-pool-name":            "ResourcePoolName",
	"k8s-extended-resource-name":        "ExtendedResourceName",
	"k8s-resource-fully-qualified-name": "ResourceFullyQualifiedName",
}

// Unchecked reports that a rule looks at a value alone, and the server can't check it: the JSON of the type is its own.
func Unchecked(r *model.Rule, t *model.Type) bool {
	switch r.Check {
	case model.Minimum, model.Maximum, model.MultipleOf, model.MinLength, model.MaxLength, model.MaxBytes,
		model.Pattern, model.MinItems, model.MaxItems, model.MinProperties, model.MaxProperties:
		return !Applies(r, t) && !vacuous(r, t)
	}
	return false
}

// IsText reports whether values of a type are text in JSON, and no strings of Go: those of metav1.Duration are.
func IsText(t *schema.Type) bool {
	return !t.Structural && (t.JSON == schema.String || t.JSON == schema.IntOrString || t.JSON == schema.Decimal)
}

// Number returns a literal that Go and people read alike: 10, not 1e1.
func Number(text string) string {
	f, ok := new(big.Float).SetString(text)
	if !ok {
		return "0"
	}
	if f.IsInt() {
		i, _ := f.Int(nil)
		return i.String()
	}
	v, _ := f.Float64()
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Integral reports whether the text is a whole number.
func Integral(text string) bool {
	f, ok := new(big.Float).SetString(text)
	return ok && f.IsInt()
}

// vacuous reports whether a bound excludes no value of the type, or is not a value of it, which the compiler would not
// compare with one.
func vacuous(r *model.Rule, t *model.Type) bool {
	least, most, ok := model.IntegerLimits(t.Basic)
	bound, parsed := new(big.Int).SetString(Number(r.Text), 10)
	if !ok || !parsed {
		return false
	}
	if bound.Cmp(least) < 0 || bound.Cmp(most) > 0 {
		return true
	}
	return !r.Exclusive && (r.Check == model.Minimum && bound.Cmp(least) == 0 || r.Check == model.Maximum &&
		bound.Cmp(most) == 0)
}
