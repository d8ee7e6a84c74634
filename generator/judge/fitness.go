package judge

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"apigen.dev/generator/model"
)

// updateWords are what an update may be kept from.
var updateWords = []string{"NoSet", "NoUnset", "NoModify", "NoAddItem", "NoRemoveItem"}

// flexible reports whether a schema or a type leaves open what the JSON of values is.
func flexible(t *model.Type, s *model.Schema) bool {
	return s.Type != "" || s.IntOrString || s.Schemaless || opaque(t)
}

// opaque reports whether a type leaves open what the JSON of its values is.
func opaque(t *model.Type) bool {
	if t == nil || t.SchemaType != "" || t.Schema.Type != "" || t.Schema.IntOrString {
		return true
	}
	switch t.Form {
	case model.Interface, model.TypeParam, model.Func_, model.Chan, model.UnsafePointer:
		return true
	}
	for _, m := range []string{"MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText"} {
		if t.Methods[m] != nil {
			return true
		}
	}
	if t.Package != nil {
		switch t.Package.Path {
		case "time", "encoding/json", "k8s.io/apimachinery/pkg/util/intstr", "k8s.io/apimachinery/pkg/api/resource":
			return true
		}
	}
	return false
}

// suits reports whether values of the type are what a check is for.
func suits(r *model.Rule, t *model.Type, want string) bool {
	bytes := t.Form == model.Slice && t.Elem != nil && t.Elem.Form == model.Basic && (t.Elem.Basic == "uint8" ||
		t.Elem.Basic == "byte")
	switch want {
	case "numbers":
		return t.Form == model.Basic && (t.Bits() != 0 || strings.HasPrefix(t.Basic, "float"))
	case "whole numbers":
		return t.Form == model.Basic && t.Bits() != 0
	case "strings":
		return t.IsString() || bytes && !r.Declarative
	case "lists":
		return (t.Form == model.Slice || t.Form == model.Array) && !bytes
	case "objects":
		return t.Form == model.Map || t.Form == model.Struct
	case "structs":
		return t.Form == model.Struct
	}
	return true
}

// outOfRange tells what is wrong with a bound of numbers.
func outOfRange(r *model.Rule, t *model.Type) string {
	bound, ok := new(big.Rat).SetString(r.Text)
	if ok && r.Check == model.MultipleOf && bound.Sign() <= 0 {
		return fmt.Sprintf("multiples of %s are none: it must be more than 0", r.Text)
	}
	if !ok || t == nil || t.Form != model.Basic || t.Bits() == 0 {
		return ""
	}
	if !bound.IsInt() {
		return fmt.Sprintf("%s is no whole number, and %s is one", r.Text, t.Basic)
	}
	size, least, most := t.Bits(), new(big.Int), new(big.Int)
	if size < 0 {
		most.Lsh(big.NewInt(1), uint(-size))
	} else {
		most.Lsh(big.NewInt(1), uint(size-1))
		least.Neg(most)
	}
	most.Sub(most, big.NewInt(1))
	switch {
	case r.Check == model.Minimum && bound.Num().Cmp(most) > 0:
		return fmt.Sprintf("no %s is %s or more", t.Basic, r.Text)
	case r.Check == model.Maximum && bound.Num().Cmp(least) < 0:
		return fmt.Sprintf("no %s is %s or less", t.Basic, r.Text)
	}
	return ""
}

// opposite are the checks of lower bounds and of the upper bounds that belong to them.
var opposite = map[model.Check]model.Check{
	model.Minimum: model.Maximum, model.MinLength: model.MaxLength, model.MinItems: model.MaxItems,
	model.MinProperties: model.MaxProperties,
}

// disorder finds a lower bound above an upper one, where one of the two is among the own rules.
func disorder(own, all []model.Rule) (model.Position, string) {
	for _, low := range all {
		for _, high := range all {
			if opposite[low.Check] != high.Check || opposite[low.Check] == "" {
				continue
			}
			a, ok := new(big.Rat).SetString(low.Text)
			z, fine := new(big.Rat).SetString(high.Text)
			if !ok || !fine || a.Cmp(z) < 0 || a.Cmp(z) == 0 && !low.Exclusive && !high.Exclusive {
				continue
			}
			for _, r := range own {
				if r.Pos == low.Pos || r.Pos == high.Pos {
					return r.Pos, fmt.Sprintf("no value keeps both +%s=%s and +%s=%s", low.Marker, low.Text,
						high.Marker, high.Text)
				}
			}
		}
	}
	return model.Position{}, ""
}

// fits reports whether a JSON value can be one of a type.
func fits(value string, t *model.Type) bool {
	var v any
	d := json.NewDecoder(strings.NewReader(value))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return t.IsString()
	}
	if t.Form != model.Basic {
		return true
	}
	switch v := v.(type) {
	case string:
		return t.Basic == "string"
	case bool:
		return t.Basic == "bool"
	case json.Number:
		r, ok := new(big.Rat).SetString(v.String())
		return ok && (strings.HasPrefix(t.Basic, "float") || t.Bits() != 0 && r.IsInt())
	}
	return v == nil
}

