package correlation

import (
	"encoding/json"
	"testing"

	kjson "sigs.k8s.io/json"
)

// schema describes an object by its members, or a list of type map by its elements and keys.
type schema struct {
	members map[string]*schema
	items   *schema
	keys    []string
}

func (s *schema) Member(name string) (*schema, bool) {
	if s == nil || s.members[name] == nil {
		return nil, false
	}
	return s.members[name], true
}

func (s *schema) MapItems() (*schema, []string, bool) {
	if s == nil || s.items == nil {
		return nil, nil, false
	}
	return s.items, s.keys, true
}

func TestUnchanged(t *testing.T) {
	leaf := &schema{}
	item := &schema{members: map[string]*schema{"a": leaf, "b": leaf, "c": leaf}}
	s := &schema{members: map[string]*schema{
		"plain": leaf, "list": {items: item, keys: []string{"a", "b"}}, "object": item,
	}}
	for _, row := range []struct {
		now, old string
		want     bool
	}{
		{`{}`, `{}`, true},
		{`{"plain":1}`, `{"plain":1}`, true},
		{`{"plain":1}`, `{"plain":1.0}`, false},
		{`{"plain":[1,{"x":2}]}`, `{"plain":[1,{"x":2}]}`, true},
		{`{"plain":[1,2]}`, `{"plain":[2,1]}`, false},
		{`{"plain":null}`, `{}`, false},
		{`{"unknown":1}`, `{"unknown":1}`, false},
		{`{"object":{"a":1,"d":1}}`, `{"object":{"a":1,"d":1}}`, false},
		{`{"list":[{"a":"x","b":1,"c":1},{"a":"x","b":2}]}`, `{"list":[{"a":"x","b":2},{"a":"x","b":1,"c":1}]}`, true},
		{`{"list":[{"a":"x","b":1,"c":1}]}`, `{"list":[{"a":"x","b":1,"c":2}]}`, false},
		{`{"list":[{"a":"1","b":true}]}`, `{"list":[{"a":1,"b":true}]}`, false},
		{`{"list":[{"a":"x"}]}`, `{"list":[{"a":"x"}]}`, false},
		{`{"list":[{"a":"x","b":null}]}`, `{"list":[{"a":"x","b":null}]}`, false},
		{`{"list":[{"a":"x\u0000i1","b":1}]}`, `{"list":[{"a":"x","b":1}]}`, false},
	} {
		if got := Unchanged(s, decoded(t, row.now), decoded(t, row.old)); got != row.want {
			t.Errorf("%s, was %s: %v", row.now, row.old, got)
		}
	}
}

// Of elements with the same keys, the first is found.
func TestIndex(t *testing.T) {
	list := decoded(t, `[{"a":1,"c":"first"},{"a":1,"c":"second"},"text",{"c":"none"}]`).([]any)
	x := NewIndex([]string{"a"}, list)
	if found, _ := x.Find(map[string]any{"a": int64(1)}).(map[string]any); found["c"] != "first" {
		t.Error(found)
	}
	for _, none := range []any{"text", map[string]any{}, map[string]any{"a": "1"}, nil} {
		if found := x.Find(none); found != nil {
			t.Errorf("%v: %v", none, found)
		}
	}
	if (Index{}).Find(list[0]) != nil || NewIndex(nil, list).Find(list[0]) != nil {
		t.Error("an index without keys finds something")
	}
}

// FuzzEqual: values are equal if their JSON with sorted keys is.
func FuzzEqual(f *testing.F) {
	f.Add(`{"a":[1,"x",null]}`, `{"a":[1,"x",null]}`)
	f.Add(`1`, `1.5`)
	f.Fuzz(func(t *testing.T, a, b string) {
		var x, y any
		if kjson.UnmarshalCaseSensitivePreserveInts([]byte(a), &x) != nil ||
			kjson.UnmarshalCaseSensitivePreserveInts([]byte(b), &y) != nil {
			return
		}
		first, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		second, err := json.Marshal(y)
		if err != nil {
			t.Fatal(err)
		}
		if Equal(x, y) && string(first) != string(second) || !Equal(x, x) {
			t.Errorf("%s, %s", first, second)
		}
	})
}

func decoded(t *testing.T, text string) (v any) {
	t.Helper()
	if err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}
