// Package document makes the OpenAPI documents of API groups: for each served version the v3 document, and for each
// group the same in OpenAPI v2, which older clients read. Clients validate objects and explain kinds by them, and apply
// configurations are made from their schemas. The documents look as kube-apiserver's do: the same names of schemas and
// operations, the same extensions, the same defaults. It is part of the plan, and knows model, schema and spelling.
//
// The user's types come from the model; those of k8s.io/apimachinery, whose comments the model doesn't hold, from the
// module that apigen itself was built with.
//
// Documents are JSON objects here, and not the types of kube-openapi's packages spec3 and spec. Those write keys in an
// order of their own, drop empty descriptions and write a json.Number as a string, so that each document would have to
// be decoded and encoded again to diff well and to keep its bytes; and schemas share their keywords with
// CustomResourceDefinitions, which merge them keyword by keyword. Tests read the documents with those types.
package document

import (
	"bytes"
	"encoding/json"
	"fmt"

	"apigen.dev/generator/internal/model"
)

// Document is an OpenAPI document: v3 of a version, or v2 of a group, whose Version is nil.
type Document struct {
	Version *model.Version
	Content []byte
}

// Of returns the documents of the versions that a group serves, and after them the group's.
func Of(p *model.Program, g *model.Group) []Document {
	var documents []Document
	for _, v := range g.ServedVersions() {
		documents = append(documents, Document{Version: v, Content: encode(ofVersion(p, g, v))})
	}
	return append(documents, Document{Content: encode(swagger(g.Name, documents))})
}

// encode writes JSON that diffs well, as build --check shows it: sorted keys, one a line.
func encode(doc object) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(doc); err != nil {
		panic(fmt.Sprintf("an OpenAPI document holds what JSON doesn't have: %v", err))
	}
	return out.Bytes()
}

// object is a JSON object. Encoding sorts its keys.
type object = map[string]any

var security = object{"BearerToken": object{
	"type": "apiKey", "in": "header", "name": "authorization", "description": "Bearer Token authentication",
}}

func ofVersion(p *model.Program, g *model.Group, v *model.Version) object {
	b := newBuilder(p, g, v)
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
