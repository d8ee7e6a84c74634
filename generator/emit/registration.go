package emit

import "apigen.dev/generator/model"

// SchemeFunction returns the name of the function that adds the package's types to a scheme, for generated code that
// calls it. It reports a package that has none, and returns AddToScheme then.
func SchemeFunction(pkg *model.Package, errs *Errors) string {
	r := pkg.Registration()
	if r.Function != "" {
		return r.Function
	}
	const write = "write a func AddToScheme(scheme *runtime.Scheme) error"
	if r.Other == nil {
		errs.Add(pkg.Pos, "generated code calls AddToScheme, and package %s has none: %s that adds its types to the scheme",
			pkg.Path, write)
		return "AddToScheme"
	}
	remedy := write + " that calls it"
	if r.Other.FitsScheme() {
		remedy = "rename this function to AddToScheme, or " + remedy
	}
	errs.Add(r.Other.Pos, "generated code calls AddToScheme, and apigen generates none for package %s because %s "+
		"registers its types: %s", pkg.Path, r.Other.Name, remedy)
	return "AddToScheme"
}
