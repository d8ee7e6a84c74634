package marker

import (
	"fmt"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
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

// fault is Errorf for a message that begins with the marker.
func (u *Use) fault(format string, args ...any) {
	u.Errorf("marker \"+%s\"%s", u.Name, fmt.Sprintf(format, args...))
}

// ToPackage puts the markers into the package that they stand in.
func (ms Markers) ToPackage(p *model.Package) diag.Errors {
	return apply(ms, p, Use{In: p}, func(s *Set) func(*model.Package, *Use) { return s.Package })
}

// ToType puts the markers into a named type, but those of kinds.
func (ms Markers) ToType(t *model.Type) diag.Errors {
	u := Use{In: t.Package, On: t}
	ms = ms.Effective()
	faults := apply(ms, t, u, func(s *Set) func(*model.Type, *Use) { return s.Type })
	return append(faults, ms.toSchema(&t.Schema, u)...)
}

// ToKind puts the markers into a kind, whose type is t.
func (ms Markers) ToKind(k *model.Kind, t *model.Type) diag.Errors {
	return apply(ms.Effective(), k, Use{In: t.Package, On: t}, func(s *Set) func(*model.Kind, *Use) { return s.Kind })
}

// ToField puts the markers into a field of a struct of the package.
func (ms Markers) ToField(f *model.Field, p *model.Package) diag.Errors {
	u := Use{In: p, On: f.Type}
	ms = ms.Effective()
	faults := apply(ms, f, u, func(s *Set) func(*model.Field, *Use) { return s.Field })
	return append(faults, ms.toSchema(&f.Schema, u)...)
}

// ToFunc puts the markers into a function.
func (ms Markers) ToFunc(f *model.Func) diag.Errors {
	return apply(ms, f, Use{In: f.Package}, func(s *Set) func(*model.Func, *Use) { return s.Func })
}

// ToConst puts the markers into a constant.
func (ms Markers) ToConst(c *model.Const) diag.Errors {
	return apply(ms.Effective(), c, Use{}, func(s *Set) func(*model.Const, *Use) { return s.Const })
}

// apply calls the setters of the markers that count, in the order of the source.
func apply[T any](ms Markers, to *T, u Use, setter func(*Set) func(*T, *Use)) diag.Errors {
	var faults diag.Errors
	u.beside, u.faults = ms, &faults
	for i, m := range ms {
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

func (ms Markers) named(name string) Markers {
	return slices.DeleteFunc(slices.Clone(ms), func(m Marker) bool { return m.Name != name })
}

// has reports whether a marker of that name is there and doesn't say no.
func (ms Markers) has(name string) bool {
	same := ms.named(name)
	if len(same) == 0 {
		return false
	}
	m := same[len(same)-1]
	return m.True() || !slices.Contains([]Kind{Flag, Bool, OptionalText}, m.Definition.Kind)
}

// Effective returns the markers without the betas around them: what a beta wraps counts as if it stood alone.
func (ms Markers) Effective() Markers {
	var out Markers
	for _, m := range ms {
		for m.Definition.Wraps == Transparent && m.Wrapped != nil {
			m = *m.Wrapped
		}
		out = append(out, m)
	}
	return out
}

// OnKinds returns the markers that put others on kinds of another module.
func (ms Markers) OnKinds() Markers {
	return slices.DeleteFunc(slices.Clone(ms), func(m Marker) bool { return m.Definition.Wraps != ForeignKind })
}

// Asking returns the markers that ask something of other packages.
func (ms Markers) Asking(r Request) Markers {
	return slices.DeleteFunc(slices.Clone(ms), func(m Marker) bool { return m.Definition.Asks != r })
}

// seenFrom says where something else stands: its line, and its file if that is another one.
func seenFrom(here, there model.Position) string {
	if here.Filename == there.Filename {
		return fmt.Sprintf("line %d", there.Line)
	}
	return fmt.Sprintf("%s:%d", filepath.Base(there.Filename), there.Line)
}

// Disagreements returns the faults of markers of one declaration that differ, or contradict each other.
func (ms Markers) Disagreements() diag.Errors {
	var faults diag.Errors
	seen := map[string]bool{}
	for _, m := range ms {
		d, same := m.Definition, ms.named(m.Name)
		if seen[m.Name] {
			if before := same[0]; d.once() && before.Value != m.Value {
				faults.Add(m.Pos, "marker \"+%s\" is given twice, with %s here and with %s at %s: remove one",
					m.Name, m.Value, before.Value, seenFrom(m.Pos, before.Pos))
			}
			continue
		}
		seen[m.Name] = true
		if d.Contradicts != "" && ms.has(m.Name) && ms.has(d.Contradicts) {
			others := ms.named(d.Contradicts)
			faults.Add(lower(same[len(same)-1], others[len(others)-1]), "+%s and +%s contradict each other: remove one",
				m.Name, d.Contradicts)
		}
		for _, a := range ms.overriding(d) {
			if d.MustMatch && plain(a.Value) != plain(m.Value) && !strings.ContainsAny(a.Value+m.Value, "{[(") {
				faults.Add(lower(a, m), "+%s=%s and +%s=%s contradict each other: remove one", a.Name, a.Value, m.Name,
					m.Value)
			}
		}
	}
	return faults
}

// once reports whether a declaration has one such marker.
func (d *Definition) once() bool { return d.Single || d.Kind == Int || d.Kind == Number }

// overriding returns the first of the markers of each name that override those of the definition.
func (ms Markers) overriding(d *Definition) Markers {
	var out Markers
	for _, name := range d.OverriddenBy {
		if same := ms.named(name); len(same) > 0 {
			out = append(out, same[0])
		}
	}
	return out
}

func plain(value string) string { return Unquote(strings.TrimSpace(value)) }

// lower returns the position of the marker that stands below the other.
func lower(a, b Marker) token.Position {
	if a.Pos.Filename == b.Pos.Filename && a.Pos.Offset > b.Pos.Offset || a.Pos.Line > b.Pos.Line {
		return a.Pos
	}
	return b.Pos
}
