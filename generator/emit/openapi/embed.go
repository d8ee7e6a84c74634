package openapi

import (
	"crypto/sha512"
	"encoding/hex"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

// GoFileName is the base name of the file that embeds the documents of a group.
const GoFileName = "zz_generated.openapi.go"

const apiPath = "apigen.dev/runtime/api"

// embedding is the file that embeds the documents, and says their hashes.
func embedding(p *model.Program, g *model.Group, documents []embedded) (emit.File, error) {
	f := jen.NewFilePathName(g.Wiring.Path, g.Wiring.Name)
	f.HeaderComment(emit.Header(p))
	f.ImportName(apiPath, "api")
	f.Anon("embed")
	versions := jen.Dict{}
	var group jen.Code
	for _, d := range documents {
		f.Comment("//go:embed " + d.name)
		f.Var().Id(d.variable()).Index().Byte()
		f.Line()
		value := jen.Values(jen.Dict{jen.Id("Gzip"): jen.Id(d.variable()), jen.Id("Hash"): jen.Lit(d.hash())})
		if d.version == nil {
			group = jen.Qual(apiPath, "Document").Add(value)
		} else {
			versions[jen.Lit(d.version.Name)] = value
		}
	}
	f.Commentf("%s returns the OpenAPI v3 document of each version.", plan.OpenAPIFunc)
	f.Func().Id(plan.OpenAPIFunc).Params().Map(jen.String()).Qual(apiPath, "Document").Block(
		jen.Return(jen.Map(jen.String()).Qual(apiPath, "Document").Values(versions)),
	)
	f.Line()
	f.Commentf("%s returns the OpenAPI v2 document of all versions.", plan.SwaggerFunc)
	f.Func().Id(plan.SwaggerFunc).Params().Qual(apiPath, "Document").Block(jen.Return(group))
	return gocode.Render(f, emit.File{Package: g.Wiring.Path, Dir: g.Wiring.Dir, PackageName: g.Wiring.Name,
		Name: GoFileName})
}

// variable is the name of what holds the document.
func (d *embedded) variable() string {
	if d.version == nil {
		return "swaggerDocument"
	}
	return "openAPI" + strings.ToUpper(d.version.Name[:1]) + d.version.Name[1:]
}

// hash is the document's ETag.
func (d *embedded) hash() string {
	sum := sha512.Sum512(d.content)
	return strings.ToUpper(hex.EncodeToString(sum[:]))
}
