package shop

import (
	"encoding/json"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/jsondoc"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Documents are the OpenAPI documents of the group, as far as they say how fields are owned and merged: parts are a set
// in v1, and one string in v1beta1.
func Documents() map[string]api.Document {
	parts := object{"type": "array", "items": typed("string"), "x-kubernetes-list-type": "set"}
	return map[string]api.Document{
		"v1":      document(kindIn("v1"), "color", parts),
		"v1beta1": document(kindIn("v1beta1"), "colour", typed("string")),
	}
}

func kindIn(version string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "shop.example.com", Version: version, Kind: "Widget"}
}

// DocumentsOf is the document of a kind of another group whose Go type is that of v1beta1.
func DocumentsOf(kind schema.GroupVersionKind) map[string]api.Document {
	return map[string]api.Document{kind.Version: document(kind, "colour", typed("string"))}
}

type object = map[string]any

func typed(name string) object { return object{"type": name} }

func document(kind schema.GroupVersionKind, color string, parts object) api.Document {
	text := object{"type": "object", "additionalProperties": typed("string")}
	widget := object{
		"type": "object",
		"properties": object{
			"apiVersion": typed("string"), "kind": typed("string"),
			"metadata": object{"$ref": "#/components/schemas/ObjectMeta"},
			"spec": object{"type": "object", "properties": object{
				color: typed("string"), "size": typed("integer"), "parts": parts, "notes": text,
			}},
			"status": object{"type": "object",
				"properties": object{"phase": typed("string"), "clicks": typed("integer")}},
		},
		"x-kubernetes-group-version-kind": []any{
			object{"group": kind.Group, "version": kind.Version, "kind": kind.Kind},
		},
	}
	metadata := object{"type": "object", "properties": object{
		"name": typed("string"), "namespace": typed("string"), "uid": typed("string"),
		"resourceVersion": typed("string"), "generateName": typed("string"), "selfLink": typed("string"),
		"generation": typed("integer"), "creationTimestamp": typed("string"),
		"deletionTimestamp": typed("string"), "deletionGracePeriodSeconds": typed("integer"),
		"labels": text, "annotations": text,
		"finalizers":    object{"type": "array", "items": typed("string"), "x-kubernetes-list-type": "set"},
		"managedFields": object{"type": "array", "items": typed("object"), "x-kubernetes-list-type": "atomic"},
		"ownerReferences": object{
			"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"uid"},
			"items": object{"type": "object", "x-kubernetes-map-type": "atomic", "properties": object{
				"apiVersion": typed("string"), "kind": typed("string"), "name": typed("string"), "uid": typed("string"),
				"controller": typed("boolean"), "blockOwnerDeletion": typed("boolean"),
			}},
		},
	}}
	data, err := json.Marshal(object{
		"components": object{"schemas": object{kind.Kind + kind.Version: widget, "ObjectMeta": metadata}},
	})
	if err != nil {
		panic(err) // it is constant
	}
	return jsondoc.New(data)
}
