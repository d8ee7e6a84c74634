package marker

import (
	"go/token"
	"slices"
	"strings"

	"apigen.dev/generator/diag"
)

// Disagreements returns the faults of markers of one declaration that differ, or contradict each other.
func (ms Markers) Disagreements() diag.Errors {
	var faults diag.Errors
	first := map[string]Marker{}
	for _, m := range ms {
		if m.Definition == nil || !m.Definition.once() {
			continue
		}
		before, again := first[m.Name]
		if !again {
			first[m.Name] = m
		} else if before.Value != m.Value {
			faults.Add(m.Pos, "marker \"+%s\" is given twice, with %s here and with %s at line %d: remove one",
				m.Name, m.Value, before.Value, before.Pos.Line)
		}
	}
	for _, name := range ms.names() {
		d := byName[name]
		if d.Contradicts != "" && ms.has(name) && ms.has(d.Contradicts) {
			faults.Add(later(ms.last(name), ms.last(d.Contradicts)), "+%s and +%s contradict each other: remove one",
				name, d.Contradicts)
		}
		for _, other := range d.OverriddenBy {
			a, ok := first[other]
			b := first[name]
			if d.MustMatch && ok && plain(a.Value) != plain(b.Value) && !strings.ContainsAny(a.Value+b.Value, "{[(") {
				faults.Add(later(a, b), "+%s=%s and +%s=%s contradict each other: remove one", a.Name, a.Value, b.Name,
					b.Value)
			}
		}
	}
	return faults
}

// once reports whether one thing has one such marker.
func (d *Definition) once() bool { return d.Single || d.Kind == Int || d.Kind == Number }

// names returns the names of known markers, in the order of the source, each once.
func (ms Markers) names() []string {
	var out []string
	seen := map[string]bool{}
	for _, m := range ms {
		if m.Definition != nil && !seen[m.Name] {
			seen[m.Name] = true
			out = append(out, m.Name)
		}
	}
	return out
}

// last returns the last marker of that name, or a zero one.
func (ms Markers) last(name string) Marker {
	for _, m := range slices.Backward(ms) {
		if m.Name == name {
			return m
		}
	}
	return Marker{}
}

func plain(value string) string { return Unquote(strings.TrimSpace(value)) }

// later returns the position of the marker that stands below the other.
func later(a, b Marker) token.Position {
	if a.Pos.Filename == b.Pos.Filename && a.Pos.Offset > b.Pos.Offset || a.Pos.Line > b.Pos.Line {
		return a.Pos
	}
	return b.Pos
}
