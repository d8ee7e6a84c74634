package plan

import (
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

func (p *Plan) convert(u *universe) {
	trees := p.convertPackages(u)
	for _, g := range p.Wired() {
		p.Scoped[g] = p.handWritten(g) && hasSpokes(g)
		for _, r := range g.Resources {
			for _, v := range wireVersions(r, r.Versions) {
				there := Pair{v.typ, v.hub}
				for _, pair := range []Pair{there, there.Reverse()} {
					if v.typ != v.hub && p.PairPlans[pair] == nil {
						p.PairPlans[pair] = &PairPlan{Converter: p.converter(v.typ, pair)}
					}
				}
			}
			for _, v := range r.Served() {
				if pair := (Pair{v.Type, r.Hub}); v.Type != r.Hub {
					p.PairPlans[pair].RoundTrip = roundTripOf(trees.conversion(pair))
				}
			}
		}
	}
}

// converter is the function for a pair; empty where nothing converts.
func (p *Plan) converter(version *model.Type, pair Pair) Func {
	if home := p.convertedIn(version, pair); home != nil {
		return Func{home.Path, pair.Function()}
	}
	return Func{}
}

// convertedIn is the package with the function for a pair: the version's home, that of the hub where the version can't
// import it, or that of one of the types, where another module brings it. Nil where nothing converts.
func (p *Plan) convertedIn(version *model.Type, pair Pair) *model.Package {
	name := pair.Function()
	home, in, out := p.Home(version.Package), p.Home(pair.In.Package), p.Home(pair.Out.Package)
	switch {
	case home.Func(name) != nil || p.converted(home, pair):
		return home
	case p.converted(in, pair):
		return in
	case p.converted(out, pair):
		return out
	case pair.In.Package.Func(name) != nil:
		return pair.In.Package
	case pair.Out.Package.Func(name) != nil:
		return pair.Out.Package
	}
	return nil
}

func (p *Plan) converted(home *model.Package, pair Pair) bool {
	c := p.OfPackage(home).Conversions
	return c != nil && c.Has(pair)
}

// Conversions are those of each package that is a spoke, in the order of the packages.
func (p *Plan) Conversions() []*Conversions {
	var out []*Conversions
	for _, pkg := range p.Packages {
		if c := p.OfPackage(pkg).Conversions; c != nil {
			out = append(out, c)
		}
	}
	return out
}

// RegistersConversions reports whether the package has a RegisterConversions after the run.
func (p *Plan) RegistersConversions(pkg *model.Package) bool {
	c := p.OfPackage(pkg).Conversions
	return pkg.Func("RegisterConversions") != nil || c != nil && !c.Empty()
}

// Preserves reports whether objects of the version carry fields of the hub in an annotation.
func (p *Plan) Preserves(version, hub *model.Type) bool {
	return slices.ContainsFunc(p.Conversions(), func(c *Conversions) bool {
		f := c.Of(Pair{version, hub})
		return f != nil && slices.ContainsFunc(f.Carriers, func(c *Carrier) bool { return !c.Own })
	})
}

// handWritten reports whether the author wrote conversion functions, which may use the conversion.Scope that they are
// given; generated ones only hand it on.
func (p *Plan) handWritten(g *model.Group) bool {
	var packages []*model.Package
	if g.Internal != nil {
		packages = append(packages, g.Internal)
	}
	for _, pkg := range g.Packages() {
		packages = append(packages, pkg, p.Home(pkg))
	}
	for _, r := range g.Resources {
		if r.SameAs != nil {
			packages = append(packages, r.Hub.Package, p.Home(r.Hub.Package))
		}
	}
	return slices.ContainsFunc(packages, func(pkg *model.Package) bool {
		return slices.ContainsFunc(pkg.Funcs, func(f *model.Func) bool { return strings.HasPrefix(f.Name, "Convert_") })
	})
}

func hasSpokes(g *model.Group) bool {
	return slices.ContainsFunc(g.Resources, func(r *model.Resource) bool {
		return slices.ContainsFunc(r.Served(), func(v model.ResourceVersion) bool { return v.Type != r.Hub })
	})
}
