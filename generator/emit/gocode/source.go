package gocode

import (
	"regexp"
	"strings"

	"github.com/dave/jennifer/jen"
)

// Source makes jennifer code of Go source text, so that emitters show the code that they print.
type Source struct {
	// Qual is the name of an imported package: jen.Qual, or that of a File.
	Qual func(path, name string) *jen.Statement
	// Packages are the import paths of the packages that texts name.
	Packages map[string]string
}

// lexeme matches string literals, placeholders and dotted names.
var lexeme = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\$|[A-Za-z_][\w.]*`)

// Code returns the code of a text, in which each $ stands for the next argument, and names of known packages are
// imported. A nil argument stands for nothing. Line breaks and blanks count as in Go source.
func (s Source) Code(text string, args ...jen.Code) *jen.Statement {
	var parts []jen.Code
	end := 0
	for _, at := range lexeme.FindAllStringIndex(text, -1) {
		var code jen.Code
		switch pkg, name, _ := strings.Cut(text[at[0]:at[1]], "."); {
		case pkg == "$":
			code, args = args[0], args[1:]
		case s.Packages[pkg] != "" && name != "":
			code = s.Qual(s.Packages[pkg], name)
		default:
			continue
		}
		parts = append(parts, jen.Op(text[end:at[0]]), code)
		end = at[1]
	}
	return jen.Custom(jen.Options{}, append(parts, jen.Op(text[end:]))...)
}
