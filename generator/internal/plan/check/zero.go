package check

import (
	"regexp"
	"slices"
	"strconv"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
)

// RefusesZero returns the rule by which a server refuses the zero value of a field where a client sends it, and what a
// custom resource is told of it, or "" for an enumeration and a format. It returns nil if there is no such rule.
func RefusesZero(f *model.Field) (rule *model.Rule, fault string) {
	t := f.Type
	if t.Form == model.Pointer {
		return nil, ""
	}
	rules := slices.Concat(f.Schema.Rules, schema.Enforced(t).Rules)
	for i := range rules {
		rule := &rules[i]
		if rule.Declarative || !Applies(rule, t) {
			continue
		}
		if rule.Check == model.Enum && t.Form == model.Basic && !slices.Contains(rule.Values, zeroOf(t)) {
			return rule, ""
		}
		if rule.Check == model.Format { // all that are checked refuse an empty text
			return rule, ""
		}
		if fault := zeroFault(rule); fault != "" {
			return rule, fault
		}
	}
	return nil, ""
}

func zeroOf(t *model.Type) string {
	switch {
	case model.IsString(t):
		return `""`
	case model.IsBool(t):
		return "false"
	}
	return "0"
}

// zeroFault returns what a custom resource is told of a zero value that breaks a rule, or "".
func zeroFault(r *model.Rule) string {
	bound, err := strconv.ParseFloat(r.Text, 64)
	number := Number(r.Text)
	switch {
	case r.Check == model.Pattern:
		if re, err := regexp.Compile(r.Text); err == nil && !re.MatchString("") {
			return "should match '" + r.Text + "'"
		}
	case err != nil:
	case r.Check == model.MinItems && bound > 0:
		return "should have at least " + number + " items"
	case r.Check == model.MinProperties && bound > 0:
		return "should have at least " + number + " properties"
	case r.Check == model.MinLength && bound > 0:
		return "should be at least " + number + " chars long"
	case r.Check == model.Minimum && r.Exclusive && bound >= 0:
		return "should be greater than " + number
	case r.Check == model.Minimum && !r.Exclusive && bound > 0:
		return "should be greater than or equal to " + number
	case r.Check == model.Maximum && r.Exclusive && bound <= 0:
		return "should be less than " + number
	case r.Check == model.Maximum && !r.Exclusive && bound < 0:
		return "should be less than or equal to " + number
	}
	return ""
}

// CountsMembers reports whether a struct, or one that it inlines, has rules about how many members it has.
func CountsMembers(t *model.Type) bool { return countsMembers(t, nil) }

// countsMembers is CountsMembers for a struct that others inline.
func countsMembers(t *model.Type, around []*model.Type) bool {
	if slices.Contains(around, t) {
		return false
	}
	counting := []model.Check{model.MinProperties, model.MaxProperties, model.OneOf}
	if slices.ContainsFunc(schema.Enforced(t).Rules, func(r model.Rule) bool {
		return !r.Declarative && slices.Contains(counting, r.Check)
	}) {
		return true
	}
	around = append(around, t)
	return slices.ContainsFunc(t.Fields, func(f *model.Field) bool {
		return f.Inline && countsMembers(f.Type.Pointee(), around)
	})
}
