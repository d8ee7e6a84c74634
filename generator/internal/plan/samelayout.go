package plan

import (
	"apigen.dev/generator/internal/model"
)

// sameLayout reports whether a value of the one type can be taken for one of the other as it lies in memory, and means
// the same: fields of the same names in the same order, and no hand-written function or marker that says otherwise, at
// any depth. Recursive types are taken to be equal until a difference is found.
func (t *planner) sameLayout(a, b *model.Type) bool {
	p := Pair{a, b}
	key := p.Key()
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

func (t *planner) compare(p Pair, assumed map[string]bool) bool {
	key := p.Key()
	if known, ok := t.layouts[key]; ok {
		return known
	}
	if assumed[key] {
		return true
	}
	if t.funcs.blocks(p) || byMethod(p) != "" || byMethod(p.Reverse()) != "" {
		return false
	}
	if model.Identical(p.In, p.Out) {
		return true
	}
	assumed[key] = true
	if p.In.Form != p.Out.Form || p.In.ConversionOff || p.Out.ConversionOff ||
		len(p.In.TypeArgs)+len(p.Out.TypeArgs) > 0 {
		return false
	}
	if !t.nameable(p.In) || !t.nameable(p.Out) {
		return false
	}
	elems := func() bool { return t.compare(Pair{p.In.Elem, p.Out.Elem}, assumed) }
	switch p.In.Form {
	case model.Basic:
		return p.In.BasicName() == p.Out.BasicName()
	case model.Pointer, model.Slice:
		return elems()
	case model.Array:
		return p.In.Len == p.Out.Len && elems()
	case model.Map:
		return t.compare(Pair{p.In.Key, p.Out.Key}, assumed) && elems()
	case model.Struct:
		return t.compareFields(p, assumed)
	}
	return false
}

func (t *planner) compareFields(p Pair, assumed map[string]bool) bool {
	if len(p.In.Fields) != len(p.Out.Fields) {
		return false
	}
	for i, f := range p.In.Fields {
		g := p.Out.Fields[i]
		if f.ConversionName != "" || g.ConversionName != "" {
			return false
		}
		if f.Name != g.Name || !f.Exported || !g.Exported || f.ConversionOff || g.ConversionOff {
			return false
		}
		if !t.compare(Pair{f.Type, g.Type}, assumed) {
			return false
		}
	}
	return true
}

// nameable reports whether the type can be written in the package.
func (t *planner) nameable(typ *model.Type) bool {
	part, _ := model.Unnameable(t.Package, typ)
	return part == nil
}

// wholeStruct reports whether a struct may be converted by a single assignment: its layout is the same, and no field is
// treated in a way of its own.
func (t *planner) wholeStruct(p Pair) bool {
	for _, f := range p.In.Fields {
		if isTypeMeta(f.Type) {
			return false
		}
	}
	return t.sameLayout(p.In, p.Out)
}
