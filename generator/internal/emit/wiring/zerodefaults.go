package wiring

import (
	"strings"

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
	if t.Form != model.Struct || f.IfSet || f.IfSent {
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

// ifSent returns the paths of the optional structs of a kind that get defaults inside only if a client sends them. [*]
// stands for the elements of a list or map.
func ifSent(d *plan.Defaults, t *model.Type) []string {
	if d == nil {
		return nil
	}
	w := sentPaths{defaults: d, around: map[*model.Type]bool{}}
	w.inside(t, "")
	return w.paths
}

// sentPaths collects paths. around are the types that are being looked at: one that holds itself begins again.
type sentPaths struct {
	defaults *plan.Defaults
	around   map[*model.Type]bool
	paths    []string
}

func (w *sentPaths) inside(t *model.Type, path string) {
	own := w.defaults.Types[t]
	if own == nil || own.Covers || w.around[t] {
		return
	}
	w.around[t] = true
	switch t.Form {
	case model.Pointer:
		w.inside(t.Elem, path)
	case model.Slice, model.Array, model.Map:
		w.inside(t.Elem, path+"[*]")
	case model.Struct:
		for _, f := range own.Fields {
			at := path
			if !f.Field.Inline {
				at = strings.TrimPrefix(path+"."+f.Field.JSON, ".")
			}
			if f.IfSent {
				w.paths = append(w.paths, at)
			}
			w.inside(f.Field.Type, at)
		}
	}
	delete(w.around, t)
}
