package wiring

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
	"apigen.dev/generator/spelling"
)

// adders are the functions that register what a version has: the AddToScheme or Install of its home; or, where it is of
// another module, that module's own, or one in the wiring where it has none, and what was generated here.
func (p *printer) adders(v *model.Version) []jen.Code {
	from, home := v.Package, p.plan.Home(v.Package)
	if from.ServedBy == nil {
		return []jen.Code{jen.Qual(home.Path, p.plan.SchemeFunction(home, p.errs))}
	}
	var out []jen.Code
	if name := p.plan.Registrations[from].Function; name != "" {
		out = append(out, jen.Qual(from.Path, name))
	} else {
		p.unregistered = append(p.unregistered, v)
		out = append(out, jen.Id(adderName(v)))
	}
	if d := p.plan.Defaults[home]; d != nil && d.Registers {
		out = append(out, jen.Qual(home.Path, "RegisterDefaults"))
	}
	if p.plan.RegistersConversions(home) {
		out = append(out, jen.Qual(home.Path, "RegisterConversions"))
	}
	return out
}

func adderName(v *model.Version) string { return "add" + spelling.UpperFirst(v.Name) }

// adder prints the function that registers the kinds of a version whose package registers them nowhere that others can
// reach.
func (p *printer) adder(f *jen.File, v *model.Version) {
	args := []jen.Code{jen.Id("version")}
	add := func(t *model.Type) { args = append(args, jen.Op("&").Qual(t.Package.Path, t.Name).Values()) }
	for _, t := range v.Kinds {
		add(t)
		if list := t.Kind.ListType; list != nil && list.Methods["DeepCopyObject"] != nil {
			add(list)
		}
	}
	name := adderName(v)
	f.Commentf("%s registers the kinds of %s, which has no AddToScheme.", name, v.Package.Path)
	f.Add(gocode.Code("func "+name+"(scheme *runtime.Scheme) error {\nversion := $\nscheme.AddKnownTypes$\n"+
		"metav1.AddToGroupVersion(scheme, version)\nreturn nil\n}", p.groupVersion(v), jen.Custom(arguments, args...)))
}

// alias is the name under which a version of another module is imported: appsv1.
func (p *printer) alias(pkg *model.Package) string {
	return strings.ToLower(p.group.GoName) + pkg.Version
}
