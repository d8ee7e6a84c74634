package crd

import "apigen.dev/generator/emit"
import "apigen.dev/generator/model"

// Remarks x
func Remarks(p *model.Program) []emit.Error { return nil }
