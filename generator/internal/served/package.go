package served

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/load"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/product"
	"apigen.dev/generator/internal/program"
)

// Package reads a package that the module in a folder requires, as the marker +apigen:serve would: its group, its
// version and its kinds. The field Served is set in those kinds that the marker alone serves.
func Package(ctx context.Context, dir, importPath string) (found *model.Package, err error) {
	asking, err := os.MkdirTemp(dir, "apigen-init-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(asking)) }()
	text := "// +apigen:serve=" + importPath + "\npackage asking\n"
	if err := os.WriteFile(filepath.Join(asking, "doc.go"), []byte(text), 0o600); err != nil {
		return nil, err
	}

	loaded, err := program.Read(ctx, program.Options{Options: load.Options{
		Dir: dir, Patterns: []string{"./" + filepath.Base(asking)}, Owns: product.Owner(product.Emitters()),
		Lenient: true, ReadOnly: true, Imports: product.Imports,
	}})
	var faults diag.Errors
	if errors.As(err, &faults) {
		for i := range faults {
			faults[i].Pos = model.Position{} // a file that is gone
		}
		err = faults
	}
	if err != nil {
		return nil, fmt.Errorf("package %s can't be served:\n%w", importPath, err)
	}
	for _, p := range loaded.Program.Packages {
		if p.Serves != nil && p.Serves.Path == importPath {
			return p.Serves, nil
		}
	}
	return nil, fmt.Errorf("package %s has no kinds to serve", importPath)
}
