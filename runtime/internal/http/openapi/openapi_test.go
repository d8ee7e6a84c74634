package openapi

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"sigs.k8s.io/yaml"
)

// documents returns the documents of the ready-made groups and of the examples.
func documents(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, root := range []string{"../../../builtin", "../../../../examples"} {
		if err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".json.gz") {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			zip, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				return err
			}
			all[path], err = io.ReadAll(zip)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// normalize replaces the text of each Any, which is YAML that says the same in several ways, by canonical JSON.
func normalize(t testing.TB, m protoreflect.Message) {
	t.Helper()
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Name() == "yaml":
			var value any
			if err := yaml.Unmarshal([]byte(v.String()), &value); err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			m.Set(f, protoreflect.ValueOfString(string(data)))
		case f.IsList() && f.Message() != nil:
			for i := range v.List().Len() {
				normalize(t, v.List().Get(i).Message())
			}
		case f.Message() != nil && !f.IsList():
			normalize(t, v.Message())
		}
		return true
	})
}

// compare holds what we encode of a document against gnostic's message.
func compare[M proto.Message](t *testing.T, data []byte, encode func([]byte) ([]byte, error),
	parse func([]byte) (M, error), got M) {
	t.Helper()
	want, err := parse(data)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := encode(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := proto.Unmarshal(encoded, got); err != nil {
		t.Fatal(err)
	}
	normalize(t, want.ProtoReflect())
	normalize(t, got.ProtoReflect())
	if !proto.Equal(got, want) {
		t.Errorf("got\n%.3000v\nwant\n%.3000v", got, want)
	}
}

func TestDocuments(t *testing.T) {
	n := 0
	for path, data := range documents(t) {
		t.Run(path, func(t *testing.T) {
			if strings.Contains(path, "swagger") {
				var document map[string]any
				if err := json.Unmarshal(data, &document); err != nil {
					t.Fatal(err)
				}
				document["swagger"], document["info"] = "2.0", map[string]any{"title": "t", "version": "v"}
				whole, err := json.Marshal(document)
				if err != nil {
					t.Fatal(err)
				}
				compare(t, whole, EncodeV2, openapi_v2.ParseDocument, &openapi_v2.Document{})
			} else {
				compare(t, data, EncodeV3, openapi_v3.ParseDocument, &openapi_v3.Document{})
			}
		})
		n++
	}
	if n < 20 {
		t.Errorf("%d documents are too few", n)
	}
}

// What the documents of servers don't have, or few of them.
const (
	everythingV3 = `{
		"openapi": "3.0.0", "x-top": [1, {"a": "b"}],
		"info": {"title": "t", "version": "v", "contact": {"name": "n", "email": "e", "x-y": null},
			"license": {"name": "l"}, "summary": "s", "x-z": "é\n\u00e9"},
		"servers": [{"url": "/", "variables": {"a": {"enum": ["x", "y"], "default": "x"}}}],
		"paths": {"/a": {"summary": "s", "x-p": {}, "parameters": [{"$ref": "#/components/parameters/p"},
			{"name": "n", "in": "query", "required": true,
				"schema": {"type": "integer", "minimum": -1.5, "maximum": 0}}],
			"options": {"responses": {"default": {"$ref": "#/components/responses/r"}}},
			"post": {"tags": ["a", ""], "operationId": "o", "deprecated": true, "security": [{"b": [], "c": ["d"]}],
				"requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/x"},
					"example": {"a": 1}, "encoding": {"e": {"contentType": "c", "explode": true}}}}},
				"responses": {"200": {"description": "", "headers": {"H": {"schema": {"type": "string"}}}},
					"401": {"description": "no"}, "x-r": 1}}}},
		"components": {
			"schemas": {"S": {"type": "object", "required": ["a"], "nullable": true, "default": {}, "maxProperties": 3,
				"properties": {"a": {"type": "string", "enum": ["x", 1, null], "default": ""},
					"b": {"type": "array", "items": {"$ref": "#/s"}, "default": [], "minItems": 1},
					"c": {"type": "number", "default": 0, "multipleOf": 0.5},
					"d": {"type": "boolean", "default": false, "not": {"type": "string"}},
					"e": {"additionalProperties": false,
						"allOf": [{"$ref": "#/e", "description": "d"}, {"type": "string"}]},
					"x-f": {"additionalProperties": {"type": "integer"}, "externalDocs": {"url": "u"},
						"discriminator": {"propertyName": "p", "mapping": {"m": "n"}},
						"xml": {"name": "x", "wrapped": true}}},
				"x-kubernetes-group-version-kind": [{"group": "", "kind": "K", "version": "v1"}]}},
			"responses": {"r": {"description": "d"}},
			"parameters": {"p": {"name": "n", "in": "path", "required": true}},
			"examples": {"e": {"value": [1.5], "externalValue": "v"}},
			"securitySchemes": {"b": {"type": "oauth2", "flows": {"implicit": {"authorizationUrl": "u",
				"scopes": {"s": "t"}}}}}},
		"tags": [{"name": "t", "externalDocs": {"url": "u", "description": "d"}}]
	}`
	everythingV2 = `{
		"swagger": "2.0", "x-top": {"b": [true]}, "host": "h", "basePath": "/", "schemes": ["https"],
		"info": {"title": "t", "version": "v", "contact": {"url": "u"}, "license": {"name": "l", "url": "u"}},
		"paths": {"x-p": 1, "/a": {"parameters": [{"$ref": "#/parameters/p"}], "get": {"operationId": "o",
			"parameters": [
				{"name": "b", "in": "body", "required": true, "schema": {"$ref": "#/definitions/S"}},
				{"name": "q", "in": "query", "type": "array", "items": {"type": "string", "enum": ["a"]},
					"collectionFormat": "csv", "uniqueItems": true, "allowEmptyValue": true},
				{"name": "h", "in": "header", "type": "integer", "maximum": 3, "default": 1, "x-h": "z"},
				{"name": "f", "in": "formData", "type": "number", "multipleOf": 2},
				{"name": "p", "in": "path", "required": true, "type": "string", "pattern": "^a"}],
			"responses": {"200": {"description": "ok", "schema": {"type": "file", "format": "f"},
				"headers": {"X": {"type": "string", "description": "d"}}, "examples": {"application/json": {"a": 1}}},
				"default": {"$ref": "#/responses/r"}, "x-r": {}}, "security": [{"t": []}], "deprecated": true}}},
		"definitions": {"S": {"type": ["object", "null"], "discriminator": "d", "additionalProperties": true,
			"properties": {"a": {"type": "array", "items": {"type": "string"}, "default": ["x"]},
				"b": {"additionalProperties": {"type": "integer", "format": "int32", "minimum": 0}},
				"c": {"allOf": [{"$ref": "#/definitions/S"}], "readOnly": true, "example": {"z": 1, "a": 2}}},
			"x-kubernetes-list-type": "map", "xml": {"attribute": true}}},
		"parameters": {"p": {"name": "p", "in": "query", "type": "boolean"}},
		"responses": {"r": {"description": "r"}},
		"securityDefinitions": {"b": {"type": "basic"}, "k": {"type": "apiKey", "name": "n", "in": "header"},
			"i": {"type": "oauth2", "flow": "implicit", "scopes": {"s": "t"}, "authorizationUrl": "u"},
			"p": {"type": "oauth2", "flow": "password", "tokenUrl": "u"},
			"a": {"type": "oauth2", "flow": "application", "tokenUrl": "u"},
			"c": {"type": "oauth2", "flow": "accessCode", "authorizationUrl": "a", "tokenUrl": "u"}},
		"tags": [{"name": "t"}], "externalDocs": {"url": "u", "x-e": 1}
	}`
)

func TestEverything(t *testing.T) {
	compare(t, []byte(everythingV3), EncodeV3, openapi_v3.ParseDocument, &openapi_v3.Document{})
	compare(t, []byte(everythingV2), EncodeV2, openapi_v2.ParseDocument, &openapi_v2.Document{})
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"openapi": 1}`:              "openapi: is 1, and must be text",
		`{"paths": {"/a": {"x": 1}}}`: "paths: /a: has the field x, which OpenAPI doesn't have here",
		`{"servers": {}}`:             "servers: is {}, and must be a list",
		`{"components": {"schemas": {"S": {"properties": {"a": {"nullable": 1}}}}}}`: "components: schemas: S: " +
			"properties: a: nullable: is 1, and must be true or false",
		`[]`: "is [], and must be an object", `{`: "EOF", ``: "EOF",
	} {
		if _, err := EncodeV3([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// FuzzEncode: whatever is encoded is a message that gnostic's types decode.
func FuzzEncode(f *testing.F) {
	f.Add([]byte(everythingV2))
	f.Add([]byte(everythingV3))
	f.Fuzz(func(t *testing.T, data []byte) {
		if encoded, err := EncodeV3(data); err == nil {
			if err := proto.Unmarshal(encoded, &openapi_v3.Document{}); err != nil {
				t.Error(err)
			}
		}
		if encoded, err := EncodeV2(data); err == nil {
			if err := proto.Unmarshal(encoded, &openapi_v2.Document{}); err != nil {
				t.Error(err)
			}
		}
	})
}

// The fields of each table are in the order of their numbers, which no two share.
func TestTables(t *testing.T) {
	for version, messages := range map[string][]message{"v2": v2, "v3": v3} {
		for i, m := range messages {
			if reflect.DeepEqual(m, message{}) {
				t.Errorf("message %d of %s is empty", i, version)
			}
			for j := 1; j < len(m.fields); j++ {
				if m.fields[j].number <= m.fields[j-1].number {
					t.Errorf("message %d of %s: %v", i, version, m.fields[j])
				}
			}
		}
	}
}
