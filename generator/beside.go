package generator

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/model"
	"apigen.dev/generator/verify"
)

// explain names what code may lack that doesn't compile: generated code of packages of the user's own that were not asked
// for. Then it is no bug of apigen.
func (b *build) explain(err error) error {
	var faults emit.Errors
	for _, p := range b.staleBeside() {
		faults.Add(p.Pos, "the generated code of package %s is missing or stale, and it is not among the packages to build: name it, too", p.Path)
	}
	if faults == nil {
		return err
	}
	var users emit.Errors
	if !errors.As(err, &verify.Bug{}) && !errors.As(err, &users) {
		return err
	}
	return append(faults, users...).Err()
}

// staleBeside are the packages that were not asked for and whose files would change.
func (b *build) staleBeside() []*model.Package {
	byPath := map[string]*model.Package{}
	for _, p := range b.loaded.Program.Packages {
		if !p.Output && p.Module != nil && p.Module.Own {
			byPath[p.Path], p.Output = p, true
		}
	}
	defer func() {
		for _, p := range byPath {
			p.Output = false
		}
	}()
	stale := map[*model.Package]bool{}
	for _, e := range b.all {
		files, _ := e.Emit(b.loaded.Program) // faults of what nobody asked for are not told
		for _, f := range files {
			p := byPath[f.Package]
			if p == nil {
				continue
			}
			if old, err := os.ReadFile(filepath.Join(f.Dir, f.Name)); err != nil || !bytes.Equal(old, f.Content) {
				stale[p] = true
			}
		}
	}
	var out []*model.Package
	for _, p := range b.loaded.Program.Packages {
		if stale[p] {
			out = append(out, p)
		}
	}
	return out
}
