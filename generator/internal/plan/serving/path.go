package serving

import (
	"cmp"
	"fmt"
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
)

// pathEnd returns the type of the value that a path leads to, pointers followed, or an error without a position.
func pathEnd(t *model.Type, steps []model.Step) (*model.Type, error) {
	for _, step := range steps {
		var err error
		if t, err = pointedAt(t); err != nil {
			return nil, err
		}
		list := t.Form == model.Slice || t.Form == model.Array
		switch {
		case step.Filter != nil && !list:
			return nil, fmt.Errorf("a filter needs a list, not %s", model.TypeText(t))
		case step.Filter != nil:
			if err := checkFilter(step.Filter); err != nil {
				return nil, err
			}
			t = t.Elem
		case step.Field != nil:
			t = step.Field.Type
		case step.IsIndex && !list:
			return nil, fmt.Errorf("[%d] is no index of %s", step.Index, model.TypeText(t))
		case !step.IsIndex && t.Form != model.Map:
			return nil, fmt.Errorf("%q is no key of %s", step.Key, model.TypeText(t))
		default:
			t = t.Elem
		}
	}
	return pointedAt(t)
}

func pointedAt(t *model.Type) (*model.Type, error) {
	if t.Form != model.Pointer {
		return t, nil
	}
	if t.Elem.Form == model.Pointer {
		return nil, fmt.Errorf("a pointer to a pointer is no step of a path")
	}
	return t.Elem, nil
}

func checkFilter(filter *model.Filter) error {
	var t *model.Type
	for _, step := range filter.Steps {
		if step.Field == nil {
			return fmt.Errorf("a filter compares a field")
		}
		t = step.Field.Type
	}
	if t != nil && t.Form == model.Pointer {
		t = t.Elem
	}
	if t == nil || !model.IsString(t) {
		return fmt.Errorf("a filter compares a string, not %s", model.TypeText(t))
	}
	return nil
}

// onHub finds the fields of the hub that the fields of a version's path become: those with the names that
// +apigen:conversion:name gives, or with the same names.
func onHub(hub, version *model.Type, steps []model.Step) ([]model.Step, error) {
	if hub == version {
		return steps, nil
	}
	out := make([]model.Step, len(steps))
	at := hub
	for i, step := range steps {
		at = at.Pointee()
		out[i] = step
		switch {
		case step.Field != nil:
		case at.Form == model.Map && !step.IsIndex && step.Filter == nil, at.Form == model.Slice && step.IsIndex:
			at = at.Elem
			continue
		default:
			return nil, fmt.Errorf("only fields, keys of maps and items of lists can be followed to the hub")
		}
		field := model.Counterpart(at, step.Field)
		if field == nil {
			return nil, fmt.Errorf("%s has no field %s: selectors work on the hub, so the path must exist there under "+
				"the same Go names, or those of +apigen:conversion:name",
				model.TypeText(at), cmp.Or(step.Field.ConversionName, step.Field.Name))
		}
		out[i].Field = field
		at = field.Type
	}
	return out, nil
}

// GoPath is a path by its Go names: Spec.Color.
func GoPath(steps []model.Step) string {
	names := make([]string, 0, len(steps))
	for _, step := range steps {
		if step.Field != nil {
			names = append(names, step.Field.Name)
		}
	}
	return strings.Join(names, ".")
}

func isFloat(t *model.Type) bool { return t.Form == model.Basic && strings.HasPrefix(t.Basic, "float") }

func isTime(t *model.Type) bool {
	return model.IsNamed(t, metaPath, "Time", "MicroTime") ||
		model.IsNamed(t, "time", "Time")
}

// Option is a field of the options of a subresource, which is read from the query.
type Option struct {
	// JSON is the name of the query parameter, Path leads to the field in Go.
	JSON, Path string
	// Function and Parser are the functions of the runtime's package subresource that read the field and one value;
	// Parsed is the type argument of the parser, or nil.
	Function, Parser string
	Parsed           *model.Type
}

// options decides how the options of a subresource are read, and reports the fields that can't be read.
func options(s *model.Subresource, t *model.Type, path string, depth int, faults *diag.Errors) []Option {
	var out []Option
	for _, f := range t.Fields {
		switch {
		case f.Ignored || !f.Exported || model.IsNamed(f.Type, metaPath, "TypeMeta", "ObjectMeta"):
		case f.Inline && f.Type.Form == model.Struct && depth < 8:
			out = append(out, options(s, f.Type, path+f.Name+".", depth+1, faults)...)
		default:
			o := Option{JSON: f.JSON, Path: path + f.Name}
			if !o.read(f.Type) {
				pos := f.Pos
				if !t.Package.Output {
					pos = s.Method.Pos
				}
				faults.Add(pos, "field %s of %s can't be read from a query, as the options of the subresource %s "+
					"are: it is %s; options are strings, booleans, whole numbers, times, pointers to these and lists "+
					"of them",
					f.Name, model.TypeText(t), s.Name, model.TypeText(f.Type))
				continue
			}
			out = append(out, o)
		}
	}
	return out
}

// read decides how values of a type are read, and reports whether they can be.
func (o *Option) read(t *model.Type) bool {
	o.Function = "QueryValue"
	switch {
	case t.Package == nil && t.Form == model.Pointer:
		o.Function, t = "QueryPointer", t.Elem
	case t.Package == nil && t.Form == model.Slice:
		o.Function, t = "QueryValues", t.Elem
	}
	switch {
	case model.IsNamed(t, metaPath, "Time", "MicroTime"):
		o.Parser, o.Parsed = "QueryParsed", t
	case model.IsString(t):
		o.Parser = "QueryText"
	case model.IsBool(t):
		o.Parser = "QueryBool"
	case t.Form == model.Basic && (t.Basic == "int" || t.Basic == "int8" || t.Basic == "int16" || t.Basic == "int32" ||
		t.Basic == "int64"):
		o.Parser = "QueryInt"
	}
	return o.Parser != ""
}
