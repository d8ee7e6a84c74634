package crd

import (
	"reflect"
	"testing"
)

// TestMergeDefaults: of two fields with one name, of which one is in an embedded struct, the nearer has its default,
// and allOf, in which a definition may have none, has none.
func TestMergeDefaults(t *testing.T) {
	embedded := object{"properties": object{"name": object{"type": "string", "default": "a", "maxLength": int64(3)}}}
	own := object{"properties": object{"name": object{"type": "string", "default": "", "maxLength": int64(2)}}}
	merge(embedded, own)
	want := object{"type": "string", "default": "",
		"allOf": []any{object{"maxLength": int64(3)}, object{"maxLength": int64(2)}}}
	if got := embedded["properties"].(object)["name"]; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
