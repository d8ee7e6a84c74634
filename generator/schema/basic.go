package schema

// Basic is a row of the table of predeclared types.
type Basic struct {
	JSON JSON
	// Bits is the width that clients need for integers.
	Bits int
	// Format is that of Kubernetes' OpenAPI documents, ControllerGen the one that controller-gen writes.
	Format, ControllerGen string
}

// Basics is the table of predeclared types.
var Basics = map[string]Basic{
	"bool":   {JSON: Boolean},
	"string": {JSON: String},

	"int":   {JSON: Integer, Bits: 64, Format: "int32"},
	"int8":  {JSON: Integer, Bits: 32, Format: "int32"},
	"int16": {JSON: Integer, Bits: 32, Format: "int32"},
	"int32": {JSON: Integer, Bits: 32, Format: "int32", ControllerGen: "int32"},
	"rune":  {JSON: Integer, Bits: 32, Format: "int32", ControllerGen: "int32"},
	"int64": {JSON: Integer, Bits: 64, Format: "int64", ControllerGen: "int64"},

	"uint":    {JSON: Integer, Bits: 64, Format: "int64"},
	"uint8":   {JSON: Integer, Bits: 32, Format: "int32"},
	"byte":    {JSON: Integer, Bits: 32, Format: "int32"},
	"uint16":  {JSON: Integer, Bits: 32, Format: "int32"},
	"uint32":  {JSON: Integer, Bits: 64, Format: "int64", ControllerGen: "int32"},
	"uint64":  {JSON: Integer, Bits: 64, Format: "int64", ControllerGen: "int64"},
	"uintptr": {JSON: Integer, Bits: 64, Format: "int64"},

	"float32": {JSON: Number, Format: "float"},
	"float64": {JSON: Number, Format: "double"},
}
