package report

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/folder"
)

// Unenforced sums up the warnings about what the user wrote and the server doesn't do: how much of it there is,
// and where, by cause. It is empty if there is none. All lists every place.
func Unenforced(w diag.Errors, dir string, all bool) string {
	dir = folder.Resolved(dir)
	total, byCause := 0, map[string][]string{}
	for _, e := range w {
		if e.Unenforced == "" {
			continue
		}
		total++
		at := relativeTo(diag.Errors{{Pos: e.Pos}}, dir)[0].Pos.String()
		byCause[causeOf(e)] = append(byCause[causeOf(e)], at)
	}
	if total == 0 {
		return ""
	}
	out := []string{fmt.Sprintf("%s not enforced:", counted(total, "thing is", "things are"))}
	for _, cause := range slices.Sorted(maps.Keys(byCause)) {
		out = append(out, fmt.Sprintf("  %d of %s: %s", len(byCause[cause]), cause, places(byCause[cause], all)))
	}
	return strings.Join(out, "\n")
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func places(at []string, all bool) string {
	const few = 3
	if all || len(at) <= few {
		return strings.Join(at, ", ")
	}
	return fmt.Sprintf("%s, and %d more (-v lists all)", strings.Join(at[:few], ", "), len(at)-few)
}

// causeOf names what isn't enforced: the marker at the position, or else the kind of thing.
func causeOf(e diag.Error) string {
	if name := diag.TextAt(e.Pos, markerPattern); name != "" {
		return name
	}
	return e.Unenforced
}

var markerPattern = regexp.MustCompile(`^\+[\w:.-]+`)
