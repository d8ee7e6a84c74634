package marker

import (
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

// The setters of markers whose value is a field of the model.

// flag sets that the marker is there and doesn't say false. Where several markers set a field, one is enough.
func flag[T any](field func(*T) *bool) func(*T, *Use) {
	return func(to *T, u *Use) { *field(to) = *field(to) || u.True() }
}

// set sets that the marker is there, whatever it says.
func set[T any](field func(*T) *bool) func(*T, *Use) {
	return func(to *T, _ *Use) { *field(to) = true }
}

// off sets that the marker says false.
func off[T any](field func(*T) *bool) func(*T, *Use) {
	return func(to *T, u *Use) { *field(to) = *field(to) || !u.True() }
}

// boolean is flag for a field that tells false from nothing.
func boolean[T any](field func(*T) **bool) func(*T, *Use) {
	return func(to *T, u *Use) { *field(to) = new(u.True()) }
}

func text[T any](field func(*T) *string) func(*T, *Use) {
	return func(to *T, u *Use) { *field(to) = u.Value }
}

func unquoted[T any](field func(*T) *string) func(*T, *Use) {
	return func(to *T, u *Use) { *field(to) = Unquote(u.Value) }
}

func limit(check model.Check) func(*model.Schema, *Use) {
	return func(s *model.Schema, u *Use) {
		if n := u.number(); n != nil {
			s.SetLimit(check, *n)
		}
	}
}

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
		u.fault(" needs url=")
	}
}

func addCELRule(s *model.Schema, u *Use) {
	s.CEL = append(s.CEL, model.CELRule{
		Rule: u.arg("rule"), Message: u.arg("message"), MessageExpression: u.arg("messageExpression"),
		Reason: u.arg("reason"), FieldPath: u.arg("fieldPath"), OptionalOldSelf: u.arg("optionalOldSelf") == "true",
		Pos: u.Pos,
	})
}

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

// setCopies counts before +kubebuilder:object:generate.
func setCopies(t *model.Type, u *Use) { t.CopyMarker = new(u.True()) }

func setObjects(t *model.Type, u *Use) {
	if t.CopyMarker == nil {
		t.CopyMarker = new(u.True())
	}
}

func addInterfaces(t *model.Type, u *Use) {
	for v := range strings.SplitSeq(u.Value, ",") {
		if v = strings.TrimSpace(v); v != "" {
			addInterface(t, u.ref(v))
		}
	}
}

func addObject(t *model.Type, u *Use) {
	if u.True() {
		addInterface(t, model.Ref{Path: "k8s.io/apimachinery/pkg/runtime", Name: "Object", Pos: u.Pos})
	}
}

func addInterface(t *model.Type, r model.Ref) {
	same := func(o model.Ref) bool { return o.Path == r.Path && o.Name == r.Name }
	if !slices.ContainsFunc(t.DeepCopyInterfaces, same) {
		t.DeepCopyInterfaces = append(t.DeepCopyInterfaces, r)
	}
}

func addConversionFrom(t *model.Type, u *Use) {
	t.ConversionFrom = append(t.ConversionFrom, u.ref(u.Value))
}

// ref splits path.Name; a name alone is of the package that the marker stands in.
func (u *Use) ref(value string) model.Ref {
	i := strings.LastIndexByte(value, '.')
	if i < 0 || strings.LastIndexByte(value, '/') > i {
		return model.Ref{Path: u.In.Path, Name: value, Pos: u.Pos}
	}
	return model.Ref{Path: value[:i], Name: value[i+1:], Pos: u.Pos}
}

func setCovers(f *model.Func, u *Use) { f.Covers = u.Value == "covers" }

func setTypeDefault(t *model.Type, u *Use) { t.Default = u.defaulted() }

func setDefault(f *model.Field, u *Use) { f.Default = u.defaulted() }

// defaulted returns the value of +default. Package resolve reads the constant of a reference later.
func (u *Use) defaulted() *model.Default {
	if name, ok := strings.CutPrefix(u.Value, "ref("); ok {
		return &model.Default{Ref: new(u.ref(strings.TrimSuffix(name, ")"))), Pos: u.Pos}
	}
	return &model.Default{JSON: u.Value, Pos: u.Pos}
}

func setKubebuilderDefault(f *model.Field, u *Use) {
	f.Default = &model.Default{JSON: jsonValue(u.Value, u.On), Pos: u.Pos}
}
