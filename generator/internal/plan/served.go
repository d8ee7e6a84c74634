package plan

import (
	"fmt"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan/hook"
	"apigen.dev/generator/internal/plan/serving"
)

func (p *Plan) serve(g *model.Group, r *model.Resource) *serving.Serving {
	s := serving.New(r)
	if s.Storage == nil && !r.WithoutStorage {
		return s
	}
	if h := p.Hook(r, hook.ValidateName); h != nil && s.Name != nil {
		s.Faults.Add(s.NamePos, "the names of %s follow the rule %s here, and %s checks them, too: remove one", r.Kind,
			s.Name.Word, h.Func.Name)
	}
	for _, v := range wireVersions(r, r.Served()) {
		p.checkHub(s, g, v)
		for _, c := range p.OfType(v.typ).Columns {
			if c.Fault != nil {
				s.Faults.Add(c.Pos, "column %q: %s", c.Name, c.Fault)
			}
		}
	}
	return s
}

// WiringFaults keep the wiring of groups from being written: two groups with one folder, resources that can't be
// served, and packages that can't be registered.
func (p *Plan) WiringFaults() diag.Errors {
	var out diag.Errors
	homes := map[string]*model.Group{}
	for _, g := range p.WiredGroups() {
		if other := homes[g.Wiring.Dir]; other != nil {
			out.Add(g.Packages()[0].Pos, "the groups %s and %s would both be wired in %s: put the packages of "+
				"each group into a folder of their own", other.Name, g.Name, g.Wiring.Path)
			continue
		}
		homes[g.Wiring.Dir] = g
		for _, r := range g.Resources {
			out = append(out, p.OfResource(r).Serving.Faults...)
		}
		registered := []*model.Package{g.Internal}
		for _, pkg := range g.Packages() {
			if pkg.ServedBy == nil { // the wiring registers those of other modules itself
				registered = append(registered, p.Home(pkg))
			}
		}
		for _, pkg := range registered {
			if pkg != nil {
				out = append(out, p.OfPackage(pkg).Registration.CallFaults(pkg)...)
			}
		}
	}
	return out.Sorted()
}

func (p *Plan) checkHub(s *serving.Serving, g *model.Group, v versionOf) {
	if v.typ == v.hub {
		return
	}
	home := p.Home(v.typ.Package)
	there := Pair{v.typ, v.hub}
	for _, pair := range []Pair{there, there.Reverse()} {
		if p.OfPair(pair).Converter != (Func{}) {
			continue
		}
		s.Faults.Add(v.typ.Pos, "kind %s can't be served in version %s: nothing converts it to %s.%s, the hub, and "+
			"back: %s, or write func %s(in *%s, out *%s, s conversion.Scope) error and its reverse in package %s",
			v.kind, v.name, v.hub.Package.Name, v.hub.Name, v.remedy(g.Internal, home),
			pair.Function(), model.TextIn(home, pair.In), model.TextIn(home, pair.Out), home.Path)
		return
	}
}

// remedy is what the user can do so that the missing conversions are generated.
func (v versionOf) remedy(internal, home *model.Package) string {
	switch {
	case internal != nil && v.hub.Package != internal:
		return fmt.Sprintf("declare %s in the group's internal package %s", v.kind, internal.Path)
	case v.typ.ConversionOff || v.hub.ConversionOff:
		return "remove +k8s:conversion-gen=false from the type"
	case home.ConversionOff:
		return "remove +k8s:conversion-gen=false from package " + home.Path
	}
	return fmt.Sprintf("write // +k8s:conversion-gen=%s above the package clause of %s", v.hub.Package.Path, home.Path)
}
