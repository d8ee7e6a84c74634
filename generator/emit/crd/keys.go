package crd

import (
	"apigen.dev/generator/emit"
	"apigen.dev/generator/model"
)

// warnings are of definitions that kube-apiserver refuses: it wants what elements of a list are told apart by to be there
// always. A server of one's own doesn't, and k8s.io/api has such lists.
func warnings(p *model.Program) []emit.Error {
	var out emit.Errors
	for _, pkg := range p.Packages {
		if pkg.CRDs == nil || !pkg.Output {
			continue
		}
		seen := map[*model.Type]bool{}
		for _, r := range resourcesBelow(p, pkg) {
			for _, v := range r.versions {
				keysWithin(v.Type, seen, &out)
			}
		}
	}
	return out
}

// keysWithin visits the user's own types that a type leads to.
func keysWithin(t *model.Type, seen map[*model.Type]bool, out *emit.Errors) {
	for t = t.Pointee(); t.Elem != nil && t.Name == ""; t = t.Elem.Pointee() {
	}
	if seen[t] || t.Package != nil && (t.Package.Module == nil || !t.Package.Module.Own) {
		return
	}
	seen[t] = true
	for _, f := range t.Fields {
		if !f.Ignored {
			keysOf(f, out)
			keysWithin(f.Type, seen, out)
		}
	}
	if t.Elem != nil {
		keysWithin(t.Elem, seen, out)
	}
}

// keysOf warns of the keys of a list that may be left out.
func keysOf(list *model.Field, out *emit.Errors) {
	t := list.Type.Pointee()
	if list.Schema.ListType != "map" || t.Elem == nil {
		return
	}
	for _, name := range list.Schema.ListMapKeys {
		if key := property(t.Elem.Pointee(), name, 0); key != nil && !demanded(key) && key.Default == nil && key.Type.Pointee().Default == nil {
			out.Add(list.Schema.ListMapKeysPos, "kube-apiserver refuses the CustomResourceDefinition: the key %q of the elements of %s is optional and has no default: mark %s with +required, or give it a +default", name, list.Name, key.Name)
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
