// +k8s:deepcopy-gen=package

// Package base is an internal version that another group's refers to.
package base

// Part is converted by generated functions.
type Part struct {
	Name  string
	Count int64
}

// Unit is converted by hand.
type Unit struct {
	Meters int
}

// Note is laid out alike, and its function only copies.
type Note struct {
	Text string
}

// Good is what a stock has of.
type Good string

// Stock is laid out alike, and its function only copies.
type Stock map[Good]int64

// Mark is not converted at all.
type Mark struct {
	Text string
}
