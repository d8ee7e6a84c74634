// Package diag holds diagnostics: the faults of the user's input, each at its position. The packages that load,
// resolve, judge and emit share them; diag knows none of them.
package diag

import (
	"fmt"
	"go/token"
	"sort"
	"strings"
)

// Error is a fault in the input, at a position.
type Error struct {
	Pos token.Position
	// Message says what was seen and what to write instead.
	Message string
	// Lenient: --lenient makes it a warning.
	Lenient bool
}

func (e Error) Error() string {
	if e.Pos.IsValid() {
		return fmt.Sprintf("%s: %s", e.Pos, e.Message)
	}
	return e.Message
}

// Errors are all the faults of a run.
type Errors []Error

// Add appends an error.
func (e *Errors) Add(pos token.Position, format string, args ...any) {
	*e = append(*e, Error{Pos: pos, Message: fmt.Sprintf(format, args...)})
}

// Err returns the errors sorted by position and without duplicates, or nil where there are none.
func (e Errors) Err() error {
	if len(e) == 0 {
		return nil
	}
	sorted := append(Errors(nil), e...)
	sort.SliceStable(sorted, func(i, j int) bool { return less(sorted[i].Pos, sorted[j].Pos) })
	out := sorted[:1]
	for _, x := range sorted[1:] {
		if x != out[len(out)-1] {
			out = append(out, x)
		}
	}
	return out
}

func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, x := range e {
		lines[i] = x.Error()
	}
	return strings.Join(lines, "\n")
}

func less(a, b token.Position) bool {
	if a.Filename != b.Filename {
		return a.Filename < b.Filename
	}
	if a.Line != b.Line {
		return a.Line < b.Line
	}
	return a.Column < b.Column
}
