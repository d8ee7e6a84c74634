// Package served answers what a server serves, without generating anything: for `apigen deploy` and `apigen init`.
package served

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"apigen.dev/generator/internal/load"
	"apigen.dev/generator/internal/product"
	"apigen.dev/generator/internal/program"
)

// Versions returns the versions that a server of the module in a folder serves: for each group with wiring, whether or
// not it was generated yet.
func Versions(ctx context.Context, dir string) ([]schema.GroupVersion, error) {
	loaded, err := program.Read(ctx, program.Options{Options: load.Options{
		Dir: dir, Patterns: []string{"./..."}, Owns: product.Owner(product.Emitters()), ReadOnly: true,
		Imports: product.Imports, RuntimeImports: product.RuntimeImports,
	}})
	if err != nil {
		return nil, err
	}
	var out []schema.GroupVersion
	for _, g := range loaded.Program.Wired() {
		for _, v := range g.ServedVersions() {
			out = append(out, schema.GroupVersion{Group: g.Name, Version: v.Name})
		}
	}
	return out, nil
}
