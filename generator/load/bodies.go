package load

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
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

// withBodies parses files of other tools, and files of which only the imports were parsed, once more and completely.
// The function that it returns drops the bodies again. A file of another tool that no longer parses stays as it is.
func (u *Universe) withBodies(s *Source) (drop func()) {
	var whole []*ast.File
	for i, f := range s.files {
		content, importsOnly := s.importsOnly[f]
		if !importsOnly && !s.generated[f] {
			continue
		}
		var source any // nil is what is in the file
		if importsOnly {
			source = content
		}
		again, err := parser.ParseFile(u.fset, u.fset.PositionFor(f.Package, false).Filename, source,
			parser.SkipObjectResolution)
		if importsOnly {
			s.errs = append(s.errs, u.syntaxErrors(again, err)...)
		} else if err != nil {
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

// syntaxErrors returns the syntax errors of a file in the form of the type checker's errors.
func (u *Universe) syntaxErrors(f *ast.File, err error) []types.Error {
	var list scanner.ErrorList
	errors.As(err, &list)
	var out []types.Error
	for _, e := range list {
		out = append(out, types.Error{Fset: u.fset, Pos: u.fset.File(f.FileStart).Pos(e.Pos.Offset), Msg: e.Msg})
	}
	return out
}
