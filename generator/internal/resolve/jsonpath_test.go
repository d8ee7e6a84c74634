package resolve

import (
	"fmt"
	"strings"
	"testing"

	"apigen.dev/generator/internal/model"
)

// dump writes steps as Go would reach them.
func dump(steps []model.Step) string {
	var out strings.Builder
	for _, s := range steps {
		switch {
		case s.Filter != nil:
			fmt.Fprintf(&out, "[%s==%q]", dump(s.Filter.Steps), s.Filter.Value)
		case s.Field != nil:
			out.WriteString("." + s.Field.Name)
		case s.IsIndex:
			fmt.Fprintf(&out, "[%d]", s.Index)
		default:
			fmt.Fprintf(&out, "[%q]", s.Key)
		}
	}
	return out.String()
}

func TestPaths(t *testing.T) {
	text := &model.Type{Form: model.Basic, Basic: "string"}
	whole := &model.Type{Form: model.Basic, Basic: "int32"}
	condition := &model.Type{Name: "Condition", Form: model.Struct, Fields: []*model.Field{
		{Name: "Type", JSON: "type", Type: &model.Type{Form: model.Pointer, Elem: text}}, {Name: "Age", JSON: "age",
			Type: whole},
	}}
	kind := &model.Type{Name: "Widget", Form: model.Struct, Fields: []*model.Field{
		{Name: "Conditions", JSON: "conditions", Type: &model.Type{Form: model.Slice, Elem: condition}},
		{Name: "Labels", JSON: "labels", Type: &model.Type{Form: model.Map, Key: text, Elem: text}},
		{Name: "Any", JSON: "any", Type: &model.Type{Form: model.Interface}},
		{Name: "Own", JSON: "own", Type: &model.Type{
			Name: "Own", Form: model.Struct, Fields: []*model.Field{{Name: "Size", JSON: "size", Type: whole}},
			Methods: map[string]*model.Func{"MarshalJSON": {}},
		}},
	}}
	for _, test := range []struct{ path, want, fault string }{
		{".conditions[?(@.type==\"Ready\")].age", `.Conditions[.Type=="Ready"].Age`, ""},
		{".conditions[?( @.type == 'Ready' )]", `.Conditions[.Type=="Ready"]`, ""},
		{"{.conditions[0].age}", ".Conditions[0].Age", ""},
		{".conditions[-1].age", ".Conditions[-1].Age", ""},
		{".conditions[-1:].age", ".Conditions[-1].Age", ""},
		{".conditions[:2].age", ".Conditions[0].Age", ""},
		{".conditions[*].age", ".Conditions[0].Age", ""},
		{".labels['a.b/c']", `.Labels["a.b/c"]`, ""},
		{`.labels.a\.b`, `.Labels["a.b"]`, ""},
		{".conditions[?(@.age==1)].type", "", ""},
		{".conditions[?(@.age==\"1\")].type", "", ""},
		{".any.thing", "", ""},
		{".own.size", ".Own.Size", ""},
		{".own.none", "", ""},
		{".own[0]", "", ""},
		{".conditions[?(@.none==\"x\")].type", "", `Condition has no field "none"`},
		{".labels[?(@.type==\"x\")]", "", "a map is no list that could be searched"},
		{".none", "", `Widget has no field "none"`},
		{"conditions", "", "expected a dot"},
		{".conditions[0", "", "no closing bracket"},
	} {
		names, err := splitPath(test.path)
		var steps []model.Step
		if err == nil {
			steps, err = walk(kind, names)
		}
		if got := dump(steps); got != test.want {
			t.Errorf("%s leads to %s, want %s", test.path, got, test.want)
		}
		if test.fault == "" && err != nil || test.fault != "" && (err == nil || !strings.Contains(err.Error(),
			test.fault)) {
			t.Errorf("%s: error %v, want %q", test.path, err, test.fault)
		}
	}
}

// FuzzPath: no path panics.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{".a.b", ".a[0]", ".a['b']", ".a[?(@.b==\"c\")]", ".a[-1:]", "{.a}", `.a\.b`, "[",
		".a[']']"} {
		f.Add(seed)
	}
	kind := &model.Type{Name: "T", Form: model.Struct}
	kind.Fields = []*model.Field{{Name: "A", JSON: "a", Type: &model.Type{Form: model.Slice, Elem: kind}}}
	f.Fuzz(func(t *testing.T, path string) {
		if names, err := splitPath(path); err == nil {
			_, _ = walk(kind, names)
		}
	})
}

func FuzzJSONPath(f *testing.F) {
	for _, s := range []string{".spec.a", ".status.conditions[?(@.type==\"Ready\")].status", ".a[0].b['c.d']", "{.x}",
		`.a\.b`, "[", ".a[", "..", ".a[-1:]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		elements, err := splitPath(path)
		if err == nil && len(elements) == 0 {
			t.Errorf("%q has no elements and no error", path)
		}
	})
}
