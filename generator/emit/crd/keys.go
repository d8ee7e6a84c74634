package crd

import (
	"apigen.dev/generator/diag"
	"apigen.dev/generator/schema"
)

// keysOf warns of optional keys of a list: kube-apiserver refuses a list whose elements may lack a key. A server of the
// user's own accepts it, and k8s.io/api has such lists.
func keysOf(list *schema.Field, out *diag.Errors) {
	markers := &list.Go.Schema
	if markers.ListType != "map" || list.Type.Elem == nil {
		return
	}
	for _, name := range markers.ListMapKeys {
		if key := list.Type.Elem.Property(name); key != nil && !key.Required && key.Default == nil {
			out.Add(markers.ListMapKeysPos, refuses+"the key %q of the elements of %s is optional and has no default: "+
				"mark %s with +required, or give it a +default", name, list.Go.Name, key.Go.Name)
		}
	}
}
