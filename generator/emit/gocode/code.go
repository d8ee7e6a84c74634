package gocode

import (
	"fmt"
	"regexp"

	"github.com/dave/jennifer/jen"
)

var placeholder = regexp.MustCompile(`\$|<([a-z0-9./]+)>\.(\w+)`)

// Code is source text of the file in which each $ stands for the next argument, and <encoding/json>.Marshal for a name
// of another package, which the file imports. An argument is code, a string to insert as it is, or a list of statements
// to write between the braces of a block: {$}.
func (f *File) Code(text string, args ...any) *jen.Statement {
	out := &jen.Statement{}
	last := 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(text, -1) {
		out.Op(text[last:m[0]])
		last = m[1]
		if m[2] >= 0 {
			out.Add(f.Qual(text[m[2]:m[3]], text[m[4]:m[5]]))
			continue
		}
		switch arg := args[0].(type) {
		case string:
			out.Op(arg)
		case jen.Code:
			out.Add(arg)
		case []jen.Code:
			out.Custom(jen.Options{Multi: true}, arg...)
		default:
			panic(fmt.Sprintf("%T is no code", arg))
		}
		args = args[1:]
	}
	return out.Op(text[last:])
}
