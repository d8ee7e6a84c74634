package resolve

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"apigen.dev/generator/internal/model"
)

func resolvePaths(f *faults, p *model.Package) {
	for _, t := range kinds(p) {
		for i := range t.Kind.Columns {
			c := &t.Kind.Columns[i]
			if c.JSONPath != "" {
				c.Steps = f.path(t, c.JSONPath, c.Pos, false)
			}
		}
		f.resolveScale(t)
		for i := range t.Kind.Selectable {
			x := &t.Kind.Selectable[i]
			if x.Method != "" {
				continue
			}
			x.Steps = f.path(t, x.JSONPath, x.Pos, true)
			if slices.ContainsFunc(x.Steps, func(s model.Step) bool { return s.IsIndex || s.Filter != nil }) {
				f.fault(p, x.Pos, "selectable field %s: it leads into a list, and only fields of the object itself "+
					"can be selected by: remove the marker", x.JSONPath)
			}
		}
		unresolved := func(x model.SelectableField) bool { return x.Steps == nil && x.Method == "" }
		t.Kind.Selectable = slices.DeleteFunc(t.Kind.Selectable, unresolved)
	}
}

// path resolves a JSON path. One that ends in nothing is a fault; one that goes where Go's types don't tell (a filter,
// an interface) is left unresolved, unless strict, where that is an error too. On internal types, which have no JSON,
// markers are copies of a version's: there, all is left unresolved that can't be had.
func (f *faults) path(t *model.Type, jsonPath string, pos model.Position, strict bool) []model.Step {
	names, err := splitPath(jsonPath)
	if err == nil {
		var steps []model.Step
		if steps, err = walk(t, names); err == nil && steps != nil {
			return steps
		}
	}
	if errors.Is(err, errReported) {
		return nil
	}
	if err == nil && strict {
		err = fmt.Errorf("Go's types don't say what its values are")
	}
	if internal := t.Package.HasGroup && t.Package.Version == ""; err != nil && !internal {
		f.fault(t.Package, pos, "JSONPath %s of kind %s: %v", jsonPath, t.Name, err)
	}
	return nil
}

type element struct {
	name    string
	index   int
	isIndex bool
	where   *condition
	unclear bool // anything else
}

// condition is that of [?(@.type=="Ready")].
type condition struct {
	path  []element
	value string
}

// splitPath splits .spec.list[0].map['key'].
func splitPath(s string) ([]element, error) {
	s = strings.TrimSpace(s)
	s = strings.TrimSuffix(strings.TrimPrefix(s, "{"), "}")
	var out []element
	for len(s) > 0 {
		m := elementPattern.FindStringSubmatch(s)
		switch {
		case m == nil && s[0] == '[':
			return nil, fmt.Errorf("no closing bracket")
		case m == nil:
			return nil, fmt.Errorf("expected a dot at %q", s)
		case m[0] == ".":
			return nil, fmt.Errorf("no field name behind a dot")
		case s[0] == '.':
			out = append(out, element{name: unescaped(m[1]), unclear: m[1] == "*"})
		default:
			out = append(out, bracket(m[2]))
		}
		s = s[len(m[0]):]
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("it names no field")
	}
	return out, nil
}

// elementPattern matches a name behind a dot, and what is in brackets, which may hold quoted text and other brackets. A
// backslash escapes a character. A bracket may also hold a wildcard, a slice, or a comparison with a string. They
// select elements of a list, and a column shows the first.
var (
	elementPattern = regexp.MustCompile(`(?s)^(?:\.((?:\\.|[^.\[])*)|\[((?:` + text + `|\[` + text + `*\])*)\])`)
	escapePattern  = regexp.MustCompile(`(?s)\\(.)`)
	slicePattern   = regexp.MustCompile(`^(-?[0-9]*):-?[0-9]*$`)
	filterPattern  = regexp.MustCompile(`^\?\(\s*@((?:\.[\w-]+)+)\s*==\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\)$`)
)

// text matches text in brackets, quoted or not.
const text = `(?:[^\[\]'"]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")`

