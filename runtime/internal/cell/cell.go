// Package cell says what a cell of a Table's row holds. Authors' code makes cells by the functions of package api, and
// package rendition writes them. It may know no package of ours.
package cell

import "time"

// Cell is one value of a table row. Its zero value is null.
type Cell struct {
	Kind   Kind
	Text   string // of a cell of the kind Age, what stands before the age
	After  string // of a cell of the kind Age, what stands after the age
	Number float64
	Int    int64
	Time   time.Time
}

// Kind tells which members of a Cell count.
type Kind uint8

// The kinds of cells. Age is written as the time passed since Time, as kubectl shows it, between Text and After.
const (
	Null Kind = iota
	Text
	Int
	Number
	True
	False
	Age
)
