package wiring

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

// faultf is a fault without a position: whoever knows the marker adds it.
func faultf(format string, args ...any) error { return fmt.Errorf(format, args...) }

// selectable prints the selectable fields of all versions, read from the hub, or nothing.
func (p *printer) selectable(r *model.Resource, served []model.ResourceVersion) jen.Code {
	seen := map[string]string{}
	var fields []jen.Code
	for _, v := range served {
		if v.Type.Kind == nil {
			continue
		}
		for _, s := range v.Type.Kind.Selectable {
			path := trimDot(s.JSONPath)
			steps, err := selectorSteps(r.Hub, v.Type, s)
			if err != nil {
				p.errs.Add(s.Pos, "selectable field %s: %s", s.JSONPath, err)
				continue
			}
			goPath := goPathOf(steps)
			if other, said := seen[path]; said {
				if other != goPath {
					p.errs.Add(s.Pos, "selectable field %s: is %s of the hub here, and %s in another version: a path "+
						"means the same in every version", s.JSONPath, goPath, other)
				}
				continue
			}
			seen[path] = goPath
			value, err := fieldValue(r.Hub, steps)
			if err != nil {
				p.errs.Add(s.Pos, "selectable field %s: %s", s.JSONPath, err)
				continue
			}
			fields = append(fields, jen.Custom(braces, member("Path", jen.Lit(path)), member("Value", value)))
		}
	}
	if fields == nil {
		return nil
	}
	return member("SelectableFields", jen.Index().Qual(apiPath, "SelectableField").Types(pointer(r.Hub)).Custom(braces,
		fields...))
}

// selectorSteps is where a version's selectable field stands in the hub.
func selectorSteps(hub, version *model.Type, s model.SelectableField) ([]model.Step, error) {
	if path := trimDot(s.JSONPath); path == "metadata.name" || path == "metadata.namespace" {
		return nil, faultf("every kind can be selected by that: remove the marker")
	}
	if s.Steps == nil {
		return nil, faultf("leads to no field of %s", version.Name)
	}
	return onHub(hub, version, s.Steps)
}

// goPathOf is a path by its Go names: Spec.Color.
func goPathOf(steps []model.Step) string {
	names := make([]string, 0, len(steps))
	for _, step := range steps {
		if step.Field != nil {
			names = append(names, step.Field.Name)
		}
	}
	return strings.Join(names, ".")
}

// fieldValue prints the function that reads a selectable field from the hub.
func fieldValue(hub *model.Type, steps []model.Step) (jen.Code, error) {
	var fault error
	code := jen.Func().Params(jen.Id("obj").Add(pointer(hub))).String().BlockFunc(func(g *jen.Group) {
		w := &walker{none: func() jen.Code { return jen.Return(jen.Lit("")) }, done: returnText}
		fault = w.walk(g, operand{expr: "obj", typ: hub}, steps)
	})
	return code, fault
}

// onHub finds the chain of fields on the hub that those of a version become: of the names that +apigen:conversion:name
// gives them, or of their own.
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
		case at.Form == model.Map && !step.IsIndex && step.Filter == nil:
			at = at.Elem
			continue
		default:
			return nil, faultf("only fields and keys of maps can be followed to the hub")
		}
		field := plan.Counterpart(at, step.Field)
		if field == nil {
			return nil, faultf("%s has no field %s: selectors work on the hub, so the path must exist there under "+
				"the same Go names, or those of +apigen:conversion:name",
				plan.TypeText(at), cmp.Or(step.Field.ConversionName, step.Field.Name))
		}
		out[i].Field = field
		at = field.Type
	}
	return out, nil
}

// returnText prints the statement that returns a value as field selectors compare it.
func returnText(g *jen.Group, found operand) error {
	value := jen.Id(found.value())
	switch t := found.typ; {
	case isString(t):
		g.Return(as("string", t, value))
	case isBool(t):
		g.Return(jen.Qual("strconv", "FormatBool").Call(as("bool", t, value)))
	case isInteger(t):
		g.Return(jen.Qual("strconv", "FormatInt").Call(as("int64", t, value), jen.Lit(10)))
	default:
		return faultf("%s is neither a string, nor a boolean, nor an integer", plan.TypeText(t))
	}
	return nil
}

func trimDot(path string) string {
	if path != "" && path[0] == '.' {
		return path[1:]
	}
	return path
}
