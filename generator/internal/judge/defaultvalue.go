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

	"apigen.dev/generator/internal/model"
)

var updateWords = []string{"NoSet", "NoUnset", "NoModify", "NoAddItem", "NoRemoveItem"}

// flexible reports whether a schema or a type leaves open what the JSON of values is.
func flexible(t *model.Type, s *model.Schema) bool {
	return s.Type != "" || s.IntOrString || s.Schemaless || opaque(t)
}

var (
	jsonMethods    = []string{"MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText"}
	opaquePackages = []string{
		"time", "encoding/json", "k8s.io/apimachinery/pkg/util/intstr", "k8s.io/apimachinery/pkg/api/resource",
	}
)

// opaque reports whether a type leaves open what the JSON of its values is.
func opaque(t *model.Type) bool {
	if t == nil || t.SchemaType != "" || t.Schema.Type != "" || t.Schema.IntOrString {
		return true
	}
	switch t.Form {
	case model.Interface, model.TypeParam, model.Func_, model.Chan, model.UnsafePointer:
		return true
	}
	declared := func(method string) bool { return t.Methods[method] != nil }
	return slices.ContainsFunc(jsonMethods, declared) ||
		t.Package != nil && slices.Contains(opaquePackages, t.Package.Path)
}

func suits(r *model.Rule, t *model.Type, want string) bool {
	switch want {
	case "numbers":
		return model.IsInteger(t) || t.Form == model.Basic && strings.HasPrefix(t.Basic, "float")
	case "whole numbers":
		return model.IsInteger(t)
	case "strings":
		return t.IsString() || t.IsBytes() && !r.Declarative
	case "lists":
		return (t.Form == model.Slice || t.Form == model.Array) && !t.IsBytes()
	case "objects":
		return isObject(t)
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
	if !ok || t.Bits() == 0 {
		return ""
	}
	if !bound.IsInt() {
		return fmt.Sprintf("%s is no whole number, and %s is one", r.Text, t.Basic)
	}
	least, most, _ := model.IntegerLimits(t.Basic)
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

func fits(value string, t *model.Type) bool {
	v, err := model.JSONValue(value)
	if err != nil {
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

// violates tells how a value breaks a rule; empty if it doesn't.
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
