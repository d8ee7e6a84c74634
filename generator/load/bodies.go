package load

import (
	"go/ast"
	"go/types"
)

// Files of other generators are as large as all others together, and nearly all of their text is bodies of functions
// (methods for protobuf). Only the check of finished code needs bodies. The loader drops them as soon as it has parsed
// a file, and that check parses the file again, one package at a time. It does the same with the files that apigen is
// about to write.

// dropBodies removes the bodies of a file's functions, except those that the type checker requires.
func dropBodies(f *ast.File) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if ok && fn.Type.TypeParams == nil && (fn.Recv != nil || fn.Name.Name != "init" && fn.Name.Name != "main") {
			fn.Body = nil
		}
	}
}

// withBodies parses the files without bodies once more; drop drops the bodies again. A file of another tool that no
// longer parses stays as it is.
func (u *Universe) withBodies(s *Source) (drop func()) {
	var whole []*ast.File
	for i, f := range s.files {
		content, importsOnly := s.importsOnly[f]
		if !importsOnly && !s.generated[f] {
			continue
		}
		again, errs := u.parseFile(u.fset.PositionFor(f.Package, false).Filename, content, 0)
		if importsOnly {
			for _, e := range errs {
				pos := u.fset.File(again.FileStart).Pos(e.Pos.Offset)
				s.errs = append(s.errs, types.Error{Fset: u.fset, Pos: pos, Msg: e.Msg})
			}
		} else if again == nil || len(errs) > 0 {
			continue
		}
		s.files[i], s.generated[again] = again, s.generated[f]
		delete(s.generated, f)
		delete(s.importsOnly, f)
		whole = append(whole, again)
	}
	return func() {
		for _, f := range whole {
			dropBodies(f)
		}
	}
}
