package plan

import "apigen.dev/generator/internal/model"

// OfZero returns what the defaults of markers make of the zero value of a struct, as the members of its JSON; it is
// empty where they set nothing. It leaves out what hand-written functions set, and what Go values decide: the default
// of a constant that can't be read.
func (d *Defaults) OfZero(t *model.Type) map[string]any {
	out := map[string]any{}
	plan := d.Types[t]
	if plan == nil || plan.ContainsItself {
		return out
	}
	for _, f := range plan.Fields {
		inside := d.insideZero(f)
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

// insideZero returns what defaults set inside the zero value of a field, or inside the struct that its own default is.
func (d *Defaults) insideZero(f FieldDefault) map[string]any {
	t := f.Field.Type
	if t.Form == model.Pointer && f.Default != nil {
		t = t.Elem
	}
	if t.Form != model.Struct || f.IfSet {
		return nil
	}
	return d.OfZero(t)
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
