package generator

import (
	"errors"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
)

// onlyComments refuses a header that holds anything but Go comments.
func onlyComments(text string) error {
	if text == "" {
		return nil
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", text+"\n\npackage p\n", parser.ParseComments)
	if err != nil || f.Name.Name != "p" || !hasComment(f) {
		return errors.New("it must hold Go comments and nothing else")
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			if constraint.IsGoBuild(c.Text) || constraint.IsPlusBuild(c.Text) {
				return errors.New("it must not hold a build constraint: " + c.Text)
			}
		}
	}
	return nil
}

func hasComment(f *ast.File) bool { return len(f.Comments) > 0 }
