package crd

import (
	"apigen.dev/generator/model"
	"apigen.dev/generator/schema"
)

// walk visits the types that kinds lead to, once each, and their fields, in the packages that the user can edit.
type walk struct {
	visitType  func(*schema.Type)
	visitField func(*schema.Field)
	seen       map[*model.Type]bool
}

// named visits a type, or that of its elements.
func (w *walk) named(t *schema.Type) {
	for t.Elem != nil && !t.Named() {
		t = t.Elem
	}
	if w.seen[t.Go] || !editable(t.Go) {
		return
	}
	w.seen[t.Go] = true
	if w.visitType != nil {
		w.visitType(t)
	}
	for _, f := range t.Fields {
		if w.visitField != nil {
			w.visitField(f)
		}
		w.named(f.Type)
	}
	if t.Elem != nil {
		w.named(t.Elem)
	}
}

// editable reports whether a type has no package, or one in a module of the user's own.
func editable(t *model.Type) bool {
	return t.Package == nil || t.Package.Module != nil && t.Package.Module.Own
}
