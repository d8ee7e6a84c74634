package wiring

import (
	"fmt"

	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

// checkHub reports a version of a kind that can't be converted to the hub and back: nothing is written for it, by hand
// or by the emitter of conversions.
func (p *printer) checkHub(r *model.Resource, v model.ResourceVersion) {
	home := p.plan.Home(v.Version.Package)
	for _, pair := range []plan.Pair{{In: v.Type, Out: r.Hub}, {In: r.Hub, Out: v.Type}} {
		if _, ok := p.plan.Converters[pair]; ok {
			continue
		}
		p.errs.Add(v.Type.Pos, "kind %s can't be served in version %s: nothing converts it to %s.%s, the hub, and "+
			"back: %s, or write func %s(in *%s, out *%s, s conversion.Scope) error and its reverse in package %s",
			r.Kind, v.Version.Name, r.Hub.Package.Name, r.Hub.Name, p.remedy(r, v, home),
			pair.Function(), plan.Text(pair.In, home), plan.Text(pair.Out, home), home.Path)
		return
	}
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
