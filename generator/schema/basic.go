package schema

import (
	"apigen.dev/generator/model"
)

// Basic is a row of the table of predeclared types.
type Basic struct {
	JSON JSON
	// Size is the number of bits in Go; 0 for types that are no numbers.
	Size     int
	Unsigned bool
	// Bits is the width that clients need for integers.
	Bits int
	// Format is that of Kubernetes' OpenAPI documents, ControllerGen the one that controller-gen writes.
	Format, ControllerGen string
}

// Basics is the table of predeclared types.
var Basics = map[string]Basic{
	"bool":   {JSON: Boolean},
	"string": {JSON: String},

	"int":   {JSON: Integer, Size: 64, Bits: 64, Format: "int32"},
	"int8":  {JSON: Integer, Size: 8, Bits: 32, Format: "int32"},
	"int16": {JSON: Integer, Size: 16, Bits: 32, Format: "int32"},
	"int32": {JSON: Integer, Size: 32, Bits: 32, Format: "int32", ControllerGen: "int32"},
	"rune":  {JSON: Integer, Size: 32, Bits: 32, Format: "int32", ControllerGen: "int32"},
	"int64": {JSON: Integer, Size: 64, Bits: 64, Format: "int64", ControllerGen: "int64"},

	"uint":    {JSON: Integer, Size: 64, Unsigned: true, Bits: 64, Format: "int64"},
	"uint8":   {JSON: Integer, Size: 8, Unsigned: true, Bits: 32, Format: "int32"},
	"byte":    {JSON: Integer, Size: 8, Unsigned: true, Bits: 32, Format: "int32"},
	"uint16":  {JSON: Integer, Size: 16, Unsigned: true, Bits: 32, Format: "int32"},
	"uint32":  {JSON: Integer, Size: 32, Unsigned: true, Bits: 64, Format: "int64", ControllerGen: "int32"},
	"uint64":  {JSON: Integer, Size: 64, Unsigned: true, Bits: 64, Format: "int64", ControllerGen: "int64"},
	"uintptr": {JSON: Integer, Size: 64, Unsigned: true, Bits: 64, Format: "int64"},

	"float32": {JSON: Number, Size: 32, Format: "float"},
	"float64": {JSON: Number, Size: 64, Format: "double"},
}

// IsBytes reports whether a type is a slice of bytes, which JSON encodes as a base64 string. JSON encodes arrays of
// bytes as lists of numbers.
func IsBytes(t *model.Type) bool {
	if t.Form != model.Slice || t.Elem == nil || t.Elem.Form != model.Basic {
		return false
	}
	row := Basics[t.Elem.Basic]
	return row.Size == 8 && row.Unsigned
}
