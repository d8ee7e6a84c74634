package plan

import "apigen.dev/generator/internal/model"

// A hand-written function takes care of all that is inside of its struct: nothing is demanded for it. The auto...
// function beside it converts the fields that can be converted, and leaves the others to it.

// leave leaves those fields to the hand-written function of a struct that lead to structs which can't be converted.
// What hand-written code of the package calls is demanded all the same.
func (t *planner) leave(c *Conversion) {
	for _, f := range c.Fields {
		if f.Fate == Moved && !t.whole(f.Move, map[Pair]bool{}) {
			f.Fate = LeftToHand
			t.demandNamed(f.Move, map[Pair]bool{})
		}
	}
}

// whole reports whether all functions can be written that a move leads to. Those on the way are taken to be whole.
func (t *planner) whole(m *Move, active map[Pair]bool) bool {
	c, ok := t.written(m)
	if !ok || active[c.Pair] || t.named(c.Pair) {
		return true
	}
	active[c.Pair] = true
	for _, f := range c.Fields {
		switch {
		case f.Fate == Missing && t.carried[f.Field]:
		case len(f.problems()) > 0, f.Fate == Moved && !t.whole(f.Move, active):
			return false
		}
	}
	return true
}

// demandNamed requests the functions that a move would lead to, as far as hand-written code calls them.
func (t *planner) demandNamed(m *Move, seen map[Pair]bool) {
	c, ok := t.written(m)
	if !ok || seen[c.Pair] {
		return
	}
	seen[c.Pair] = true
	if t.named(c.Pair) {
		t.request(c)
		return
	}
	for _, f := range c.Fields {
		if f.Move != nil {
			t.demandNamed(f.Move, seen)
		}
	}
}

// written returns the conversion of structs for which this run would write a function because of a move.
func (t *planner) written(m *Move) (*Conversion, bool) {
	for m.Elem != nil && m.Kind != Cast && m.Kind != Call {
		m = m.Elem
	}
	if m.Kind != CallConversion || m.Home != nil || m.Conversion.Cast || m.Conversion.Method != "" {
		return nil, false
	}
	return m.Conversion, true
}

// named reports whether hand-written code of the package calls one of the pair's functions.
func (t *planner) named(p Pair) bool {
	return t.Package.Mentions[p.Function()] || t.Package.Mentions["auto"+p.Function()]
}

// lends reports whether a package calls the conversions of another one for types that are not that one's business:
// those of other modules, between packages that serve such modules' kinds.
func lends(p Pair, in, from *model.Package) bool {
	foreign := func(t *model.Type) bool {
		return t.Package != nil && !t.Package.Own()
	}
	return from.Serves != nil && in.Serves != nil && foreign(p.In) && foreign(p.Out)
}

// checkCall reports a hand-written function of another package that can't be called: one of several, or one whose
// package leads back to this one.
func (t *planner) checkCall(fn *Converter) {
	key := fn.Pair.Key()
	if t.funcs.far[key] != fn {
		return
	}
	home := t.universe.packages[fn.Path]
	for _, rival := range t.funcs.rivals[key] {
		at := t.universe.packages[rival.Path].Func(rival.Name).Pos
		t.Faults.Add(at, "%s is in package %s too: which of the two converts for package %s can't be told, so keep "+
			"one of them, or write %s in package %s", fn.Name, fn.Path, t.Package.Path, fn.Pair.signature(t.Package),
			t.Package.Path)
	}
	if len(t.funcs.rivals[key]) > 0 {
		return
	}
	if way := t.universe.call(t.Package, home); way != nil {
		t.Faults.Add(home.Func(fn.Name).Pos, "package %s needs the conversion %s, and can't import its package, which "+
			"leads back: %s; write %s in package %s, too", t.Package.Path, fn.Name, joinWay(way),
			fn.Pair.signature(t.Package), t.Package.Path)
	}
}
