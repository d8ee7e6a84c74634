package document

import (
	"encoding/json"
	"testing"
)

// TestDefaultKeys: items of a list may lack their only key, if it is a text that Go leaves out.
func TestDefaultKeys(t *testing.T) {
	list := func(items object, keys ...string) object {
		return object{"type": "array", "x-kubernetes-list-map-keys": keys, "items": items}
	}
	item := func() object {
		return object{"type": "object", "properties": object{
			"name": object{"type": "string"}, "kind": object{"type": "string", "default": "x"},
			"size": object{"type": "integer"},
		}}
	}
	ref := func(name string) object { return object{"$ref": componentPrefix + name} }
	components := map[string]object{
		"shop.Item": item(), "shop.Other": item(), "io.k8s.api.Item": item(),
		"shop.Widget": {"properties": object{
			"byRef":     list(ref("shop.Item"), "name"),
			"described": list(object{"allOf": []any{ref("shop.Item")}}, "name"),
			"inline":    list(item(), "name"), "defaulted": list(item(), "kind"), "number": list(item(), "size"),
			"two": list(ref("shop.Other"), "name", "kind"), "kubernetes": list(ref("io.k8s.api.Item"), "name"),
		}},
	}
	before, err := json.Marshal(components)
	if err != nil {
		t.Fatal(err)
	}
	defaultKeys(components)
	nameOf := func(item object) object { return item["properties"].(object)["name"].(object) }
	inline := components["shop.Widget"]["properties"].(object)["inline"].(object)["items"].(object)
	for what, item := range map[string]object{"by reference": components["shop.Item"], "in place": inline} {
		if name := nameOf(item); name["default"] != "" {
			t.Errorf("%s: %v", what, name)
		}
		delete(nameOf(item), "default")
	}
	after, err := json.Marshal(components)
	if err != nil {
		t.Fatal(err)
	}
	if string(after) != string(before) {
		t.Errorf("others were changed: %s, before: %s", after, before)
	}
}
