package conversion

import (
	"apigen.dev/generator/model"
)

// sameLayout tells whether a value of the one type can be taken for one of the other as it lies in memory, and means the
// same: fields of the same names in the same order, and no hand-written function or marker that says otherwise, at any
// depth. Recursive types are taken to be equal until a difference is found.
func (t *task) sameLayout(a, b *model.Type) bool {
	p := pair{a, b}
	key := p.key()
	if known, ok := t.layouts[key]; ok {
		return known
	}
	assumed := map[string]bool{}
	same := t.compare(p, assumed)
	if same {
		for k := range assumed {
			t.layouts[k] = true // each was compared under assumptions that all hold
		}
	}
	t.layouts[key] = same
	return same
}

func (t *task) compare(p pair, assumed map[string]bool) bool {
	key := p.key()
	if known, ok := t.layouts[key]; ok {
		return known
	}
	if assumed[key] {
		return true
	}
	if t.funcs.blocks(p) || byMethod(p) != nil || byMethod(p.reverse()) != nil {
		return false
	}
	if identical(p.in, p.out) {
		return true
	}
	assumed[key] = true
	if p.in.Form != p.out.Form || p.in.ConversionOff || p.out.ConversionOff || len(p.in.TypeArgs)+len(p.out.TypeArgs) > 0 {
		return false
	}
	if !t.nameable(p.in) || !t.nameable(p.out) {
		return false
	}
	elems := func() bool { return t.compare(pair{p.in.Elem, p.out.Elem}, assumed) }
	switch p.in.Form {
	case model.Basic:
		return basicName(p.in) == basicName(p.out)
	case model.Pointer, model.Slice:
		return elems()
	case model.Array:
		return p.in.Len == p.out.Len && elems()
	case model.Map:
		return t.compare(pair{p.in.Key, p.out.Key}, assumed) && elems()
	case model.Struct:
		return t.compareFields(p, assumed)
	}
	return false
}

func (t *task) compareFields(p pair, assumed map[string]bool) bool {
	if len(p.in.Fields) != len(p.out.Fields) {
		return false
	}
	for i, f := range p.in.Fields {
		g := p.out.Fields[i]
		if f.ConversionName != "" || g.ConversionName != "" {
			return false
		}
		if f.Name != g.Name || !f.Exported || !g.Exported || leftOut(f) || leftOut(g) {
			return false
		}
		if !t.compare(pair{f.Type, g.Type}, assumed) {
			return false
		}
	}
	return true
}

// nameable tells whether the type's own name, if it has one, can be written in the package.
func (t *task) nameable(typ *model.Type) bool {
	return typ.Package == nil || exported(typ.Name) || typ.Package.Path == t.pkg.Path
}

// wholeStruct tells whether a struct may be converted by a single assignment: its layout is the same, and no field is
// treated in a way of its own.
func (t *task) wholeStruct(p pair) bool {
	for _, f := range p.in.Fields {
		if isTypeMeta(f.Type) {
			return false
		}
	}
	return t.sameLayout(p.in, p.out)
}

// leftOut tells whether markers say that the field is not converted.
func leftOut(f *model.Field) bool { return f.ConversionOff }