// byDefault holds a default against the rules.
func (r *checker) byDefault(d *model.Default, t *model.Type, s *model.Schema, rules []model.Rule, name string) {
	text := d.JSON
	value, err := d.Value()
	if err != nil {
		return // Defaults reports it
	}
	if text, ok := value.(string); ok && t.Enum && len(constantsOf(t)) > 0 && !slices.Contains(constantsOf(t),
		model.JSONString(text)) &&
		!slices.ContainsFunc(rules, func(r model.Rule) bool { return r.Check == model.Enum }) {
		r.faultf(d.Pos, "default %s of %s is not one of %s, the constants of %s", model.JSONString(text), name,
			strings.Join(constantsOf(t), ", "), t.Name)
	}
	for i := range rules {
		if message := violates(value, &rules[i], t); message != "" {
			r.faultf(d.Pos, "default %s of %s %s (+%s)", text, name, message, rules[i].Marker)
		}
	}
	r.elements(d, value, t, rules, name)
	r.within(d, value, t, s, name)
}

// violates tells how a value breaks a rule; empty where it doesn't.
func violates(value any, r *model.Rule, t *model.Type) string {
	switch v := value.(type) {
	case string:
		return violatesText(v, r, t)
	case json.Number:
		return violatesNumber(v, r)
	case []any:
		return violatesCount(len(v), r, model.MinItems, model.MaxItems, "elements")
	case map[string]any:
		return violatesCount(len(v), r, model.MinProperties, model.MaxProperties, "properties")
	}
	return ""
}

func violatesText(v string, r *model.Rule, t *model.Type) string {
	switch r.Check {
	case model.Enum:
		values := r.Values
		if r.Declarative {
			values = constantsOf(t)
		}
		if len(values) == 0 {
			return ""
		}
		for _, x := range values {
			var s string
			if json.Unmarshal([]byte(x), &s) == nil && s == v || x == v {
				return ""
			}
		}
		return "is not one of " + strings.Join(values, ", ")
	case model.Pattern:
		if re, err := regexp.Compile(r.Text); err == nil && !re.MatchString(v) {
			return "doesn't match the pattern " + r.Text
		}
	case model.Format:
		if !ofFormat(r, v) {
			return "is not of the format " + r.Text
		}
	}
	return violatesCount(utf8.RuneCountInString(v), r, model.MinLength, model.MaxLength, "characters")
}

func constantsOf(t *model.Type) []string {
	var out []string
	if t.Package != nil {
		for _, c := range t.Package.Consts {
			if c.Type == t && !c.Excluded {
				out = append(out, c.Value)
			}
		}
	}
	return out
}

func violatesNumber(v json.Number, r *model.Rule) string {
	x, ok := new(big.Rat).SetString(v.String())
	bound, fine := new(big.Rat).SetString(r.Text)
	if r.Check == model.Enum && !r.Declarative {
		for _, e := range r.Values {
			if y, ok := new(big.Rat).SetString(e); ok && y.Cmp(x) == 0 {
				return ""
			}
		}
		return "is not one of " + strings.Join(r.Values, ", ")
	}
	if !ok || !fine {
		return ""
	}
	order := x.Cmp(bound)
	switch {
	case r.Check == model.Minimum && (order < 0 || order == 0 && r.Exclusive):
		return "is below the minimum " + r.Text
	case r.Check == model.Maximum && (order > 0 || order == 0 && r.Exclusive):
		return "is above the maximum " + r.Text
	case r.Check == model.MultipleOf && bound.Sign() > 0 && !new(big.Rat).Quo(x, bound).IsInt():
		return "is no multiple of " + r.Text
	}
	return ""
}

func violatesCount(n int, r *model.Rule, least, most model.Check, what string) string {
	bound, ok := new(big.Int).SetString(r.Text, 10)
	switch {
	case !ok:
	case r.Check == least && big.NewInt(int64(n)).Cmp(bound) < 0:
		return fmt.Sprintf("has %d %s, and %s are the least", n, what, r.Text)
	case r.Check == most && big.NewInt(int64(n)).Cmp(bound) > 0:
		return fmt.Sprintf("has %d %s, and %s are the most", n, what, r.Text)
	}
	return ""
}

// fieldNamed returns the field of that JSON name, or nil. Internal types have no names in JSON: their markers are
// copies of a version's, so that a field without a tag goes by its Go name.
func fieldNamed(t *model.Type, name string) *model.Field {
	if f := t.Property(name); f != nil {
		return f
	}
	return t.Find(func(f *model.Field) bool {
		_, tagged := reflect.StructTag(f.Tag).Lookup("json")
		return !tagged && !f.Embedded && strings.EqualFold(f.Name, name)
	})
}
