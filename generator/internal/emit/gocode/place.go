package gocode

import "github.com/dave/jennifer/jen"

// Place is an operand of emitted code that is read or written: a variable, a field of it, or what a pointer points to.
// Places are values: none changes once it is made, and each may be used many times.
type Place struct {
	code *jen.Statement
	// pointee: code is the pointer, and the place is what it points to.
	pointee bool
}

// Variable is the variable of that name.
func Variable(name string) Place { return Place{code: jen.Id(name)} }

// Pointee is what the pointer of that name points to: a variable, or *variable where that holds a pointer.
func Pointee(name string) Place { return Place{code: jen.Id(name), pointee: true} }

// Value is the place as an expression, which can be assigned to, too.
func (p Place) Value() *jen.Statement {
	if p.pointee {
		return jen.Op("*").Add(p.code)
	}
	return jen.Add(p.code)
}

// operand is the value where something follows it: an index, a second star.
func (p Place) operand() *jen.Statement {
	if p.pointee {
		return jen.Parens(p.Value())
	}
	return p.Value()
}

// Address is a pointer to the place.
func (p Place) Address() *jen.Statement {
	if p.pointee {
		return jen.Add(p.code)
	}
	return jen.Op("&").Add(p.code)
}

// Field is a field of the struct in the place.
func (p Place) Field(name string) Place { return Place{code: jen.Add(p.code).Dot(name)} }

// Call calls a method of the value in the place.
func (p Place) Call(method string, args ...jen.Code) *jen.Statement {
	return jen.Add(p.code).Dot(method).Call(args...)
}

// Index is an element of the slice, array or map in the place, by the variable that holds the index.
func (p Place) Index(by string) Place { return Place{code: p.operand().Index(jen.Id(by))} }

// Deref is what the pointer in the place points to.
func (p Place) Deref() Place { return Place{code: p.operand(), pointee: true} }

// Starred is what the pointer in the place points to, with the star written out: Go calls no methods through a pointer
// of a named type.
func (p Place) Starred() Place { return Place{code: jen.Parens(jen.Op("*").Add(p.operand()))} }

// Set assigns to the place.
func (p Place) Set(value jen.Code) *jen.Statement { return p.Value().Op("=").Add(value) }

// IfNotNil does the rest where the place holds a value.
func (p Place) IfNotNil(body ...jen.Code) *jen.Statement {
	return jen.If(p.Value().Op("!=").Nil()).Block(body...)
}
