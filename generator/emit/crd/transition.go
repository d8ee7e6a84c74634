package crd

import (
	"slices"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/model"
)

// transitions warns of what must not change in lists without keys: kube-apiserver refuses rules about a change where it can't tell
// which element was which.
type transitions struct {
	out  *emit.Errors
	seen map[visited]bool
}

// visited is a type within such a list, or outside of one.
type visited struct {
	t     *model.Type
	loose bool
}

// place visits a value of a type, and what is said of it. Loose is one within a list without keys.
func (w *transitions) place(t *model.Type, s *model.Schema, name string, loose bool) {
	w.immutable(s, name, loose)
	t = t.Pointee()
	if t.Name != "" {
		w.immutable(&t.Schema, name, loose)
		if w.seen[visited{t, loose}] || t.Package != nil && (t.Package.Module == nil || !t.Package.Module.Own) {
			return
		}
		w.seen[visited{t, loose}] = true
	}
	for _, f := range t.Fields {
		if !f.Ignored {
			w.place(f.Type, &f.Schema, f.Name, loose)
		}
	}
	if t.Elem == nil {
		return
	}
	list := t.Form == model.Slice || t.Form == model.Array
	items := s.Items
	if items == nil {
		items = &model.Schema{}
	}
	w.place(t.Elem, items, "an element of "+name, loose || list && s.ListType != "map" && t.Schema.ListType != "map")
}

func (w *transitions) immutable(s *model.Schema, name string, loose bool) {
	i := slices.IndexFunc(s.Rules, func(r model.Rule) bool { return r.Check == model.Immutable })
	if loose && s.Immutable && i >= 0 {
		w.out.Add(s.Rules[i].Pos, refuses+"%s is immutable, and in a list whose elements can't be followed: make it a +listType=map, or remove +%s", name, s.Rules[i].Marker)
	}
}
