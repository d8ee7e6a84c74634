package wiring

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/emit/conversion"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

// Calls are the functions that the wiring of a group calls, for others that print code in its package and call the same.
type Calls struct{ printer *printer }

// CallsOf returns the calls of a group with wiring.
func CallsOf(p *plan.Plan, g *model.Group) Calls {
	c := &printer{plan: p, group: g, emitted: conversion.Emitted(p.Program), errs: &emit.Errors{}}
	c.scoped = c.callsHandWritten()
	return Calls{c}
}

// Scoped tells whether conversions take the scope that newScope returns, and not nil.
func (c Calls) Scoped() bool { return c.printer.scoped }

// Default is the function that sets the defaults of the type, or nil.
func (c Calls) Default(t *model.Type) jen.Code { return c.printer.defaulter(t) }

// Conversion is a function from in to out, two pointers, which uses the variable scope where the conversions are Scoped.
// One of the types is the version's, the other the hub's.
func (c Calls) Conversion(v model.ResourceVersion, in, out *model.Type) jen.Code {
	return c.printer.conversion(v, in, out)
}

// New is a function that returns an empty object of the type.
func (c Calls) New(t *model.Type) jen.Code { return constructor(t) }
