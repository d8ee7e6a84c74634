package load

import (
	"go/ast"
	"slices"
)

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
	for _, path := range u.rootPaths() {
		visit(path)
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
		text := ring[i]
		for n := range len(ring) - 1 {
			text += " imports " + ring[(i+n+1)%(len(ring)-1)]
			if n < len(ring)-2 {
				text += ", which"
			}
		}
		u.errs.Add(u.fset.Position(at), "%s: %s", importCycle, text)
		s.broken = true
		return
	}
}

// importCycle begins the message about an import cycle.
const importCycle = "import cycle"
