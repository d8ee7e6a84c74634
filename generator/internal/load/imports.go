package load

import (
	"fmt"
	"go/ast"
	"go/token"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// checkImports reports imports of packages of other modules that need a package which isn't there: they can't be
// compiled, and what is read of them from source lacks what the package declares.
func (u *Universe) checkImports() {
	for _, s := range u.Roots() {
		if s.Shallow || !s.Output && !own(s.meta) {
			continue
		}
		for _, f := range s.files {
			if s.generated[f] {
				continue
			}
			for path, spec := range importsOf(f) {
				if err := u.Lacks(path); err != nil {
					s.wrong = true
					u.errs.Add(u.fset.Position(spec.Path.Pos()), "could not import %s (%v)", path, err)
				}
			}
		}
	}
}

// Lacks says which package is missing that one of another module imports, directly or not; nil if none is.
func (u *Universe) Lacks(path string) error {
	seen := map[*packages.Package]bool{}
	var visit func(p *packages.Package) error
	visit = func(p *packages.Package) error {
		if p == nil || seen[p] || own(p) {
			return nil // in the user's own packages it is found at its place
		}
		seen[p] = true
		for _, name := range slices.Sorted(maps.Keys(p.Imports)) {
			needed := p.Imports[name]
			if needed.Dir == "" && len(needed.Errors) > 0 {
				return fmt.Errorf("%s imports %s, and the go command says: %w", p.PkgPath, name, listError(needed))
			}
			if err := visit(needed); err != nil {
				return err
			}
		}
		return nil
	}
	return visit(u.metas[path])
}

func importsOf(f *ast.File) iter.Seq2[string, *ast.ImportSpec] {
	return func(yield func(string, *ast.ImportSpec) bool) {
		for _, spec := range f.Imports {
			if path, err := strconv.Unquote(spec.Path.Value); err == nil && path != "" && !yield(path, spec) {
				return
			}
		}
	}
}

// importOf returns where a package imports the path, in the files that are asked for, or token.NoPos.
func (s *Source) importOf(path string, in func(*ast.File) bool) token.Pos {
	for _, f := range s.files {
		for imported, spec := range importsOf(f) {
			if imported == path && in(f) {
				return spec.Path.Pos()
			}
		}
	}
	return token.NoPos
}

// cycles reports packages that import one another in a ring, at an import of it that the user can take away.
func (u *Universe) cycles() {
	state := map[string]int{} // 1: on the way, 2: done
	var way []string
	var visit func(path string)
	visit = func(path string) {
		s := u.sources[path]
		if s == nil || state[path] == 2 {
			return
		}
		if state[path] == 1 {
			u.cycle(append(slices.Clone(way[slices.Index(way, path):]), path))
			return
		}
		state[path], way = 1, append(way, path)
		for _, i := range s.imported() {
			visit(i)
		}
		state[path], way = 2, way[:len(way)-1]
	}
	for _, s := range u.Roots() {
		visit(s.Path())
	}
}

// cycle reports one ring, whose first package is its last, too.
func (u *Universe) cycle(ring []string) {
	for i, path := range ring[:len(ring)-1] {
		s := u.sources[path]
		at := s.importOf(ring[i+1], func(*ast.File) bool { return true })
		if !s.root || !at.IsValid() {
			continue
		}
		imported := strings.Join(slices.Concat(ring[i+1:], ring[1:i+1]), ", which imports ")
		u.errs.Add(u.fset.Position(at), "%s: %s imports %s", importCycle, path, imported)
		s.broken = true
		return
	}
}

const importCycle = "import cycle"
