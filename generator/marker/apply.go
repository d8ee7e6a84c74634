package marker

import (
	"iter"
	"slices"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/model"
)

// Use is a marker where it stands, as setters see it.
type Use struct {
	Marker
	// In is the package that the marker stands in. On is the type that it stands on, or whose values it is about; it
	// may be nil.
	In *model.Package
	On *model.Type

	beside Markers
	faults *diag.Errors
}

// Errorf reports what is wrong with the marker.
func (u *Use) Errorf(format string, args ...any) { u.faults.Add(u.Pos, format, args...) }

// says reports whether a marker that may say false doesn't.
func (m Marker) says() bool { return m.Value != "false" }

// off tells a marker that is there and says no.
func (m Marker) off() bool {
	switch m.Definition.Kind {
	case Flag, Bool, OptionalText:
		return !m.says()
	}
	return false
}

// ToPackage puts the markers into the package that they stand in.
func (ms Markers) ToPackage(p *model.Package) diag.Errors {
	return apply(ms, p, Use{In: p}, func(s *Set) func(*model.Package, *Use) { return s.Package })
}

// ToType puts the markers into a named type, but those of kinds.
func (ms Markers) ToType(t *model.Type) diag.Errors {
	u := Use{In: t.Package, On: t}
	ms = ms.effective()
	faults := apply(ms, t, u, func(s *Set) func(*model.Type, *Use) { return s.Type })
	return append(faults, ms.toSchema(&t.Schema, u)...)
}

// ToKind puts the markers into a kind, whose type is t.
func (ms Markers) ToKind(k *model.Kind, t *model.Type) diag.Errors {
	return apply(ms.effective(), k, Use{In: t.Package, On: t}, func(s *Set) func(*model.Kind, *Use) { return s.Kind })
}

// ToField puts the markers into a field of a struct of the package.
func (ms Markers) ToField(f *model.Field, p *model.Package) diag.Errors {
	u := Use{In: p, On: f.Type}
	ms = ms.effective()
	faults := apply(ms, f, u, func(s *Set) func(*model.Field, *Use) { return s.Field })
	return append(faults, ms.toSchema(&f.Schema, u)...)
}

// ToFunc puts the markers into a function.
func (ms Markers) ToFunc(f *model.Func) diag.Errors {
	return apply(ms, f, Use{In: f.Package}, func(s *Set) func(*model.Func, *Use) { return s.Func })
}

// ToConst puts the markers into a constant.
func (ms Markers) ToConst(c *model.Const) diag.Errors {
	return apply(ms.effective(), c, Use{}, func(s *Set) func(*model.Const, *Use) { return s.Const })
}

// apply calls the setters of the markers that count, in the order of the source.
func apply[T any](ms Markers, to *T, u Use, setter func(*Set) func(*T, *Use)) diag.Errors {
	var faults diag.Errors
	u.beside, u.faults = ms, &faults
	for i, m := range ms {
		if m.Definition == nil {
			continue
		}
		if set := setter(&m.Definition.Set); set != nil && ms.counts(i) {
			u.Marker = m
			set(to, &u)
		}
	}
	return faults
}

// counts reports whether a marker takes effect. Without Many only the last of a name does, and none does beside a
// marker that overrides it.
func (ms Markers) counts(i int) bool {
	d := ms[i].Definition
	if !d.Many && slices.ContainsFunc(ms[i+1:], func(m Marker) bool { return m.Definition == d }) {
		return false
	}
	return !slices.ContainsFunc(d.OverriddenBy, ms.has)
}

// has reports whether a marker of that name is there and doesn't say no.
func (ms Markers) has(name string) bool {
	m := ms.last(name)
	return m.Name != "" && (m.Definition == nil || !m.off())
}

// Counting returns the known markers of a type, without the betas around them.
func (ms Markers) Counting() iter.Seq[Marker] {
	return func(yield func(Marker) bool) {
		for _, m := range ms.effective() {
			if m.Definition != nil && !yield(m) {
				return
			}
		}
	}
}

// effective returns the markers that count: those that a beta wraps count as if they stood alone.
func (ms Markers) effective() Markers {
	var out Markers
	for _, m := range ms {
		for m.Definition != nil && m.Definition.Wraps == Transparent && m.Wrapped != nil {
			m = *m.Wrapped
		}
		out = append(out, m)
	}
	return out
}

// OnKind is a marker that +apigen:kind puts on a kind of another module.
type OnKind struct {
	// Kind is the name of the kind; HasKind tells none from empty.
	Kind    string
	HasKind bool
	// By is the marker of the package, whose value is the one that is put on the kind.
	By Marker
}

// OnKinds returns the markers that a package puts on kinds of another module.
func (ms Markers) OnKinds() []OnKind {
	var out []OnKind
	for _, m := range ms {
		if m.Definition != nil && m.Definition.Wraps == ForeignKind {
			kind, ok := m.Arg("")
			out = append(out, OnKind{Kind: kind, HasKind: ok, By: m})
		}
	}
	return out
}
