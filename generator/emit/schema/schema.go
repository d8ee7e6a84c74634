// Package schema emits, for each served version of an API group, its OpenAPI v3 document: what kubectl explain shows, what
// clients are validated by, and what the server serves as bytes under /openapi/v3; and for each group the same in OpenAPI
// v2, which older clients read. The documents look as kube-apiserver's
// do: the same names of schemas and operations, the same extensions, the same defaults. They are embedded by the wiring.
//
// Types of the user come from the model; those of k8s.io/apimachinery, whose comments the model doesn't hold, from the
// module that apigen itself was built with.
package schema

import (
	"bytes"
	"encoding/json"
	"sort"
	"strings"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/model"
)

// Emitter returns the emitter of OpenAPI documents.
func Emitter() emit.Emitter {
	return emit.Emitter{
		Name: "schema",
		Doc:  "the OpenAPI v3 document of each served version, and the OpenAPI v2 document of each group",
		Owns: func(base string) bool {
			return base == SwaggerFileName || strings.HasPrefix(base, "zz_generated.openapi.") && strings.HasSuffix(base, ".json")
		},
		Emit: Emit,
	}
}

// Emit returns the documents of all groups that have wiring.
func Emit(p *model.Program) ([]emit.File, error) {
	var errs emit.Errors
	var files []emit.File
	for _, g := range p.Wired() {
		if !g.Output() {
			continue
		}
		add := func(name string, doc object) ([]byte, error) {
			content, err := encode(doc)
			files = append(files, emit.File{Package: g.Wiring.Path, Dir: g.Wiring.Dir, PackageName: g.Wiring.Name, Name: name, Content: content})
			return content, err
		}
		var documents [][]byte
		for _, v := range g.ServedVersions() {
			content, err := add(FileName(v.Name), document(p, g, v, &errs))
			if err != nil {
				return nil, err
			}
			documents = append(documents, content)
		}
		doc, err := swagger(g.Name, documents)
		if err != nil {
			return nil, err
		}
		if _, err := add(SwaggerFileName, doc); err != nil {
			return nil, err
		}
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	sort.SliceStable(files, func(i, j int) bool {
		if files[i].Dir != files[j].Dir {
			return files[i].Dir < files[j].Dir
		}
		return files[i].Name < files[j].Name
	})
	return files, nil
}

// FileName is the base name of the document of a version.
func FileName(version string) string { return "zz_generated.openapi." + version + ".json" }

// encode writes JSON that diffs well: sorted keys, one a line.
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

// document is the whole document of one version.
func document(p *model.Program, g *model.Group, v *model.Version, errs *emit.Errors) object {
	b := newBuilder(p, g, v, errs)
	paths := b.paths()
	return object{
		"openapi": "3.0.0",
		"info":    object{"title": g.Name, "version": v.Name},
		"paths":   paths,
		"components": object{
			"schemas": b.components(),
			"securitySchemes": object{"BearerToken": object{
				"type": "apiKey", "in": "header", "name": "authorization", "description": "Bearer Token authentication",
			}},
		},
	}
}
