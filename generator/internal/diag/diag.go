// Package diag holds diagnostics: the faults of the user's input, each at its position. The packages that load,
// resolve, judge and emit share them; diag knows none of them.
package diag

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
	"strings"
)

// Error is a fault in the input, at a position.
type Error struct {
	Pos token.Position
	// Message says what was seen and what to write instead.
	Message string
	// Lenient: --lenient makes it a warning.
	Lenient bool
	// Unenforced says, in the plural, of what kind the thing is that the server doesn't do because of it: Markers or
	// Functions. It is empty where everything is done. It matters of warnings.
	Unenforced string
}

// The kinds of things that a warning may say isn't enforced.
const (
	Markers   = "markers, types and struct tags"
	Functions = "methods and functions that nothing calls"
)

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

// Err returns Sorted, or nil if there are none.
func (e Errors) Err() error {
	if len(e) == 0 {
		return nil
	}
	return e.Sorted()
}

// Sorted returns the errors sorted by position and without duplicates.
func (e Errors) Sorted() Errors {
	sorted := slices.Clone(e)
	slices.SortStableFunc(sorted, func(a, b Error) int {
		return cmp.Or(strings.Compare(a.Pos.Filename, b.Pos.Filename), a.Pos.Line-b.Pos.Line, a.Pos.Column-b.Pos.Column)
	})
	return slices.Compact(sorted)
}

func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, x := range e {
		lines[i] = x.Error()
	}
	return strings.Join(lines, "\n")
}
