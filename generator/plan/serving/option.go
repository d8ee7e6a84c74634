package serving

import (
	"apigen.dev/generator/diag"
	"apigen.dev/generator/model"
)

// Option is a field of the options of a subresource, which is read from the query.
type Option struct {
	// JSON is the name of the query parameter, Path leads to the field in Go.
	JSON, Path string
	// Function and Parser are the functions of the runtime's package subresource that read the field and one value;
	// Parsed is the type argument of the parser, or nil.
	Function, Parser string
	Parsed           *model.Type
}

// options decides how the options of a subresource are read, and reports the fields that can't be read.
func options(s *model.Subresource, t *model.Type, path string, depth int, faults *diag.Errors) []Option {
	var out []Option
	for _, f := range t.Fields {
		switch {
		case f.Ignored || !f.Exported || model.IsNamed(f.Type, metaPath, "TypeMeta", "ObjectMeta"):
		case f.Inline && f.Type.Form == model.Struct && depth < 8:
			out = append(out, options(s, f.Type, path+f.Name+".", depth+1, faults)...)
		default:
			o := Option{JSON: f.JSON, Path: path + f.Name}
			if !o.read(f.Type) {
				pos := f.Pos
				if !t.Package.Output {
					pos = s.Method.Pos
				}
				faults.Add(pos, "field %s of %s can't be read from a query, as the options of the subresource %s "+
					"are: it is %s; options are strings, booleans, whole numbers, times, pointers to these and lists "+
					"of them",
					f.Name, model.TypeText(t), s.Name, model.TypeText(f.Type))
				continue
			}
			out = append(out, o)
		}
	}
	return out
}

// read decides how values of a type are read, and reports whether they can be.
func (o *Option) read(t *model.Type) bool {
	o.Function = "QueryValue"
	switch {
	case t.Package == nil && t.Form == model.Pointer:
		o.Function, t = "QueryPointer", t.Elem
	case t.Package == nil && t.Form == model.Slice:
		o.Function, t = "QueryValues", t.Elem
	}
	switch {
	case model.IsNamed(t, metaPath, "Time", "MicroTime"):
		o.Parser, o.Parsed = "QueryParsed", t
	case model.IsString(t):
		o.Parser = "QueryText"
	case model.IsBool(t):
		o.Parser = "QueryBool"
	case t.Form == model.Basic && (t.Basic == "int" || t.Basic == "int8" || t.Basic == "int16" || t.Basic == "int32" ||
		t.Basic == "int64"):
		o.Parser = "QueryInt"
	}
	return o.Parser != ""
}
