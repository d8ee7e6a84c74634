package deepcopy

import "github.com/dave/jennifer/jen"

// place is an operand of emitted code that is read or written: a variable, a field of it, or what a pointer points to.
// Places are values: none changes once it is made.
type place struct {
	code *jen.Statement
	// pointee: code is the pointer, and the place is what it points to.
	pointee bool
}

func variable(name string) place { return place{code: jen.Id(name)} }

func pointed(name string) place { return place{code: jen.Id(name), pointee: true} }

func (p place) value() *jen.Statement {
	if p.pointee {
		return jen.Op("*").Add(p.code)
	}
	return jen.Add(p.code)
}

// operand is the value where something follows it: an index, a second star.
func (p place) operand() *jen.Statement {
	if p.pointee {
		return jen.Parens(p.value())
	}
	return p.value()
}

func (p place) address() *jen.Statement {
	if p.pointee {
		return jen.Add(p.code)
	}
	return jen.Op("&").Add(p.code)
}

// field and call go through a pointer without a star.
func (p place) field(name string) place { return place{code: jen.Add(p.code).Dot(name)} }

func (p place) call(method string, args ...jen.Code) *jen.Statement {
	return jen.Add(p.code).Dot(method).Call(args...)
}

func (p place) index(by string) place { return place{code: p.operand().Index(jen.Id(by))} }

func (p place) star() place { return place{code: p.operand(), pointee: true} }

func (p place) set(value jen.Code) *jen.Statement { return p.value().Op("=").Add(value) }

func (p place) ifNotNil(body ...jen.Code) *jen.Statement {
	return jen.If(p.value().Op("!=").Nil()).Block(body...)
}
