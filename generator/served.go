package generator

import (
	"context"

	"apigen.dev/generator/load"
	"apigen.dev/generator/resolve"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Served returns the versions that a server of the module in a folder serves: for each group with wiring, whether or
// not it was generated yet.
func Served(ctx context.Context, dir string) ([]schema.GroupVersion, error) {
	loaded, err := resolve.Load(ctx, resolve.Options{Options: load.Options{
		Dir: dir, Patterns: []string{"./..."}, Owns: owner(Emitters()), ReadOnly: true,
		Imports: imports, RuntimeImports: runtimeImports,
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
