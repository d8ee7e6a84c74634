package document

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Where schemas stand in each version of OpenAPI.
const (
	componentPrefix  = "#/components/schemas/"
	definitionPrefix = "#/definitions/"
)

// swagger converts the v3 documents of a group's versions to the group's OpenAPI v2 document. As kube-apiserver does,
// it leaves out the features that v2 lacks: defaults, alternatives, and the type of nullable values.
func swagger(group string, documents []Document) object {
	paths, definitions := object{}, object{}
	for _, d := range documents {
		var doc struct {
			Paths      map[string]object
			Components struct{ Schemas map[string]object }
		}
		if err := json.Unmarshal(d.Content, &doc); err != nil {
			panic(fmt.Sprintf("the document of version %s isn't what was encoded: %v", d.Version.Name, err))
		}
		for path, item := range doc.Paths {
			paths[path] = pathItem(item)
		}
		for name, s := range doc.Components.Schemas {
			definition := definition(s)
			if known, ok := definitions[name].(object); ok {
				shareKinds(definition, known)
			}
			definitions[name] = definition
		}
	}
	return object{
		"swagger":             "2.0",
		"info":                object{"title": group, "version": "unversioned"},
		"paths":               paths,
		"definitions":         definitions,
		"securityDefinitions": security,
		"security":            []any{object{"BearerToken": []any{}}},
	}
}

const kindsKey = "x-kubernetes-group-version-kind"

// shareKinds joins the kinds of a type that several versions share, as DeleteOptions.
func shareKinds(definition, known object) {
	kinds, _ := definition[kindsKey].([]any)
	before, _ := known[kindsKey].([]any)
	for _, kind := range before {
		if !slices.ContainsFunc(kinds, func(other any) bool { return sameKind(other, kind) }) {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) > 0 {
		definition[kindsKey] = kinds
	}
}

func sameKind(a, b any) bool {
	x, _ := a.(object)
	y, _ := b.(object)
	return x["group"] == y["group"] && x["version"] == y["version"] && x["kind"] == y["kind"]
}

// pathItem converts a path: its operations, and the parameters of all of them.
func pathItem(item object) object {
	out := object{}
	for key, value := range item {
		switch value := value.(type) {
		case []any:
			out[key] = parameters(value)
		case object:
			out[key] = swaggerOperation(value)
		}
	}
	return out
}

func swaggerOperation(operation object) object {
	out := maps.Clone(operation)
	out["schemes"] = []any{"https"}
	parameters := parameters(operation["parameters"])
	if body, ok := operation["requestBody"].(object); ok {
		schema, types := contentOf(body)
		parameter := object{"name": "body", "in": "body", "schema": schema}
		if action := operation["x-kubernetes-action"]; action == "post" || action == "put" || action == "patch" {
			parameter["required"] = true
		}
		parameters = append(parameters, parameter)
		out["consumes"] = types
		delete(out, "requestBody")
	}
	responses, _ := operation["responses"].(object)
	out["responses"], out["produces"] = swaggerResponses(responses)
	if len(parameters) > 0 {
		out["parameters"] = parameters
	}
	return out
}

// swaggerResponses converts an operation's responses, and returns the media types of the successful ones.
func swaggerResponses(responses object) (out object, produces []any) {
	out = object{}
	for code, value := range responses {
		response, _ := value.(object)
		answer := object{"description": response["description"]}
		if schema, types := contentOf(response); schema != nil {
			answer["schema"] = schema
			if code == "200" || produces == nil {
				produces = types
			}
		}
		out[code] = answer
	}
	return out, produces
}

// contentOf returns the schema of a body, which all of its media types share, and the media types.
func contentOf(body object) (schema any, types []any) {
	content, _ := body["content"].(object)
	for mediaType, value := range content {
		types = append(types, mediaType)
		if described, ok := value.(object); ok {
			inner, _ := described["schema"].(object)
			schema = definition(inner)
		}
	}
	slices.SortFunc(types, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	return schema, types
}

// parameters converts parameters: v2 has the keywords of a parameter's type beside its name, without a schema between.
func parameters(value any) []any {
	list, _ := value.([]any)
	out := make([]any, 0, len(list))
	for _, value := range list {
		parameter, _ := value.(object)
		flat := maps.Clone(parameter)
		if schema, ok := flat["schema"].(object); ok {
			delete(flat, "schema")
			maps.Copy(flat, definition(schema))
		}
		out = append(out, flat)
	}
	return out
}

func definition(s object) object {
	out := maps.Clone(s)
	if ref := reference(s); ref != "" {
		maps.DeleteFunc(out, func(key string, _ any) bool {
			return key != "description" && !strings.HasPrefix(key, "x-")
		})
		out["$ref"] = definitionPrefix + strings.TrimPrefix(ref, componentPrefix)
		return out
	}
	for key, value := range s {
		inner, isObject := value.(object)
		switch key {
		case "default", "nullable", "allOf", "anyOf", "oneOf", "not":
			delete(out, key)
		case "properties":
			properties := object{}
			for name, property := range inner {
				if schema, ok := property.(object); ok {
					properties[name] = definition(schema)
				}
			}
			out[key] = properties
		case "items", "additionalProperties":
			if isObject {
				out[key] = definition(inner)
			}
		}
	}
	if s["nullable"] == true {
		for _, key := range []string{"type", "format", "properties", "items", "additionalProperties", "enum"} {
			delete(out, key)
		}
	} else if _, typed := s["type"]; !typed && textual(s) {
		out["type"] = "string"
	}
	return out
}

// reference returns the reference that a schema consists of, alone or as the only part of an allOf.
func reference(s object) string {
	if ref, ok := s["$ref"].(string); ok {
		return ref
	}
	if parts, ok := s["allOf"].([]any); ok && len(parts) == 1 {
		part, _ := parts[0].(object)
		ref, _ := part["$ref"].(string)
		return ref
	}
	return ""
}

// textual reports whether a value may be text or a number: v2 has one type only, and its validators take numbers for
// text.
func textual(s object) bool {
	alternatives, _ := s["oneOf"].([]any)
	if len(alternatives) == 0 {
		alternatives, _ = s["anyOf"].([]any)
	}
	return slices.ContainsFunc(alternatives, func(value any) bool {
		alternative, _ := value.(object)
		return alternative["type"] == "string"
	})
}
