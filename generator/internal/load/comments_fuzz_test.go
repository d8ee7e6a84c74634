package load

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// FuzzComments: the comments of any source that parses, and of most that doesn't, are read without a panic, and the
// faults that are found in them lie in the source.
func FuzzComments(f *testing.F) {
	for _, s := range []string{
		"// +groupName=x\npackage v1\n\n// +k8s:eachVal=+k8s:maxLength=63\ntype A struct {\n\t// +optional\n\t// " +
			"+required\n\tB, C *struct{ D string }\n}\n",
		"/* +k8s:required\n * +default=ref(x) */ package v1\n\ntype (\n// +genclient\n\n// x\nA[T any] = " +
			"map[string]T\n)\nconst (\n// +k8s:enumExclude\nX = iota\n)\n",
		"package v1\n\n// +kubebuilder:validation:XValidation:rule=`a\nfunc (a *A[T]) OpenAPISchemaType() []string " +
			"{ return []string{\"x\"} }\nfunc () X()\n",
		"// +k8s:item(type: \"a\", b: 1)=+k8s:immutable\npackage",
		"package v1; type A struct { a.b.c; (d); *e[f,g] } //+x\n", "\r\n// +a\r\npackage v1\r\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fset := token.NewFileSet()
		file, _ := parser.ParseFile(fset, "x.go", text, parser.ParseComments|parser.SkipObjectResolution)
		if file == nil || file.Name == nil {
			return
		}
		lines := strings.Count(text, "\n") + 1
		report := func(pos token.Position, message string) {
			if message == "" || pos.Line < 1 ||
				!strings.Contains(text, "//line") && !strings.Contains(text, "/*line") && pos.Line > lines {
				t.Errorf("%s: %q in %d lines", pos, message, lines)
			}
		}
		c := newComments()
		collect := newCollector(fset, file, c)
		collect.reporting = true
		collect.collect()
		collect.disagreements(c.Package.Markers)
		for _, f := range append(c.errs, c.warnings...) {
			report(f.Pos, f.Message)
		}
		src := &Source{generated: map[*ast.File]bool{}, files: []*ast.File{file}}
		_, _, _ = src.Imports(), src.Registers(), generatedHeader([]byte(text))
	})
}
