package generator_test

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/plan/serving"
)

// printPlan writes what is decided, for people: a line for each value that isn't zero, indented below what holds it.
func printPlan(w io.Writer, p *plan.Plan) {
	var clients []string
	for _, s := range p.ClientSets {
		for _, v := range s.Versions() {
			for _, k := range v.Kinds {
				clients = append(clients, fmt.Sprintf("%s: %s %s: %s", s.Path, v.GroupVersion(), k.Name(), k.Generic()))
			}
		}
	}
	for _, part := range []struct {
		name  string
		value any
	}{
		{"packages", p.PackagePlans}, {"faults of conversions", p.ConversionFaults}, {"clients", clients},
		{"scoped", p.Scoped}, {"resources", p.ResourcePlans}, {"types", p.TypePlans}, {"pairs", p.PairPlans},
	} {
		printValue(w, "", part.name, reflect.ValueOf(part.value))
	}
}

func printValue(w io.Writer, indent, name string, v reflect.Value) {
	if v.IsZero() || (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0 {
		return
	}
	if text := valueText(v); text != "" {
		fmt.Fprintf(w, "%s%s: %s\n", indent, name, text)
		return
	}
	fmt.Fprintf(w, "%s%s\n", indent, name)
	indent += "\t"
	v = reflect.Indirect(v)
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			printValue(w, indent, "-", v.Index(i))
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(valueText(a), valueText(b)) })
		for _, key := range keys {
			printValue(w, indent, valueText(key), v.MapIndex(key))
		}
	case reflect.Struct:
		for field, value := range v.Fields() {
			if field.IsExported() && field.Name != "Pos" {
				printValue(w, indent, field.Name, value)
			}
		}
	}
}

func valueText(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case *plan.Conversion, *plan.QueryConversion, plan.Losses:
		return ""
	case *model.Package:
		return x.Path
	case *model.Type:
		return model.TypeKey(x)
	case *model.Field:
		return x.Name
	case *model.Func:
		return x.Name
	case *model.Default:
		return cmp.Or(x.JSON, fmt.Sprint(x.Ref))
	case *model.Group:
		return x.Name
	case *model.Resource:
		return x.Plural + " of " + model.TypeText(x.Hub)
	case *model.ResourceVersion:
		return x.Version.Name
	case *model.Subresource:
		return x.Name
	case *plan.Converter:
		return x.String()
	case diag.Error:
		return x.Message
	case error:
		return x.Error()
	case []model.Step:
		return serving.GoPath(x)
	case fmt.Stringer:
		return x.String()
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.Struct, reflect.Pointer:
		return ""
	}
	return fmt.Sprint(v.Interface())
}
