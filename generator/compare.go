package generator

import (
	"errors"
	"os"
	"path/filepath"
	"sort"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/output"
)

// compare finds the changes between what was generated and the disk. It refuses to touch what a user wrote.
func (b *build) compare(leftOver map[string]bool) error {
	var faults diag.Errors
	own := map[string]bool{}
	for _, p := range b.loaded.Program.Packages {
		if p.Module == nil || p.Module.Own {
			own[p.Dir] = true
		}
	}
	foreign := map[string]bool{}
	for _, m := range b.loaded.Matched {
		foreign[m.Dir] = !m.Own && !own[m.Dir]
	}
	for _, f := range b.files {
		path := filepath.Join(f.Dir, f.Name)
		if foreign[f.Dir] {
			faults.Add(model.Position{Filename: path}, "package %s is not of the main module or a workspace, so that "+
				"nothing can be written there", f.Package)
			continue
		}
		old, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if err != nil {
			old = nil
		} else if old == nil {
			old = []byte{}
		}
		if old != nil && !output.Generated(path, old) && !emit.Same(old, f.Content) {
			faults.Add(model.Position{Filename: path, Line: 1, Column: 1}, "this file is not generated (it has no "+
				"line \"// Code generated ... DO NOT EDIT.\"), but apigen writes a file of this name: rename it")
			continue
		}
		if old == nil || !emit.Same(old, f.Content) {
			b.result.Changes = append(b.result.Changes, output.Change{Path: path, Old: old, New: f.Content})
		}
	}
	for path := range leftOver {
		old, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b.result.Changes = append(b.result.Changes, output.Change{Path: path, Old: old})
	}
	sort.Slice(b.result.Changes, func(i, j int) bool { return b.result.Changes[i].Path < b.result.Changes[j].Path })
	return faults.Err()
}
