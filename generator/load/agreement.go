package load

import (
	"fmt"
	"go/token"
	"strings"

	"apigen.dev/generator/marker"
)

// single are the markers, beside those of numbers, of which one thing has one.
var single = map[string]bool{
	"groupName": true, "groupGoName": true, "resourceName": true, "default": true, "kubebuilder:default": true,
	"listType": true, "mapType": true, "structType": true, "k8s:listType": true, "k8s:unique": true, "k8s:format": true,
	valuePrefix + "Pattern": true, valuePrefix + "Format": true, valuePrefix + "Enum": true, valuePrefix + "Type": true,
}

// opposed are markers that deny one another.
var opposed = [][2]string{
	{"required", "optional"}, {"k8s:required", "k8s:optional"}, {valuePrefix + "Required", valuePrefix + "Optional"},
}

// alike are markers of two grammars for one thing, which must say the same.
var alike = [][2]string{{"listType", "k8s:listType"}, {"default", "kubebuilder:default"}}

// disagreements reports what the markers of one thing say against one another.
func disagreements(ms marker.Markers, report reporter) {
	first := map[string]marker.Marker{}
	for _, m := range ms {
		if m.Definition == nil || !single[m.Name] && m.Definition.Kind != marker.Int && m.Definition.Kind != marker.Number {
			continue
		}
		before, said := first[m.Name]
		if !said {
			first[m.Name] = m
		} else if before.Value != m.Value {
			report(m.Pos, fmt.Sprintf("marker \"+%s\" is said twice, with %s here and with %s at line %d: remove one", m.Name, m.Value, before.Value, before.Pos.Line))
		}
	}
	for _, pair := range opposed {
		if ms.Has(pair[0]) && ms.Has(pair[1]) {
			a, _ := ms.Get(pair[0])
			b, _ := ms.Get(pair[1])
			report(later(a, b), fmt.Sprintf("+%s and +%s deny one another: remove one", pair[0], pair[1]))
		}
	}
	for _, pair := range alike {
		a, ok := first[pair[0]]
		b, too := first[pair[1]]
		if ok && too && plain(a.Value) != plain(b.Value) && !strings.ContainsAny(a.Value+b.Value, "{[(") {
			report(later(a, b), fmt.Sprintf("+%s=%s and +%s=%s deny one another: remove one", a.Name, a.Value, b.Name, b.Value))
		}
	}
}

func plain(value string) string { return marker.Unquote(strings.TrimSpace(value)) }

// later is the position of the marker that stands below the other.
func later(a, b marker.Marker) token.Position {
	if a.Pos.Filename == b.Pos.Filename && a.Pos.Offset > b.Pos.Offset || a.Pos.Line > b.Pos.Line {
		return a.Pos
	}
	return b.Pos
}
