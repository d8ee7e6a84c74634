package wiring

import (
	"strings"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

// ifSent returns the paths of the structs of a kind that get defaults inside only if a client sends them. [*] stands
// for the elements of a list or map.
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
