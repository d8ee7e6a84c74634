package marker

import (
	"go/token"
	"strings"

	"apigen.dev/generator/diag"
)

// Disagreements are the faults of markers of one thing that say different things, or deny one another.
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
			faults.Add(m.Pos, "marker \"+%s\" is said twice, with %s here and with %s at line %d: remove one",
				m.Name, m.Value, before.Value, before.Pos.Line)
		}
	}
	for _, name := range ms.names() {
		d := byName[name]
		if d.Agree.Denies != "" && ms.has(name) && ms.has(d.Agree.Denies) {
			faults.Add(later(ms.last(name), ms.last(d.Agree.Denies)),
				"+%s and +%s deny one another: remove one", name, d.Agree.Denies)
		}
		for _, other := range d.Agree.Yields {
			a, ok := first[other]
			b := first[name]
			if d.Agree.Same && ok && plain(a.Value) != plain(b.Value) && !strings.ContainsAny(a.Value+b.Value, "{[(") {
				faults.Add(later(a, b), "+%s=%s and +%s=%s deny one another: remove one", a.Name, a.Value, b.Name,
					b.Value)
			}
		}
	}
	return faults
}

// once tells whether one thing has one such marker.
func (d *Definition) once() bool { return d.Agree.Once || d.Kind == Int || d.Kind == Number }

// names are the names of known markers, in the order of the source, each once.
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

// last is the last marker of that name.
func (ms Markers) last(name string) Marker {
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].Name == name {
			return ms[i]
		}
	}
	return Marker{}
}

func plain(value string) string { return Unquote(strings.TrimSpace(value)) }

// later is the position of the marker that stands below the other.
func later(a, b Marker) token.Position {
	if a.Pos.Filename == b.Pos.Filename && a.Pos.Offset > b.Pos.Offset || a.Pos.Line > b.Pos.Line {
		return a.Pos
	}
	return b.Pos
}
