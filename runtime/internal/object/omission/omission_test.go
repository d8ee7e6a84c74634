package omission

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type object struct {
	Metadata metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec     spec              `json:"spec,omitempty"`
	Always   part              `json:"always"`
	Status   part              `json:"status,omitempty"`
}

type spec struct {
	First   part            `json:"first,omitempty"`
	Wait    metav1.Duration `json:"wait,omitempty"`
	Since   metav1.Time     `json:"since,omitempty"`
	Pointer *part           `json:"pointer,omitempty"`
	List    []part          `json:"list,omitempty"`
	Map     map[string]part `json:"map,omitempty"`
	Again   []spec          `json:"again,omitempty"`
	part
	Text string `json:"text,omitempty"`
	Last part   `json:"last,omitempty"`
}

type part struct {
	Name  string `json:"name"`
	Inner inner  `json:"inner,omitempty"`
}

type inner struct {
	N int `json:"n,omitempty"`
}

// specs are values, and the JSON of what is left.
var specs = []struct {
	of   spec
	want string
}{
	{spec{}, ``},
	{spec{Text: "a"}, `"spec":{"name":"","text":"a"},`},
	{spec{First: part{Name: "a"}}, `"spec":{"first":{"name":"a"},"name":""},`},
	{spec{First: part{Inner: inner{1}}}, `"spec":{"first":{"name":"","inner":{"n":1}},"name":""},`},
	{spec{Last: part{Name: "a"}}, `"spec":{"name":"","last":{"name":"a"}},`},
	{spec{Wait: metav1.Duration{Duration: 1}}, `"spec":{"wait":"1ns","name":""},`},
	{spec{Pointer: &part{}}, `"spec":{"pointer":{"name":""},"name":""},`},
	{spec{List: []part{{}, {Name: "a"}}}, `"spec":{"list":[{"name":""},{"name":"a"}],"name":""},`},
	{spec{Map: map[string]part{"first": {}}}, `"spec":{"map":{"first":{"name":""}},"name":""},`},
	{spec{Again: []spec{{Text: "\"last\":{\"name\":\"\"}"}}},
		`"spec":{"again":[{"name":"","text":"\"last\":{\"name\":\"\"}"}],"name":""},`},
}

// TestOmit: what is left out is exactly the optional structs that are zero, at any depth, and the rest is the same.
func TestOmit(t *testing.T) {
	shape := Of(reflect.TypeFor[*object]())
	for _, c := range specs {
		data, err := json.Marshal(&object{Spec: c.of})
		if err != nil {
			t.Fatal(err)
		}
		rest, found := bytes.CutPrefix(shape.Omit(data), []byte(`{"metadata":{},`))
		if want := c.want + `"always":{"name":""}}`; !found || string(rest) != want {
			t.Errorf("%+v: %s, want %s", c.of, rest, want)
		}
	}
}

// TestNothingToOmit: the shape of a type without optional structs is empty, and no shape leaves out nothing.
func TestNothingToOmit(t *testing.T) {
	if s := Of(reflect.TypeFor[*inner]()); !s.Empty() {
		t.Errorf("inner has the shape %v", s)
	}
	var none *Shape
	if got := none.Omit([]byte(`{"a":{}}`)); string(got) != `{"a":{}}` {
		t.Errorf("no shape makes %s", got)
	}
}

// BenchmarkEncode compares encoding an object with encoding it and leaving out its zero structs.
func BenchmarkEncode(b *testing.B) {
	shape := Of(reflect.TypeFor[*object]())
	o := &object{Metadata: metav1.ObjectMeta{Name: "a", UID: "b", Labels: map[string]string{"a": "b"}},
		Spec: spec{Text: "a", List: []part{{Name: "a"}, {Name: "b"}, {Name: "c"}}}}
	for name, shape := range map[string]*Shape{"whole": nil, "omit": shape} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				data, err := json.Marshal(o)
				if err != nil {
					b.Fatal(err)
				}
				shape.Omit(data)
			}
		})
	}
}
