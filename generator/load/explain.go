package load

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"

	"golang.org/x/tools/go/packages"
)

var (
	mixedPattern = regexp.MustCompile(`^found packages (\S+) \((.+?)\) and (\S+) \((.+?)\) in (.+)$`)
	nulPattern   = regexp.MustCompile(`^read (.+\.go): (unexpected NUL in input)$`)
)

// explainPlace finds where to mend what the go command says of a package without a position.
func explainPlace(p *packages.Package, message string) (token.Position, string) {
	if m := mixedPattern.FindStringSubmatch(message); m != nil {
		return clauseOf(filepath.Join(m[5], m[4])), fmt.Sprintf("package %s, but %s beside it is of package %s: a "+
			"folder holds one package", m[3], m[2], m[1])
	}
	if m := nulPattern.FindStringSubmatch(message); m != nil {
		name := m[1]
		if !filepath.IsAbs(name) && p.Dir != "" {
			name = filepath.Join(p.Dir, filepath.Base(name))
		}
		data, _ := os.ReadFile(name)
		before, _, _ := bytes.Cut(data, []byte{0})
		line := bytes.Count(before, []byte{'\n'}) + 1
		return token.Position{Filename: name, Offset: len(before), Line: line,
			Column: len(before) - bytes.LastIndexByte(before, '\n')}, m[2]
	}
	return token.Position{}, message
}

// clauseOf returns where a file names its package.
func clauseOf(name string) token.Position {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, nil, parser.PackageClauseOnly)
	if err != nil {
		return token.Position{Filename: name, Line: 1, Column: 1}
	}
	return fset.Position(f.Name.Pos())
}
