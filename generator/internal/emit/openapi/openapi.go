// Package openapi emits, for each served version of an API group, its OpenAPI v3 document, and for each group the same
// in OpenAPI v2, which older clients read. Clients validate objects and explain kinds by them, and the server serves
// their bytes under /openapi. The documents look as kube-apiserver's do: the same names of schemas and operations, the
// same extensions, the same defaults. The wiring embeds them. The package knows emit, model, schema, spelling and
// gocode.
//
// The user's types come from the model; those of k8s.io/apimachinery, whose comments the model doesn't hold, from the
// module that apigen itself was built with.
//
// Documents are JSON objects here, and not the types of kube-openapi's packages spec3 and spec. Those write keys in an
// order of their own, drop empty descriptions and write a json.Number as a string, so that each document would have to
// be decoded and encoded again to diff well and to keep its bytes; and schemas share their keywords with
// CustomResourceDefinitions, which merge them keyword by keyword. Tests read the documents with those types.
package openapi

import (
	"bytes"
	"crypto/sha512"
	"encoding/json"
	"fmt"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
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
	var errs diag.Errors
	var files []emit.File
	for _, g := range p.WiredGroups() {
		documents, err := groupDocuments(p.Program, g, &errs)
		if err != nil {
			return nil, err
		}
		for _, d := range documents {
			packed, err := emit.Pack(d.content)
			if err != nil {
				return nil, err
			}
			files = append(files, gocode.WiringDocument(g.Wiring, d.name, packed))
		}
		file, err := embedding(p.Program, g, documents)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return files, nil
}

// embedded is a document in its file: a version's or the group's.
type embedded struct {
	version *model.Version
	name    string
	content []byte
}

// groupDocuments returns the documents of the versions, and after them the group's.
func groupDocuments(p *model.Program, g *model.Group, errs *diag.Errors) ([]embedded, error) {
	var documents []embedded
	for _, v := range g.ServedVersions() {
		content, err := encode(document(p, g, v, errs))
		if err != nil {
			return nil, err
		}
		documents = append(documents, embedded{version: v, name: FileName(v.Name), content: content})
	}
	whole, err := swagger(g.Name, documents)
	if err != nil {
		return nil, err
	}
	content, err := encode(whole)
	return append(documents, embedded{name: SwaggerFileName, content: content}), err
}

// FileName returns the base name of the document of a version.
func FileName(version string) string { return "zz_generated.openapi." + version + ".json.gz" }

// encode writes JSON that diffs well, as build --check shows it: sorted keys, one a line.
func encode(doc object) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(doc)
	return out.Bytes(), err
}

// object is a JSON object. Encoding sorts its keys.
type object = map[string]any

var security = object{"BearerToken": object{
	"type": "apiKey", "in": "header", "name": "authorization", "description": "Bearer Token authentication",
}}

func document(p *model.Program, g *model.Group, v *model.Version, errs *diag.Errors) object {
	b := newBuilder(p, g, v, errs)
	paths := b.paths()
	return object{
		"openapi": "3.0.0",
		"info":    object{"title": g.Name, "version": v.Name},
		"paths":   paths,
		"components": object{
			"schemas":         b.components(),
			"securitySchemes": security,
		},
	}
}

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
