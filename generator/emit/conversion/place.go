package conversion

import (
	"github.com/dave/jennifer/jen"
)

// place is something in emitted code that can be read, written and pointed at.
type place struct {
	prefix string // what stands before it to read it: "", "*", "**"
	expr   func() *jen.Statement
}

// value reads or writes the place.
func (p place) value() *jen.Statement {
	if p.prefix == "" {
		return p.expr()
	}
	return jen.Op(p.prefix).Add(p.expr())
}

// addr points at the place.
func (p place) addr() *jen.Statement {
	switch p.prefix {
	case "":
		return jen.Op("&").Add(p.expr())
	case "*":
		return p.expr()
	}
	return jen.Op(p.prefix[1:]).Add(p.expr())
}

// deref is what the pointer at the place points to.
func (p place) deref() place {
	return place{prefix: p.prefix + "*", expr: p.expr}
}

func fieldOf(variable, name string) place {
	return place{expr: func() *jen.Statement { return jen.Id(variable).Dot(name) }}
}

// variable is what a pointer variable points to.
func variable(name string) place {
	return place{prefix: "*", expr: func() *jen.Statement { return jen.Id(name) }}
}

func local(name string) place {
	return place{expr: func() *jen.Statement { return jen.Id(name) }}
}

// element is element i of the slice or array that a pointer variable points to.
func element(name string) place {
	return place{expr: func() *jen.Statement {
		return jen.Parens(jen.Op("*").Id(name)).Index(jen.Id("i"))
	}}
}

// shadow begins a block in which in and out point at the two places.
func shadow(from, to place) jen.Code {
	return jen.List(jen.Id("in"), jen.Id("out")).Op(":=").List(from.addr(), to.addr())
}
