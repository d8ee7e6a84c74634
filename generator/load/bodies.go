package load

import (
	"go/ast"
	"go/parser"
)

// Files that other tools generated are as large as all others together, nearly all of it bodies of functions (methods for
// protobuf), and nothing asks for those but the check of finished code: they are dropped as soon as a file is parsed, and
// read once more for that check, a package at a time.

// dropBodies takes the bodies of a file's functions away, but those that the type checker insists on.
func dropBodies(f *ast.File) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if ok && fn.Type.TypeParams == nil && (fn.Recv != nil || fn.Name.Name != "init" && fn.Name.Name != "main") {
			fn.Body = nil
		}
	}
}

// withBodies puts files of other tools back in, with their bodies, until the function that it returns is called. A file that
// can't be parsed by now stays as it is.
func (u *Universe) withBodies(s *source) (drop func()) {
	var whole []*ast.File
	for i, f := range s.files {
		if !s.generated[f] {
			continue
		}
		again, err := parser.ParseFile(u.fset, u.fset.PositionFor(f.Package, false).Filename, nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		s.files[i], s.generated[again] = again, true
		delete(s.generated, f)
		whole = append(whole, again)
	}
	return func() {
		for _, f := range whole {
			dropBodies(f)
		}
	}
}
