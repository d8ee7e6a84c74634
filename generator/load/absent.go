package load

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strconv"

	"golang.org/x/tools/go/packages"
)

// absences reports imports of packages of other modules that need a package which isn't there: they can't be compiled, and what
// is read of them from source lacks what the package declares.
func (l *loader) absences() {
	for _, path := range l.rootPaths() {
		s := l.sources[path]
		if s.shallow || !s.output && !own(s.meta) {
			continue
		}
		for _, f := range s.files {
			if !s.generated[f] {
				l.absent(s, f.Imports)
			}
		}
	}
}

func (l *loader) absent(s *source, imports []*ast.ImportSpec) {
	for _, spec := range imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		if err := l.lacks(path); err != nil {
			s.wrong = true
			l.errs.Add(l.fset.Position(spec.Path.Pos()), "could not import %s (%v)", path, err)
		}
	}
}

// lacks says what a package of another module needs, by whatever it imports, that isn't there; nil where all is.
func (u *Universe) lacks(path string) error {
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
				return fmt.Errorf("%s imports %s, of which the go command says: %w", p.PkgPath, name, listError(needed))
			}
			if err := visit(needed); err != nil {
				return err
			}
		}
		return nil
	}
	return visit(u.metas[path])
}
