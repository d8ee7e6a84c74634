package gocode

import (
	"strings"

	"github.com/dave/jennifer/jen"
)

// Place is an operand of emitted code that is read or written: a variable, a field of it, or what a pointer points to.
// Places are values: none changes once it is made, and each may be used many times.
type Place struct {
	code *jen.Statement
	// stars counts the pointers to follow from the code to the place.
	stars int
}

// Variable is the variable of that name.
func Variable(name string) Place { return Place{code: jen.Id(name)} }

// Pointee is what the pointer variable of that name points to.
func Pointee(name string) Place { return Place{code: jen.Id(name), stars: 1} }

// Value is the place as an expression, which can be assigned to, too.
func (p Place) Value() *jen.Statement { return p.follow(p.stars) }

// follow returns what a number of pointers lead to.
func (p Place) follow(stars int) *jen.Statement {
	if stars == 0 {
		return jen.Add(p.code)
	}
	return jen.Op(strings.Repeat("*", stars)).Add(p.code)
}

// operand is the value where something follows it: an index, a selector. Stars bind less than those.
func (p Place) operand(stars int) *jen.Statement {
	if stars == 0 {
		return p.follow(0)
	}
	return jen.Parens(p.follow(stars))
}

// selectable is the operand of a selector, which follows one pointer by itself.
func (p Place) selectable() *jen.Statement { return p.operand(max(p.stars-1, 0)) }

// Address is a pointer to the place.
func (p Place) Address() *jen.Statement {
	if p.stars > 0 {
		return p.follow(p.stars - 1)
	}
	return jen.Op("&").Add(p.code)
}

// Field is a field of the struct in the place.
func (p Place) Field(name string) Place { return Place{code: p.selectable().Dot(name)} }

// Call calls a method of the value in the place.
func (p Place) Call(method string, args ...jen.Code) *jen.Statement {
	return p.selectable().Dot(method).Call(args...)
}

// Index is an element of the slice, array or map in the place, by the variable that holds the index.
func (p Place) Index(by string) Place { return Place{code: p.operand(p.stars).Index(jen.Id(by))} }

// Deref is what the pointer in the place points to.
func (p Place) Deref() Place { return Place{code: p.code, stars: p.stars + 1} }

// Starred is what the pointer in the place points to, with the star written out: Go calls no methods through a pointer
// of a named type.
func (p Place) Starred() Place { return Place{code: p.Deref().operand(p.stars + 1)} }

// Set assigns to the place.
func (p Place) Set(value jen.Code) *jen.Statement { return p.Value().Op("=").Add(value) }

// IfNotNil does the rest where the place holds a value.
func (p Place) IfNotNil(body ...jen.Code) *jen.Statement {
	return jen.If(p.Value().Op("!=").Nil()).Block(body...)
}
