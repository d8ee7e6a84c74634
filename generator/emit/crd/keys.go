package crd

import (
	"apigen.dev/generator/emit"
	"apigen.dev/generator/model"
)

// keysOf warns of the keys of a list that may be left out: kube-apiserver wants what elements are told apart by to be there always.
// A server of one's own doesn't, and k8s.io/api has such lists.
func keysOf(list *model.Field, out *emit.Errors) {
	t := list.Type.Pointee()
	if list.Schema.ListType != "map" || t.Elem == nil {
		return
	}
	for _, name := range list.Schema.ListMapKeys {
		if key := property(t.Elem.Pointee(), name, 0); key != nil && !demanded(key) && key.Default == nil && key.Type.Pointee().Default == nil {
			out.Add(list.Schema.ListMapKeysPos, refuses+"the key %q of the elements of %s is optional and has no default: mark %s with +required, or give it a +default", name, list.Name, key.Name)
		}
	}
}

// property is the field of a struct that is called so in JSON, also where it comes with an embedded one; nil where there is none.
func property(t *model.Type, name string, depth int) *model.Field {
	if depth > 8 { // a struct may embed a pointer to itself
		return nil
	}
	for _, f := range t.Fields {
		switch {
		case f.Ignored:
		case f.Inline:
			if inner := property(f.Type.Pointee(), name, depth+1); inner != nil {
				return inner
			}
		case f.JSON == name:
			return f
		}
	}
	return nil
}
