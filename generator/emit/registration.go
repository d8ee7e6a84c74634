package emit

import "apigen.dev/generator/model"

// SchemeFunction returns the name of the function that adds the package's types to a scheme, for generated code that
// calls it. It reports a package that has none, and returns AddToScheme then.
func SchemeFunction(pkg *model.Package, errs *Errors) string {
	const write = "write a func AddToScheme(scheme *runtime.Scheme) error"
	switch r := pkg.Registration(); {
	case r.Function != "":
		return r.Function
	case r.Other == nil:
		errs.Add(pkg.Pos, "package %s has no AddToScheme, which generated code calls: %s that adds its types to the scheme",
			pkg.Path, write)
	case r.Other.FitsScheme():
		errs.Add(r.Other.Pos, "%s registers the types of package %s, so that no AddToScheme is generated, and generated "+
			"code calls AddToScheme: give this function that name, or %s that calls it", r.Other.Name, pkg.Path, write)
	default:
		errs.Add(r.Other.Pos, "%s registers the types of package %s, so that no AddToScheme is generated, and generated "+
			"code calls AddToScheme: %s that calls it", r.Other.Name, pkg.Path, write)
	}
	return "AddToScheme"
}
