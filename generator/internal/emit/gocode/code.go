package gocode

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

// packages are the packages that texts of code name, by the names that they have there.
var packages = map[string]string{
	"api": "apigen.dev/runtime/api", "cel": "apigen.dev/runtime/cel", "codec": "apigen.dev/runtime/codec",
	"registry": "apigen.dev/runtime/registry", "subresource": "apigen.dev/runtime/subresource",
	"conversion": "k8s.io/apimachinery/pkg/conversion",
	"equality":   "k8s.io/apimachinery/pkg/api/equality",
	"field":      "k8s.io/apimachinery/pkg/util/validation/field",
	"intstr":     "k8s.io/apimachinery/pkg/util/intstr",
	"labels":     "k8s.io/apimachinery/pkg/labels",
	"metav1":     "k8s.io/apimachinery/pkg/apis/meta/v1",
	"operation":  "k8s.io/apimachinery/pkg/api/operation",
	"runtime":    "k8s.io/apimachinery/pkg/runtime",
	"safe":       "k8s.io/apimachinery/pkg/api/safe",
	"schema":     "k8s.io/apimachinery/pkg/runtime/schema",
	"strfmt":     "k8s.io/kube-openapi/pkg/validation/strfmt",
	"validate":   "k8s.io/apimachinery/pkg/api/validate",
	"validation": "k8s.io/apimachinery/pkg/api/validation",
	"base64":     "encoding/base64", "bytes": "bytes", "context": "context", "errors": "errors", "fmt": "fmt",
	"fnv": "hash/fnv", "http": "net/http", "io": "io", "json": "encoding/json", "mail": "net/mail", "maps": "maps",
	"math": "math", "net": "net", "netip": "net/netip", "reflect": "reflect", "regexp": "regexp", "slices": "slices",
	"strconv": "strconv", "strings": "strings", "sync": "sync", "testing": "testing", "time": "time",
	"unsafe": "unsafe", "url": "net/url", "utf8": "unicode/utf8",
}

// ImportPath returns the path of a package that texts of code name.
func ImportPath(name string) string { return packages[name] }

var lexeme = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\$|[A-Za-z_][\w.]*`)

// Code makes code of Go source text, for a file that imports by jennifer's own rules. Each $ stands for the next
// argument, and the file imports the packages that the text names, such as json in json.Marshal. An argument is code, a
// string to insert as it is, a list of statements to write between the braces of a block: {$}, or nil for nothing. Line
// breaks and blanks count as in Go source.
func Code(text string, args ...any) *jen.Statement { return code(jen.Qual, text, args) }

// Code is the function Code for this file.
func (f *File) Code(text string, args ...any) *jen.Statement { return code(f.Qual, text, args) }

func code(qual func(path, name string) *jen.Statement, text string, args []any) *jen.Statement {
	out := &jen.Statement{}
	last := 0
	for _, at := range lexeme.FindAllStringIndex(text, -1) {
		pkg, name, _ := strings.Cut(text[at[0]:at[1]], ".")
		isImport := packages[pkg] != "" && name != ""
		if pkg != "$" && !isImport {
			continue
		}
		out.Op(text[last:at[0]])
		last = at[1]
		if isImport {
			out.Add(qual(packages[pkg], name))
			continue
		}
		switch arg := args[0].(type) {
		case nil:
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

// PointerTo is the type *T, in files that import by jennifer's own rules.
func PointerTo(t *model.Type) *jen.Statement { return jen.Op("*").Qual(t.Package.Path, t.Name) }

// Constructor is a function that returns an empty T.
func Constructor(t *model.Type) jen.Code {
	return jen.Func().Params().Add(PointerTo(t)).Block(jen.Return(jen.New(jen.Qual(t.Package.Path, t.Name))))
}

// Converter is a function from one type to another, by way of two pointers, that calls f. Where the conversions are
// scoped it uses the variable scope.
func Converter(f plan.Func, p plan.Pair, scoped bool) jen.Code {
	return jen.Func().Params(jen.Id("in").Add(PointerTo(p.In)), jen.Id("out").Add(PointerTo(p.Out))).Error().Block(
		jen.Return(jen.Qual(f.Path, f.Name).Call(jen.Id("in"), jen.Id("out"), Scope(scoped))))
}

// Scope is the conversion.Scope that conversion functions get: the variable scope, or nil if nothing asks for it.
func Scope(scoped bool) jen.Code {
	if scoped {
		return jen.Id("scope")
	}
	return jen.Nil()
}
