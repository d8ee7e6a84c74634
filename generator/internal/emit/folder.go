package emit

import (
	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

// Documents is a product that packages ask for in a folder of their own.
type Documents struct {
	// What names the documents in messages.
	What string
	// Folder is nil for a package that asks for none.
	Folder func(*model.Package) *model.Folder
	// Faults keep the documents of a package from being made, which Write makes.
	Faults func(*model.Program, *model.Package) diag.Errors
	Write  func(*model.Program, *model.Package) ([]File, error)
}

// FindFaults returns the faults of all packages. Two packages with the same folder are one.
func (d Documents) FindFaults(p *plan.Plan) diag.Errors {
	var out diag.Errors
	taken := map[string]*model.Package{}
	for _, pkg := range p.Written() {
		at := d.Folder(pkg)
		if at == nil {
			continue
		}
		if other := taken[at.Dir]; other != nil {
			out.Add(at.Pos, "the %s of %s and %s would go to the same folder: name another", d.What, other.Path,
				pkg.Path)
			continue
		}
		taken[at.Dir] = pkg
		out = append(out, d.Faults(p.Program, pkg)...)
	}
	return out.Sorted()
}

// Emit returns the documents of all packages.
func (d Documents) Emit(p *plan.Plan) ([]File, error) {
	var files []File
	for _, pkg := range p.Written() {
		if d.Folder(pkg) == nil {
			continue
		}
		documents, err := d.Write(p.Program, pkg)
		if err != nil {
			return nil, err
		}
		files = append(files, documents...)
	}
	return files, nil
}
