package dynamic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/jsondoc"
)

const definitions = "#/definitions/"

// swagger returns the OpenAPI v2 document of all versions, which is made when it is first asked for.
func swagger(versions []describer, t Template) api.Document {
	var source bytes.Buffer
	for _, d := range versions {
		source.Write(d.source(t.swagger.hash))
	}
	return jsondoc.Deferred(source.Bytes(), func() ([]byte, error) {
		template, err := t.swagger.read()
		if err != nil {
			return nil, err
		}
		paths, schemas := map[string]any{}, map[string]any{}
		for _, d := range versions {
			own, err := d.schemas(template.schemas)
			if err != nil {
				return nil, err
			}
			for name, schema := range own {
				if !strings.HasPrefix(name, machinery) {
					schema = toV2(schema)
				}
				schemas[name] = schema
			}
			of, err := d.paths(template.paths)
			if err != nil {
				return nil, err
			}
			maps.Copy(paths, of)
		}
		return json.Marshal(map[string]any{
			"swagger": "2.0", "info": map[string]string{"title": "Kubernetes CRD Swagger", "version": "v0.1.0"},
			"paths": paths, "definitions": schemas,
		})
	})
}

// toV2 returns a schema without what OpenAPI v2 doesn't have, as kube-apiserver publishes custom resources: clients of
// it would refuse values that the server accepts.
func toV2(schema any) any {
	switch s := schema.(type) {
	case []any:
		for i := range s {
			s[i] = toV2(s[i])
		}
		return s
	case map[string]any:
		return schemaToV2(s)
	}
	return schema
}

func schemaToV2(s map[string]any) map[string]any {
	out := map[string]any{}
	if s["x-kubernetes-preserve-unknown-fields"] == true && hasKinds(s) {
		// With properties, kubectl takes all others for unknown.
		for _, name := range []string{"type", kindsKey, "x-kubernetes-selectable-fields"} {
			if value, ok := s[name]; ok {
				out[name] = value
			}
		}
		return out
	}
	for name, value := range s {
		switch name {
		case "anyOf", "oneOf", "not", "nullable":
		case "allOf":
			if reference := metadataReference(value); reference != "" {
				out["$ref"] = reference
			}
		case "properties":
			members, _ := value.(map[string]any)
			properties := map[string]any{}
			for member, of := range members {
				properties[member] = toV2(of)
			}
			out[name] = properties
		case "items", "additionalProperties":
			out[name] = toV2(value)
		case "$ref":
			out[name] = strings.Replace(fmt.Sprint(value), references, definitions, 1)
		default:
			out[name] = value
		}
	}
	if s["nullable"] == true || s["x-kubernetes-preserve-unknown-fields"] == true {
		for _, name := range []string{"type", "items", "properties", "additionalProperties", "required"} {
			delete(out, name)
		}
	}
	return out
}

const kindsKey = "x-kubernetes-group-version-kind"

// hasKinds reports whether a schema is that of a kind.
func hasKinds(s map[string]any) bool { return s[kindsKey] != nil }

// metadataReference returns the reference in a schema of metadata: see metadataSchema.
func metadataReference(allOf any) string {
	if of, ok := allOf.([]map[string]string); ok && len(of) == 1 {
		return strings.Replace(of[0]["$ref"], references, definitions, 1)
	}
	return ""
}
