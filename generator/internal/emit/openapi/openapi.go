// Package openapi emits the OpenAPI documents of each API group with wiring, compressed, and the file of the wiring
// that embeds them, whose bytes the server serves under /openapi. What is in them is decided in the plan's package
// document. The package knows emit, gocode, model, plan and spelling.
package openapi

import (
	"crypto/sha512"
	"fmt"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/plan/document"
	"apigen.dev/generator/internal/spelling"
)

// Emitter returns the emitter of OpenAPI documents.
func Emitter() emit.Emitter {
	return emit.Emitter{
		Name: "schema",
		Doc:  "the OpenAPI v3 document of each served version, and the OpenAPI v2 document of each group, compressed",
		// Earlier versions wrote documents uncompressed.
		Files: []string{
			GoFileName, "zz_generated.swagger.json", "zz_generated.swagger.json.gz", "zz_generated.openapi.*.json",
			"zz_generated.openapi.*.json.gz",
		},
		Emit: Emit,
	}
}

// Emit returns the documents of all groups that have wiring, and for each group a file that embeds them.
func Emit(p *plan.Plan) ([]emit.File, error) {
	var files []emit.File
	for _, g := range p.WiredGroups() {
		documents := document.Of(p.Program, g)
		for _, d := range documents {
			packed, err := emit.Pack(d.Content)
			if err != nil {
				return nil, err
			}
			files = append(files, gocode.WiringDocument(g.Wiring, fileName(d), packed))
		}
		file, err := embedding(p.Program, g, documents)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// SwaggerFileName is the base name of the OpenAPI v2 document of a group.
const SwaggerFileName = "zz_generated.swagger.json.gz"

// FileName returns the base name of the document of a version.
func FileName(version string) string { return "zz_generated.openapi." + version + ".json.gz" }

func fileName(d document.Document) string {
	if d.Version == nil {
		return SwaggerFileName
	}
	return FileName(d.Version.Name)
}

// GoFileName is the base name of the file that embeds the documents of a group.
const GoFileName = "zz_generated.openapi.go"

func embedding(p *model.Program, g *model.Group, documents []document.Document) (emit.File, error) {
	f := gocode.NewWiring(p, g)
	f.Anon("embed")
	versions := jen.Dict{}
	var group jen.Code
	for _, d := range documents {
		f.Comment("//go:embed " + fileName(d))
		f.Var().Id(variable(d)).Index().Byte()
		f.Line()
		value := jen.Values(jen.Dict{jen.Id("Gzip"): jen.Id(variable(d)), jen.Id("Hash"): jen.Lit(hash(d))})
		if d.Version == nil {
			group = value
		} else {
			versions[jen.Lit(d.Version.Name)] = value
		}
	}
	f.Commentf("%s returns the OpenAPI v3 document of each version.", plan.OpenAPIFunc)
	f.Add(gocode.Code("func "+plan.OpenAPIFunc+"() map[string]api.Document {\nreturn map[string]api.Document$\n}\n",
		jen.Values(versions)))
	f.Commentf("%s returns the OpenAPI v2 document of all versions.", plan.SwaggerFunc)
	f.Add(gocode.Code("func "+plan.SwaggerFunc+"() api.Document {\nreturn api.Document$\n}", group))
	return f.Render(GoFileName)
}

func variable(d document.Document) string {
	if d.Version == nil {
		return "swaggerDocument"
	}
	return "openAPI" + spelling.UpperFirst(d.Version.Name)
}

// hash is the document's ETag.
func hash(d document.Document) string {
	return fmt.Sprintf("%X", sha512.Sum512(d.Content))
}
