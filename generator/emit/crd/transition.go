package crd

import (
	"slices"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/model"
	"apigen.dev/generator/schema"
)

// transitions warns of immutable values in lists without keys: kube-apiserver refuses rules about a change where it
// can't tell which element was which.
type transitions struct {
	out  *diag.Errors
	seen map[visited]bool
}

// visited is a type within such a list, or outside of one.
type visited struct {
	t     *schema.Type
	loose bool
}

// value visits a value of a type and its markers. Loose is a value within a list without keys.
func (w *transitions) value(t *schema.Type, s *model.Schema, name string, loose bool) {
	w.immutable(s, name, loose)
	if t.Go.Name != "" {
		w.immutable(&t.Go.Schema, name, loose)
		if w.seen[visited{t, loose}] || !editable(t.Go) {
			return
		}
		w.seen[visited{t, loose}] = true
	}
	for _, f := range t.Fields {
		w.value(f.Type, &f.Go.Schema, f.Go.Name, loose)
	}
	if t.Elem == nil {
		return
	}
	items := s.Items
	if items == nil {
		items = &model.Schema{}
	}
	list := t.Go.Form == model.Slice || t.Go.Form == model.Array
	unkeyed := list && s.ListType != "map" && t.Go.Schema.ListType != "map"
	w.value(t.Elem, items, "an element of "+name, loose || unkeyed)
}

func (w *transitions) immutable(s *model.Schema, name string, loose bool) {
	i := slices.IndexFunc(s.Rules, func(r model.Rule) bool { return r.Check == model.Immutable })
	if loose && s.Immutable && i >= 0 {
		w.out.Add(s.Rules[i].Pos, refuses+"%s is immutable, and in a list whose elements can't be followed: "+
			"make it a +listType=map, or remove +%s", name, s.Rules[i].Marker)
	}
}
