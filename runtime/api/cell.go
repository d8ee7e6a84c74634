package api

import (
	"time"

	"apigen.dev/runtime/internal/cell"
)

// Cell is one value of a table row. Its zero value is null.
type Cell = cell.Cell

// Text is a cell of text.
func Text(s string) Cell { return Cell{Kind: cell.Text, Text: s} }

// Int is a cell of a whole number.
func Int(i int64) Cell { return Cell{Kind: cell.Int, Int: i} }

// Number is a cell of a number.
func Number(f float64) Cell { return Cell{Kind: cell.Number, Number: f} }

// Bool is a cell of true or false.
func Bool(b bool) Cell {
	if b {
		return Cell{Kind: cell.True}
	}
	return Cell{Kind: cell.False}
}

// Age is a cell of the time that has passed since t when the row is written; <unknown> where t is zero.
func Age(t time.Time) Cell { return Cell{Kind: cell.Age, Time: t} }

// AgeWithin is a cell of text with an age in it: "3 (", an hour ago, " ago)" is written as 3 (60m ago).
func AgeWithin(before string, t time.Time, after string) Cell {
	return Cell{Kind: cell.Age, Text: before, Time: t, After: after}
}
