// +k8s:deepcopy-gen=package

// Package app is an internal version that refers to another group's.
package app

import "apigen.dev/generator/internal/emit/conversion/testdata/cross/base"

// App has parts of another group.
type App struct {
	Parts []base.Part
	Units map[string]base.Unit
	Notes []base.Note
	Stock base.Stock
	Mark  base.Mark
	Span  int
}