func unescaped(s string) string { return escapePattern.ReplaceAllString(s, "$1") }

func bracket(s string) element {
	if n, err := strconv.Atoi(s); err == nil {
		return element{index: n, isIndex: true}
	}
	if s == "*" {
		return element{isIndex: true}
	}
	if m := slicePattern.FindStringSubmatch(s); m != nil {
		n, err := strconv.Atoi(m[1])
		return element{index: n, isIndex: true, unclear: err != nil && m[1] != ""}
	}
	if m := filterPattern.FindStringSubmatch(s); m != nil {
		path, err := splitPath(m[1])
		return element{where: &condition{path: path, value: m[2] + m[3]}, unclear: err != nil}
	}
	if len(s) >= 2 && (s[0] == '\'' || s[0] == '"') && s[len(s)-1] == s[0] {
		return element{name: unescaped(s[1 : len(s)-1])}
	}
	return element{unclear: true}
}

// errReported says that a path leads to a declaration whose own error is reported.
var errReported = errors.New("the declaration is wrong")

// walk follows the elements through the types. Nil without an error: Go's types don't tell. A struct that writes its
// own JSON is assumed to write its fields under their names, as a type does that leaves some of them out.
func walk(t *model.Type, path []element) ([]model.Step, error) {
	var steps []model.Step
	for _, e := range path {
		t = t.Pointee()
		if t != nil && (t.Unknown || t.Ambiguous()) {
			return nil, errReported
		}
		if t == nil || e.unclear || opaque(t) && (t.Form != model.Struct || t.FieldPath(called(e.name)) == nil) {
			return nil, nil
		}
		switch {
		case e.isIndex:
			if t.Form != model.Slice && t.Form != model.Array {
				return nil, fmt.Errorf("[%d] is no element of %s", e.index, describe(t))
			}
			steps = append(steps, model.Step{Index: e.index, IsIndex: true})
			t = t.Elem
		case e.where != nil:
			filter, err := where(t, e.where)
			if filter == nil {
				return nil, err
			}
			steps = append(steps, model.Step{Filter: filter})
			t = t.Elem
		case t.Form == model.Map:
			steps = append(steps, model.Step{Key: e.name})
			t = t.Elem
		case t.Form == model.Struct:
			found := t.FieldPath(called(e.name))
			if found == nil {
				return nil, fmt.Errorf("%s has no field %q", describe(t), e.name)
			}
			for _, f := range found {
				steps = append(steps, model.Step{Field: f})
			}
			t = found[len(found)-1].Type
		default:
			return nil, fmt.Errorf("%s has no field %q", describe(t), e.name)
		}
	}
	return steps, nil
}

// where resolves a condition on the elements of a list. Nil without an error: Go's types don't tell.
func where(list *model.Type, c *condition) (*model.Filter, error) {
	if list.Form != model.Slice && list.Form != model.Array {
		return nil, fmt.Errorf("%s is no list that could be searched", describe(list))
	}
	steps, err := walk(list.Elem, c.path)
	if steps == nil {
		return nil, err
	}
	for _, step := range steps {
		if step.Field == nil {
			return nil, nil
		}
	}
	end := steps[len(steps)-1].Field.Type.Pointee()
	if end.Form != model.Basic || end.Basic != "string" {
		return nil, nil
	}
	return &model.Filter{Steps: steps, Value: c.value}, nil
}

// opaque types have a form on the wire that their fields don't tell.
func opaque(t *model.Type) bool {
	_, json := t.Methods["MarshalJSON"]
	return json || t.Form == model.Interface || t.Form == model.TypeParam
}

func called(name string) func(*model.Field) bool {
	return func(f *model.Field) bool { return f.JSON == name }
}

func describe(t *model.Type) string {
	if t.Name != "" {
		return t.Name
	}
	switch t.Form {
	case model.Basic:
		return t.Basic
	case model.Slice, model.Array:
		return "a list"
	case model.Map:
		return "a map"
	}
	return "an anonymous struct"
}
