package plan

import (
	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
)

// ValidatedElsewhere reports whether another package than the given one has the function that checks values of a type.
func (p *Plan) ValidatedElsewhere(pkg *model.Package, t *model.Type) bool {
	if t.Package == nil || t.Package == pkg || !t.Package.Output && !t.Package.Own() {
		return false
	}
	other := p.OfPackage(t.Package).Validations
	return other != nil && other.Exported(t)
}

// ValidationFaults keep the validation functions of a package from being written.
func (p *Plan) ValidationFaults(pkg *model.Package) diag.Errors {
	return p.OfPackage(pkg).Validations.Faults(func(t *model.Type) bool { return p.ValidatedElsewhere(pkg, t) })
}
