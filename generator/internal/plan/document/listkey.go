package document

import "strings"

// defaultKeys gives the only key of a list's items a default where Go leaves an empty one out: the empty text. Field
// ownership tells items apart by their keys, and an object that was answered without one couldn't be applied otherwise.
// Kubernetes gives the name of a LocalObjectReference this default for the same reason. Its own types are left as they
// are.
func defaultKeys(components map[string]object) {
	for name, s := range components {
		if !strings.HasPrefix(name, kubernetesPrefix) {
			defaultKeysIn(s, components)
		}
	}
}

// kubernetesPrefix begins the names of types of k8s.io/api, k8s.io/apimachinery and k8s.io/apiextensions-apiserver.
const kubernetesPrefix = "io.k8s.api"

func defaultKeysIn(value any, components map[string]object) {
	switch value := value.(type) {
	case []any:
		for _, v := range value {
			defaultKeysIn(v, components)
		}
	case object:
		if keys, ok := value["x-kubernetes-list-map-keys"].([]string); ok && len(keys) == 1 {
			defaultKey(value["items"], keys[0], components)
		}
		for _, v := range value {
			defaultKeysIn(v, components)
		}
	}
}

// defaultKey gives the key of a list's items its default, unless they are Kubernetes'.
func defaultKey(items any, key string, components map[string]object) {
	item, _ := items.(object)
	if parts, ok := item["allOf"].([]any); ok && len(parts) == 1 {
		item, _ = parts[0].(object)
	}
	if ref, ok := item["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, componentPrefix)
		if strings.HasPrefix(name, kubernetesPrefix) {
			return
		}
		item = components[name]
	}
	properties, _ := item["properties"].(object)
	property, _ := properties[key].(object)
	if property["type"] == "string" && property["default"] == nil {
		property["default"] = ""
	}
}
