package load

import (
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"apigen.dev/generator/internal/marker"
	"apigen.dev/generator/internal/model"
)

// This file holds the API by which package resolve reads the universe.

// Info is what the go command says of a package.
type Info struct {
	Name, Dir string
	// Module is nil for packages outside of all modules.
	Module *model.Module
	// Version is that of the module. Replaced: another module or a folder stands for it.
	Version  string
	Replaced bool
}

// Info returns what the go command says of a package, and whether it listed it.
func (u *Universe) Info(path string) (Info, bool) {
	meta := u.metas[path]
	if meta == nil {
		return Info{}, false
	}
	info := Info{Name: meta.Name, Dir: meta.Dir}
	if m := meta.Module; m != nil {
		if u.modules[m.Path] == nil {
			u.modules[m.Path] = &model.Module{Path: m.Path, Dir: m.Dir, Own: m.Main}
		}
		info.Module, info.Version, info.Replaced = u.modules[m.Path], m.Version, m.Replace != nil
	}
	return info, true
}

// Roots returns the packages that are read from source for their own sake, by path.
func (u *Universe) Roots() []*Source {
	byPath := func(a, b *Source) int { return strings.Compare(a.Path(), b.Path()) }
	out := slices.SortedFunc(maps.Values(u.sources), byPath)
	return slices.DeleteFunc(out, func(s *Source) bool { return !s.root })
}

// Root returns the root of that path, or nil.
func (u *Universe) Root(path string) *Source {
	if s := u.sources[path]; s != nil && s.root {
		return s
	}
	return nil
}

// IsRoot reports whether a package is read from source for its own sake.
func (u *Universe) IsRoot(p *types.Package) bool { return p != nil && u.Root(p.Path()) != nil }

// IsWritten tells the packages that files are written for.
func (u *Universe) IsWritten(p *types.Package) bool { return u.IsRoot(p) && u.sources[p.Path()].Output }

// Position returns a place in the source.
func (u *Universe) Position(pos token.Pos) token.Position { return u.fset.Position(pos) }

// RuntimeAvailable reports whether a module of the roots requires apigen.dev and has what wiring imports.
func (u *Universe) RuntimeAvailable() bool {
	for _, path := range u.options.RuntimeImports {
		if !u.Listed(path) {
			return false
		}
	}
	return u.runtime
}

// Listed reports whether the go command knows the files of a package.
func (u *Universe) Listed(path string) bool {
	m := u.metas[path]
	return m != nil && len(m.GoFiles) > 0
}

// Missing says what keeps a package from being imported: itself, or one that it imports and that go.mod or go.sum
// doesn't know, since no package imported it before. It is nil if the package can be imported.
func (u *Universe) Missing(path string) error {
	if !u.Listed(path) {
		return listError(u.metas[path])
	}
	for _, imported := range u.metas[path].Imports {
		if len(imported.GoFiles) == 0 && len(imported.Errors) > 0 {
			return listError(imported)
		}
	}
	return nil
}

// Path returns the import path of a root.
func (s *Source) Path() string { return s.meta.PkgPath }

// Name returns the name of a root.
func (s *Source) Name() string { return s.meta.Name }

// Markers returns those of the package itself.
func (s *Source) Markers() marker.Markers { return s.comments.Package.Markers }

// Depends returns the roots that a root imports, itself or by way of packages that are none, sorted.
func (u *Universe) Depends(s *Source) []string {
	seen, roots := map[string]bool{}, map[string]bool{}
	var visit func(path string)
	visit = func(path string) {
		p := u.metas[path]
		switch {
		case seen[path]:
		case u.Root(path) != nil:
			roots[path] = true
		case p != nil && own(p): // no package of another module imports the user's
			seen[path] = true
			for _, imported := range p.Imports {
				visit(imported.PkgPath)
			}
		}
	}
	for _, path := range s.Imports() {
		visit(path)
	}
	return slices.Sorted(maps.Keys(roots))
}

// Own reports whether the package is in a module of the user's.
func (s *Source) Own() bool { return own(s.meta) }

func own(p *packages.Package) bool { return p.Module != nil && p.Module.Main }
