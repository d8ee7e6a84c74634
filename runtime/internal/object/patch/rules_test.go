package patch

import (
	"encoding/json"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

type shelf struct {
	*embedded
	Rows  [][]string                   `json:"rows,omitempty"`
	Deep  map[string]map[string]string `json:"deep,omitempty"`
	Books map[string]book              `json:"books,omitempty"`
	Twice **book                       `json:"twice,omitempty"`
	Lists [][2]book                    `json:"lists,omitempty"`
	List  own                          `json:"list,omitempty"`
	Any   own                          `json:"any,omitempty"`
	Some  []own                        `json:"some,omitempty"`
	Pages []page                       `json:"pages,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
}

type embedded struct {
	Inner []page          `json:"inner,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	Plain map[string]page `json:"plain,omitempty"`
}

type book struct {
	Pages []page `json:"pages,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	Title string `json:"title,omitempty"`
}

type page struct {
	Name string `json:"name"`
	Size int    `json:"size,omitempty"`
}

// own has JSON of its own.
type own struct{ json.RawMessage }

// TestRules checks the merge of values whose types PatchMetaFromStruct of the library refuses or panics at.
func TestRules(t *testing.T) {
	for name, c := range map[string]struct{ object, patch, want string }{
		"list of lists":   {`{"rows":[["a"]]}`, `{"rows":[["b"],["c"]]}`, `{"rows":[["b"],["c"]]}`},
		"list of arrays":  {`{"lists":[[{},{}]]}`, `{"lists":[]}`, `{"lists":[]}`},
		"map of maps":     {`{"deep":{"a":{"x":"1"}}}`, `{"deep":{"a":{"y":"2"}}}`, `{"deep":{"a":{"x":"1","y":"2"}}}`},
		"member of a map": {`{"deep":{"a":{"x":"1"}}}`, `{"deep":{"a":{"x":null}}}`, `{"deep":{"a":{}}}`},
		"own list":        {`{"list":[1]}`, `{"list":[2]}`, `{"list":[2]}`},
		"own object":      {`{"any":{"a":{"b":1}}}`, `{"any":{"a":{"c":[1]}}}`, `{"any":{"a":{"b":1,"c":[1]}}}`},
		"own objects":     {`{"some":[{"a":1}]}`, `{"some":[{"b":1}]}`, `{"some":[{"b":1}]}`},
		"in an embedded": {`{"plain":{"a":{"name":"x"}}}`, `{"plain":{"a":{"size":2}}}`,
			`{"plain":{"a":{"name":"x","size":2}}}`},
		"by key": {`{"pages":[{"name":"a","size":1}]}`, `{"pages":[{"name":"b"}]}`,
			`{"pages":[{"name":"b"},{"name":"a","size":1}]}`},
		"by key, embedded": {`{"inner":[{"name":"a","size":1}]}`, `{"inner":[{"name":"a","size":2}]}`,
			`{"inner":[{"name":"a","size":2}]}`},
		"by key, in a map": {`{"books":{"k":{"pages":[{"name":"a"}]}}}`,
			`{"books":{"k":{"pages":[{"name":"a","size":2}]}}}`, `{"books":{"k":{"pages":[{"name":"a","size":2}]}}}`},
		"pointer to a pointer": {`{"twice":{"title":"a","pages":[{"name":"a"}]}}`, `{"twice":{"pages":[{"name":"b"}]}}`,
			`{"twice":{"title":"a","pages":[{"name":"b"},{"name":"a"}]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			p, _, err := NewStrategic([]byte(c.patch), RulesOf(reflect.TypeFor[*shelf]()), false)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Apply([]byte(c.object))
			if err != nil {
				t.Fatal(err)
			}
			if !sameJSON(got, []byte(c.want)) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestRulesOfUnknownFields: a field that a struct doesn't have is the error of the library.
func TestRulesOfUnknownFields(t *testing.T) {
	_, _, want := strategicpatch.PatchMetaFromStruct{T: reflect.TypeFor[book]()}.LookupPatchMetadataForStruct("other")
	_, _, err := RulesOf(reflect.TypeFor[*book]()).member("other")
	if err == nil || err.Error() != want.Error() {
		t.Errorf("got %v, want %v", err, want)
	}
}
