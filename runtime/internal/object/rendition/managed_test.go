package rendition

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/verb"
)

// FuzzManaged: whatever the object, managedFields that are cut and put back are where they were.
func FuzzManaged(f *testing.F) {
	f.Add(`{"metadata":{"name":"a","managedFields":[{"x":1}]},"spec":{}}`)
	f.Add(`{"metadata":{"managedFields":[]}}`)
	f.Add(`{"metadata":{"a":1,"managedFields":{}, "b":2},"metadata":{}}`)
	f.Add(`{"metadata": {"a":"managedFields","managedFields" : 0 } }`)
	f.Fuzz(func(t *testing.T, object string) {
		var want any
		if json.Unmarshal([]byte(object), &want) != nil || !strings.HasPrefix(object, "{") {
			return
		}
		r := verb.Rendition{Payload: []byte(object)[1:]}
		cut, managed, ok := CutManagedFields(r)
		if !ok {
			return
		}
		back, ok := InsertManagedFields(verb.Rendition{Payload: cut[1:]}, managed)
		if !ok {
			return // twice the same member
		}
		var got any
		if err := json.Unmarshal(Whole(back), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s became %s (%v)", object, Whole(back), err)
		}
	})
}
