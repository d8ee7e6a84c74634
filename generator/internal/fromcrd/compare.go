package fromcrd

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"sigs.k8s.io/yaml"
)

// Match is how alike a definition and the one that is made of its types are.
type Match int

// The matches. Same: the documents are the same bytes, but for comments in front. Described: they say the same, in
// another form or with other descriptions. Different: they accept different objects.
const (
	Different Match = iota
	Described
	Same
)

// Compare compares a definition with the document that was made of its types. It also returns the paths at which they
// differ, sorted; none where they are the same bytes or say the same.
func (d *Definition) Compare(made []byte) (Match, []string, error) {
	if bytes.Equal(body(d.text), body(made)) {
		return Same, nil, nil
	}
	var want, got any
	if err := yaml.Unmarshal(d.text, &want); err != nil {
		return Different, nil, err
	}
	if err := yaml.Unmarshal(made, &got); err != nil {
		return Different, nil, err
	}
	var differ []string
	differences("", normal(want), normal(got), &differ)
	if len(differ) > 0 {
		slices.Sort(differ)
		return Different, differ, nil
	}
	return Described, nil, nil
}

// body returns a document without the comments and the separator in front of it.
func body(document []byte) []byte {
	for {
		line, rest, found := bytes.Cut(document, []byte("\n"))
		if !found || !bytes.HasPrefix(line, []byte("#")) && string(line) != "---" {
			return bytes.TrimRight(document, "\n")
		}
		document = rest
	}
}

// normal returns what a definition says to an API server: without its status, its conversion, descriptions and what a
// server sets by default.
func normal(document any) any {
	d, _ := document.(map[string]any)
	spec, _ := d["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	if spec == nil || names == nil {
		return document
	}
	delete(d, "status")
	delete(spec, "conversion")
	delete(spec, "preserveUnknownFields")
	if metadata, ok := d["metadata"].(map[string]any); ok {
		delete(metadata, "creationTimestamp")
	}
	kind, _ := names["kind"].(string)
	if names["listKind"] == nil {
		names["listKind"] = kind + "List"
	}
	if names["singular"] == nil {
		names["singular"] = string(bytes.ToLower([]byte(kind)))
	}
	versions, _ := spec["versions"].([]any)
	byName := map[string]any{}
	for _, v := range versions {
		if version, ok := v.(map[string]any); ok {
			if s, ok := version["subresources"].(map[string]any); ok && len(s) == 0 {
				delete(version, "subresources")
			}
			root, _ := version["schema"].(map[string]any)
			if schema, ok := root["openAPIV3Schema"].(map[string]any); ok {
				root["openAPIV3Schema"] = normalSchema(schema)
			}
			byName[fmt.Sprint(version["name"])] = version
		}
	}
	spec["versions"] = byName
	return d
}

// normalSchema returns what a schema says to an API server.
func normalSchema(s map[string]any) map[string]any {
	delete(s, "description")
	if s["x-kubernetes-int-or-string"] == true {
		delete(s, "anyOf")
		delete(s, "type")
	}
	if required, ok := s["required"].([]any); ok {
		slices.SortFunc(required, func(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
	if properties, ok := s["properties"].(map[string]any); ok {
		for name, p := range properties {
			if p, ok := p.(map[string]any); ok {
				properties[name] = normalSchema(p)
			}
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if inner, ok := s[key].(map[string]any); ok {
			s[key] = normalSchema(inner)
		}
	}
	return s
}

func differences(path string, want, got any, out *[]string) {
	w, isObject := want.(map[string]any)
	g, areObjects := got.(map[string]any)
	if !isObject || !areObjects {
		if !reflect.DeepEqual(want, got) {
			path = path[min(1, len(path)):]
			*out = append(*out, fmt.Sprintf("%s: %s, and the types say %s", path, show(want), show(got)))
		}
		return
	}
	keys := maps.Clone(w)
	maps.Copy(keys, g)
	for key := range keys {
		differences(path+"."+key, w[key], g[key], out)
	}
}

func show(v any) string {
	if v == nil {
		return "nothing"
	}
	text := fmt.Sprint(v)
	if len(text) > 80 {
		text = text[:80] + "..."
	}
	return text
}
