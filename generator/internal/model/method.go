package model

import "slices"

// Method returns the method that values of a type, or pointers to them, have by that name: the type's own, or the one
// that Go promotes from a struct's embedded field. By is that field of the struct; it is nil for a method of its own.
// The method is nil if there is none.
func (t *Type) Method(name string) (method *Func, by *Field) {
	if t == nil {
		return nil, nil
	}
	if m := t.Methods[name]; m != nil {
		return m, nil
	}
	level := embeddedIn(t, nil)
	for passed := []*Type{t}; len(level) > 0; {
		var next, found []embedded
		for _, e := range level {
			switch m := e.method(name); {
			case m != nil:
				found = append(found, embedded{e.in, e.by, m})
			case !slices.Contains(passed, e.in):
				passed = append(passed, e.in)
				next = append(next, embeddedIn(e.in, e.by)...)
			}
		}
		switch {
		case len(found) == 1:
			return found[0].found, found[0].by
		case len(found) > 1: // Go promotes none of several
			return nil, nil
		}
		level = next
	}
	return nil, nil
}

// embedded is a type that a struct embeds, directly or not.
type embedded struct {
	in *Type
	// by is the field of the outermost struct that leads there.
	by    *Field
	found *Func
}

func (e embedded) method(name string) *Func {
	if e.in.Form == Interface && slices.Contains(e.in.InterfaceMethods, name) {
		return &Func{Name: name}
	}
	return e.in.Methods[name]
}

func embeddedIn(t *Type, by *Field) []embedded {
	var out []embedded
	if t.Form != Struct {
		return nil
	}
	for _, f := range t.Fields {
		if in := f.Type.Pointee(); f.Embedded && in != nil {
			leads := by
			if leads == nil {
				leads = f
			}
			out = append(out, embedded{in: in, by: leads})
		}
	}
	return out
}
