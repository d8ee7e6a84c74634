package gocode

import (
	"strconv"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/model"
)

// Names reports whether the type can be written in this file.
func (f *File) Names(t *model.Type) bool {
	part, _ := model.Unnameable(f.pkg, t)
	return part == nil
}

// Type is the type as it is written in this file, imports included. Of one that can't be written here Render fails:
// emitters don't ask for it, or have a judge that refuses it at the user's line.
func (f *File) Type(t *model.Type) *jen.Statement {
	if t.Name != "" {
		return f.named(t)
	}
	switch t.Form {
	case model.Basic:
		return jen.Id(t.Basic)
	case model.Pointer:
		return jen.Op("*").Add(f.Type(t.Elem))
	case model.Slice:
		return jen.Index().Add(f.element(t.Elem))
	case model.Array:
		return jen.Index(jen.Lit(int(t.Len))).Add(f.element(t.Elem))
	case model.Map:
		return jen.Map(f.Type(t.Key)).Add(f.element(t.Elem))
	case model.Struct:
		return f.structType(t)
	case model.Interface:
		if len(t.InterfaceMethods) == 0 {
			return jen.Id("any")
		}
	case model.UnsafePointer:
		return f.Qual("unsafe", "Pointer")
	}
	f.unnamed = append(f.unnamed, model.TypeText(t))
	return jen.Id("any")
}

func (f *File) element(t *model.Type) *jen.Statement {
	if t.Name == "" && t.Form == model.Basic && t.Basic == "uint8" {
		return jen.Id("byte")
	}
	return f.Type(t)
}

func (f *File) named(t *model.Type) *jen.Statement {
	name := jen.Id(t.Name)
	if t.Package != nil {
		name = f.PackageQual(t.Package, t.Name)
	}
	if len(t.TypeArgs) == 0 {
		return name
	}
	args := make([]jen.Code, len(t.TypeArgs))
	for i, arg := range t.TypeArgs {
		args[i] = f.Type(arg)
	}
	return name.Types(args...)
}

func (f *File) structType(t *model.Type) *jen.Statement {
	fields := make([]jen.Code, len(t.Fields))
	for i, field := range t.Fields {
		code := f.Type(field.Type)
		if !field.Embedded {
			code = jen.Id(field.Name).Add(code)
		}
		if field.Tag != "" {
			code.Op(RawLiteral(field.Tag))
		}
		fields[i] = code
	}
	return jen.Struct(fields...)
}

// RawLiteral returns the literal of a text that has quotes of its own, such as a tag or JSON: between backquotes, if Go
// can write it so.
func RawLiteral(text string) string {
	if strconv.CanBackquote(text) {
		return "`" + text + "`"
	}
	return strconv.Quote(text)
}
