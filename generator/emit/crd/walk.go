package crd

import "apigen.dev/generator/model"

// walk visits the types that kinds lead to, once each, and their fields, as far as they are the user's to change.
type walk struct {
	ofType func(*model.Type)
	visit  func(*model.Field)
	seen   map[*model.Type]bool
}

// named visits a type, or that of its elements.
func (w *walk) named(t *model.Type) {
	t = t.Pointee()
	for t.Elem != nil && t.Name == "" {
		t = t.Elem.Pointee()
	}
	if w.seen[t] || t.Package != nil && (t.Package.Module == nil || !t.Package.Module.Own) {
		return
	}
	w.seen[t] = true
	if w.ofType != nil {
		w.ofType(t)
	}
	for _, f := range t.Fields {
		if f.Ignored {
			continue
		}
		if w.visit != nil {
			w.visit(f)
		}
		w.named(f.Type)
	}
	if t.Elem != nil {
		w.named(t.Elem)
	}
}
