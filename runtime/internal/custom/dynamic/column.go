package dynamic

import (
	"context"
	"encoding/json"
	"fmt"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/custom/crdjson"
	"apigen.dev/runtime/internal/jsondoc"
	"apigen.dev/runtime/internal/jsonpath"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// column is a column of a table.
type column struct {
	info api.Column
	path *jsonpath.Path
}

func newColumn(c *apiextensionsv1.CustomResourceColumnDefinition) (column, error) {
	path, err := jsonpath.Parse(c.JSONPath)
	if err != nil {
		return column{}, fmt.Errorf("column %s: %w", c.Name, err)
	}
	description := c.Description
	if description == "" {
		description = "Custom resource definition column (in JSONPath format): " + c.JSONPath
	}
	return column{
		info: api.Column{
			Name: c.Name, Type: c.Type, Format: c.Format, Description: description, Priority: c.Priority,
		},
		path: path,
	}, nil
}

// cell returns the first value that the path leads to, in the type of the column.
func (c *column) cell(object map[string]any) api.Cell {
	found := c.path.Find(object)
	if len(found) == 0 {
		return api.Cell{}
	}
	switch value := found[0]; c.info.Type {
	case "string":
		return api.Text(asText(value))
	case "integer":
		switch n := value.(type) {
		case int64:
			return api.Int(n)
		case float64:
			return api.Int(int64(n))
		}
	case "number":
		switch n := value.(type) {
		case int64:
			return api.Number(float64(n))
		case float64:
			return api.Number(n)
		}
	case "boolean":
		if b, ok := value.(bool); ok {
			return api.Bool(b)
		}
	case "date":
		text, ok := value.(string)
		if !ok {
			return api.Cell{}
		}
		var t metav1.Time
		if err := t.UnmarshalQueryParameter(text); err != nil {
			return api.Text("<invalid>")
		}
		if t.IsZero() {
			return api.Text("<unknown>")
		}
		return api.Age(t.Time)
	}
	return api.Cell{}
}

// asText returns a value as kubectl prints the result of a JSONPath.
func asText(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case nil:
		return "<nil>"
	case map[string]any, []any:
		data, _ := json.Marshal(value) // it was decoded from JSON
		return string(data)
	}
	return fmt.Sprint(value)
}

// textAt returns the function that reads a field of the version as field selectors see it: as text, "" if there is
// none, or where a webhook can't convert the object.
func (v *kindVersion) textAt(path string) (func(*unstructured.Unstructured) string, error) {
	parsed, err := jsonpath.Parse(path)
	if err != nil {
		return nil, fmt.Errorf("selectable field: %w", err)
	}
	converted := v.convert != nil && !v.spec.Storage
	return func(obj *unstructured.Unstructured) string {
		members := obj.Object
		if converted {
			ctx, from, to := context.Background(), v.storage, v.gvk.GroupVersion() // the cache asks, and no request
			var err error
			if members, err = v.to(ctx, from, to, obj.DeepCopy().Object); err != nil {
				return ""
			}
		}
		found := parsed.Find(members)
		if len(found) == 0 || found[0] == nil {
			return ""
		}
		return asText(found[0])
	}, nil
}

// packed is the schema of a version as JSON, compressed: most schemas of a server are used rarely.
type packed struct{ document api.Document }

func pack(props *apiextensionsv1.JSONSchemaProps) packed {
	if props == nil {
		return packed{}
	}
	data, err := crdjson.MarshalSchema(props)
	if err != nil {
		return packed{} // it was decoded from JSON
	}
	return packed{jsondoc.New(data)}
}

// props returns the schema, nil for none.
func (p packed) props() (*apiextensionsv1.JSONSchemaProps, error) {
	if p.document.IsZero() {
		return nil, nil
	}
	data, err := p.document.JSON()
	if err != nil {
		return nil, err
	}
	var props apiextensionsv1.JSONSchemaProps
	return &props, crdjson.UnmarshalSchema(data, &props)
}

// tree returns the schema as JSON has it; without one, that of an object that keeps all fields.
func (p packed) tree() (out map[string]any, err error) {
	if p.document.IsZero() {
		return map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}, nil
	}
	data, err := p.document.JSON()
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	return out, err
}

var _ runtime.Unstructured = (*unstructured.Unstructured)(nil)
