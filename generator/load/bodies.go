package load

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/types"
)

// Files that other tools generated are as large as all others together, nearly all of it bodies of functions (methods
// for protobuf), and nothing asks for those but the check of finished code: they are dropped as soon as a file is
// parsed, and read once more for that check, a package at a time. So are the files that are about to be written.

// dropBodies takes the bodies of a file's functions away, but those that the type checker insists on.
func dropBodies(f *ast.File) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if ok && fn.Type.TypeParams == nil && (fn.Recv != nil || fn.Name.Name != "init" && fn.Name.Name != "main") {
			fn.Body = nil
		}
	}
}

// withBodies puts files of other tools, and those of which only the imports were parsed, in with all that is in them,
// the bodies until the function that it returns is called. A file of another tool that can't be parsed by now stays as
// it is.
func (u *Universe) withBodies(s *Source) (drop func()) {
	var whole []*ast.File
	for i, f := range s.files {
		content, unread := s.unread[f]
		if !unread && !s.generated[f] {
			continue
		}
		var source any // nil is what is in the file
		if unread {
			source = content
		}
		again, err := parser.ParseFile(u.fset, u.fset.PositionFor(f.Package, false).Filename, source,
			parser.SkipObjectResolution)
		if unread {
			s.errs = append(s.errs, u.syntaxErrors(again, err)...)
		} else if err != nil {
			continue
		}
		s.files[i], s.generated[again] = again, s.generated[f]
		delete(s.generated, f)
		delete(s.unread, f)
		whole = append(whole, again)
	}
	return func() {
		for _, f := range whole {
			dropBodies(f)
		}
	}
}

// syntaxErrors are those that a file was parsed with, as the type checker would tell them.
func (u *Universe) syntaxErrors(f *ast.File, err error) []types.Error {
	var list scanner.ErrorList
	errors.As(err, &list)
	var out []types.Error
	for _, e := range list {
		out = append(out, types.Error{Fset: u.fset, Pos: u.fset.File(f.FileStart).Pos(e.Pos.Offset), Msg: e.Msg})
	}
	return out
}
