package plan

import (
	"slices"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
)

// Conversions are what one package converts: the content of its file of conversions.
type Conversions struct {
	// Package gets the file. Types holds the spoke's types: the same package, or the one of
	// +k8s:conversion-gen-external-types.
	Package, Types *model.Package
	// Roots are the pairs asked for, in both directions, by the spoke's type. Functions are the functions of the file
	// in their order: those of the roots, and those that they call.
	Roots     []Pair
	Functions []*Conversion
	// FromQuery are the types that the query of a request is converted to.
	FromQuery []*QueryConversion
	// ByHand are the hand-written conversion functions of the package, by name.
	ByHand []*Converter
	// Casts are the pairs whose values are taken for one another as they lie in memory.
	Casts []Pair
	// Losses are those of the spoke's kinds.
	Losses []Losses
	// Invalid are markers that can't mean anything. Faults are fields that can't be converted, and names that are
	// taken.
	Invalid, Faults diag.Errors
}

// Empty reports whether there is nothing to write.
func (c *Conversions) Empty() bool {
	return len(c.Functions)+len(c.FromQuery)+len(c.ByHand) == 0
}

// Has reports whether a function for the pair was asked for.
func (c *Conversions) Has(p Pair) bool { return slices.Contains(c.Roots, p) }

// Of returns the conversion of a pair of structs for which a function is written; nil if there is none.
func (c *Conversions) Of(p Pair) *Conversion {
	if i := slices.IndexFunc(c.Functions, func(f *Conversion) bool { return f.Pair == p }); i >= 0 {
		return c.Functions[i]
	}
	return nil
}

type conversionPlan struct {
	universe *universe
	planners []*planner
}

func (p *Plan) convertPackages(u *universe) *conversionPlan {
	c := &conversionPlan{universe: u}
	for _, pkg := range p.Packages {
		if t := newPlanner(u, pkg, u.stored[pkg.Path]); t != nil {
			c.planners = append(c.planners, t)
		}
	}
	for _, t := range c.planners {
		for _, pair := range t.Roots {
			if u.emitted[pair.Key()] == nil && t.funcs.find(pair) == nil {
				u.emitted[pair.Key()] = t
			}
		}
	}
	p.ConversionFaults = checkPreserved(c.planners)
	for _, t := range c.planners {
		p.ConversionFaults = append(p.ConversionFaults, t.Invalid...)
		t.functions()
		t.queries()
		for _, pair := range t.kinds() {
			t.Losses = append(t.Losses, t.lossesOf(pair))
		}
		p.PackagePlans[t.Package].Conversions = t.Conversions
	}
	p.ConversionFaults = append(p.ConversionFaults, checkPruned(u.program, c.planners)...)
	for _, t := range c.planners {
		if p.Writes(t.Package) {
			p.ConversionFaults = append(p.ConversionFaults, t.Faults...)
		}
	}
	p.ConversionFaults = p.ConversionFaults.Sorted()
	return c
}

// conversion is the tree of a pair of kinds, as the package has it that converts them; that of a pair which no package
// here converts is made for its readers.
func (c *conversionPlan) conversion(p Pair) *Conversion {
	for _, t := range c.planners {
		if t.Has(p) {
			return t.conversion(p)
		}
	}
	return emptyPlanner(c.universe, p.In.Package).conversion(p)
}
