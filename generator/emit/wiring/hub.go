package wiring

import (
	"fmt"

	"apigen.dev/generator/model"
)

// checkHub reports a version of a kind that can't be converted to the hub and back: nothing is written for it, by hand or
// by the emitter of conversions.
func (p *printer) checkHub(r *model.Resource, v model.ResourceVersion) {
	home := p.plan.Home(v.Version.Package)
	for _, pair := range [][2]*model.Type{{v.Type, r.Hub}, {r.Hub, v.Type}} {
		name := converterName(pair[0], pair[1])
		if p.convertedIn(v, pair[0], pair[1]) != nil {
			continue
		}
		p.errs.Add(v.Type.Pos, "kind %s can't be served in version %s: nothing converts it to %s.%s, the hub, and back: %s, or write func %s(in *%s, out *%s, s conversion.Scope) error and its reverse in package %s",
			r.Kind, v.Version.Name, r.Hub.Package.Name, r.Hub.Name, p.remedy(r, v, home),
			name, qualified(pair[0], home), qualified(pair[1], home), home.Path)
		return
	}
}

// convertedIn is the package with the function from in to out: the version's home, that of the hub where the version can't
// import it, or that of one of the types, where another module brings it. Nil where nobody converts.
func (p *printer) convertedIn(v model.ResourceVersion, in, out *model.Type) *model.Package {
	home, name := p.plan.Home(v.Version.Package), converterName(in, out)
	switch {
	case home.Func(name) != nil || p.emitted(home, in, out):
		return home
	case p.emitted(p.plan.Home(in.Package), in, out):
		return p.plan.Home(in.Package)
	case p.emitted(p.plan.Home(out.Package), in, out):
		return p.plan.Home(out.Package)
	case in.Package.Func(name) != nil:
		return in.Package
	case out.Package.Func(name) != nil:
		return out.Package
	}
	return nil
}

// remedy is what makes the emitter of conversions write what is missing.
func (p *printer) remedy(r *model.Resource, v model.ResourceVersion, home *model.Package) string {
	switch internal := p.group.Internal; {
	case internal != nil && r.Hub.Package != internal:
		return fmt.Sprintf("declare %s in the group's internal package %s", r.Kind, internal.Path)
	case v.Type.ConversionOff || r.Hub.ConversionOff:
		return "remove +k8s:conversion-gen=false from the type"
	case home.ConversionOff:
		return "remove +k8s:conversion-gen=false from package " + home.Path
	}
	return fmt.Sprintf("write // +k8s:conversion-gen=%s above the package clause of %s", r.Hub.Package.Path, home.Path)
}

// qualified is the type as code in the package writes it.
func qualified(t *model.Type, in *model.Package) string {
	if t.Package == in {
		return t.Name
	}
	return t.Package.Name + "." + t.Name
}
