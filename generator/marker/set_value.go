package marker

import (
	"strings"

	"apigen.dev/generator/model"
)

func addListMapKey(s *model.Schema, u *Use) {
	s.ListMapKeys, s.ListMapKeysPos = append(s.ListMapKeys, u.Value), u.Pos
}

func setEnum(s *model.Schema, u *Use) {
	for _, e := range u.Strings() {
		s.Enum = append(s.Enum, jsonElement(e, u.On))
	}
}

func setExample(s *model.Schema, u *Use) { s.Example = jsonValue(u.Value, u.On) }

func setExternalDocs(s *model.Schema, u *Use) {
	s.ExternalDocs = &model.ExternalDocs{URL: u.arg("url"), Description: u.arg("description")}
	if s.ExternalDocs.URL == "" {
		u.Errorf("marker \"+%s\" needs url=", u.Name)
	}
}

func addCELRule(s *model.Schema, u *Use) {
	s.CEL = append(s.CEL, model.CELRule{
		Rule: u.arg("rule"), Message: u.arg("message"), MessageExpression: u.arg("messageExpression"),
		Reason: u.arg("reason"), FieldPath: u.arg("fieldPath"), OptionalOldSelf: u.arg("optionalOldSelf") == "true",
		Pos: u.Pos,
	})
}

// arg returns the value of an argument; empty where it isn't there.
func (u *Use) arg(key string) string {
	v, _ := u.Arg(key)
	return v
}

func unquoteRule(r *model.Rule, _ *Use, _ *model.Schema) { r.Text = Unquote(r.Text) }

func splitRule(r *model.Rule, _ *Use, _ *model.Schema) {
	r.Values = strings.FieldsFunc(r.Text, func(c rune) bool { return c == ',' || c == ' ' })
}

func setRule(r *model.Rule, _ *Use, _ *model.Schema) { r.Text = "set" }

func enumRule(r *model.Rule, _ *Use, s *model.Schema) { r.Values = s.Enum }

func exclusiveMinimum(r *model.Rule, _ *Use, s *model.Schema) { r.Exclusive = s.ExclusiveMinimum }

func exclusiveMaximum(r *model.Rule, _ *Use, s *model.Schema) { r.Exclusive = s.ExclusiveMaximum }

func unionRule(r *model.Rule, u *Use, _ *model.Schema) {
	r.Text, r.Values = Unquote(u.arg("union")), []string{Unquote(u.arg("memberName"))}
}

func modeRule(r *model.Rule, u *Use, _ *model.Schema) { r.Text = Unquote(u.arg("modality")) }

func siblingRule(r *model.Rule, u *Use, _ *model.Schema) { r.Text = Unquote(u.arg("")) }

// oneOf makes the rule that between least and most of the fields in the value are set.
func oneOf(least, most int) func(*model.Rule, *Use, *model.Schema) {
	return func(r *model.Rule, u *Use, _ *model.Schema) { r.Values, r.Least, r.Most = u.Strings(), least, most }
}
