package command

import (
	"errors"
	"fmt"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"os"
	"strings"
)

// readHeader reads the text of --header-file and makes sure that it is comments.
func readHeader(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("--header-file: %w", err)
	}
	text := strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n"))
	if err := onlyComments(text); err != nil {
		return "", fmt.Errorf("--header-file %s: %w", path, err)
	}
	return text, nil
}

func onlyComments(text string) error {
	if text == "" {
		return nil
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", text+"\n\npackage p\n", parser.ParseComments)
	if err != nil || f.Name.Name != "p" || len(f.Comments) == 0 {
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
