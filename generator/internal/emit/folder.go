package emit

import (
	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

// Documents returns the documents that packages ask for in a folder of their own, which write makes for each package.
// A package that asks for none has no folder. Two packages with the same folder are a fault; what names the documents
// in its message.
func Documents(p *plan.Plan, what string, folder func(*model.Package) *model.Folder,
	write func(*model.Package, *diag.Errors) ([]File, error)) ([]File, error) {
	var errs diag.Errors
	var files []File
	taken := map[string]*model.Package{}
	for _, pkg := range p.Packages {
		at := folder(pkg)
		if at == nil || !p.Writes(pkg) {
			continue
		}
		if other := taken[at.Dir]; other != nil {
			errs.Add(at.Pos, "the %s of %s and %s would go to the same folder: name another", what, other.Path,
				pkg.Path)
			continue
		}
		taken[at.Dir] = pkg
		documents, err := write(pkg, &errs)
		if err != nil {
			return nil, err
		}
		files = append(files, documents...)
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return files, nil
}
