package wiring

import (
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

// madeOfZero returns what the defaults of markers make of the zero value of a struct, as the members of its JSON; it is
// empty if they set nothing. It leaves out what hand-written functions set, and what Go values decide: the default
// of a constant that can't be read.
func madeOfZero(d *plan.Defaults, t *model.Type) map[string]any {
	out := map[string]any{}
	own := d.Types[t]
	if own == nil || own.ContainsItself {
		return out
	}
	for _, f := range own.Fields {
		inside := madeInside(d, f)
		if f.Field.Inline {
			addMissing(out, inside)
			continue
		}
		switch value := valueOf(f.Default).(type) {
		case nil:
			if len(inside) > 0 {
				out[f.Field.JSON] = inside
			}
		case map[string]any:
			addMissing(value, inside)
			out[f.Field.JSON] = value
		default:
			out[f.Field.JSON] = value
		}
	}
	return out
}

// madeInside returns what defaults set inside the zero value of a field, or inside the struct that its own default is.
func madeInside(d *plan.Defaults, f plan.FieldDefault) map[string]any {
	t := f.Field.Type
	if t.Form == model.Pointer && f.Default != nil {
		t = t.Elem
	}
	if t.Form != model.Struct || f.IfSet {
		return nil
	}
	return madeOfZero(d, t)
}

func valueOf(d *model.Default) any {
	if d == nil || d.JSON == "" {
		return nil
	}
	return d.Value()
}

func addMissing(to, from map[string]any) {
	for name, value := range from {
		if _, ok := to[name]; !ok {
			to[name] = value
		}
	}
}
