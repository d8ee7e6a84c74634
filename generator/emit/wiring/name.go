package wiring

import (
	"path"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
)

// converter is the function from in to out, in the package home.
func converter(home *model.Package, in, out *model.Type) *jen.Statement {
	return jen.Qual(home.Path, converterName(in, out))
}

func converterName(in, out *model.Type) string {
	return "Convert_" + conversionName(in) + "_To_" + conversionName(out)
}

// conversionName is how the names of conversion functions call a type: the last element of its package's path, and its
// name.
func conversionName(t *model.Type) string {
	base := strings.NewReplacer("-", "_", ".", "").Replace(path.Base(t.Package.Path))
	return base + "_" + t.Name
}

// callsHandWritten tells whether the author wrote conversion functions, which may use the conversion.Scope they are
// given; generated ones only hand it on.
func (p *printer) callsHandWritten() bool {
	for _, v := range p.group.Versions {
		for _, pkg := range []*model.Package{v.Package, p.plan.Home(v.Package), p.group.Internal} {
			if pkg == nil {
				continue
			}
			for _, f := range pkg.Funcs {
				if strings.HasPrefix(f.Name, "Convert_") {
					return p.converts()
				}
			}
		}
	}
	return false
}

// converts tells whether any served version is not its own hub.
func (p *printer) converts() bool {
	for _, r := range p.group.Resources {
		for _, v := range r.Served() {
			if v.Type != r.Hub {
				return true
			}
		}
	}
	return false
}

// pointer is the type *T.
func pointer(t *model.Type) *jen.Statement { return jen.Op("*").Qual(t.Package.Path, t.Name) }

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
