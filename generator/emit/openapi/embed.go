package openapi

import (
	"crypto/sha512"
	"fmt"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
	"apigen.dev/generator/spelling"
)

// GoFileName is the base name of the file that embeds the documents of a group.
const GoFileName = "zz_generated.openapi.go"

func embedding(p *model.Program, g *model.Group, documents []embedded) (emit.File, error) {
	f := gocode.NewWiring(p, g)
	f.Anon("embed")
	versions := jen.Dict{}
	var group jen.Code
	for _, d := range documents {
		f.Comment("//go:embed " + d.name)
		f.Var().Id(d.variable()).Index().Byte()
		f.Line()
		value := jen.Values(jen.Dict{jen.Id("Gzip"): jen.Id(d.variable()), jen.Id("Hash"): jen.Lit(d.hash())})
		if d.version == nil {
			group = value
		} else {
			versions[jen.Lit(d.version.Name)] = value
		}
	}
	f.Commentf("%s returns the OpenAPI v3 document of each version.", plan.OpenAPIFunc)
	f.Add(gocode.Code("func "+plan.OpenAPIFunc+"() map[string]api.Document {\nreturn map[string]api.Document$\n}\n",
		jen.Values(versions)))
	f.Commentf("%s returns the OpenAPI v2 document of all versions.", plan.SwaggerFunc)
	f.Add(gocode.Code("func "+plan.SwaggerFunc+"() api.Document {\nreturn api.Document$\n}", group))
	return f.Render(GoFileName)
}

func (d *embedded) variable() string {
	if d.version == nil {
		return "swaggerDocument"
	}
	return "openAPI" + spelling.UpperFirst(d.version.Name)
}

// hash is the document's ETag.
func (d *embedded) hash() string {
	return fmt.Sprintf("%X", sha512.Sum512(d.content))
}
