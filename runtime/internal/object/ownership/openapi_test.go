package ownership

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
)

// documents returns the OpenAPI v3 documents of the ready-made groups and of the examples.
func documents(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, root := range []string{"../../../builtin", "../../../../examples"} {
		if err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".json.gz") || strings.Contains(path, "swagger") {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			zip, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				return err
			}
			all[path], err = io.ReadAll(zip)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// converted returns what schemaconv makes of a document.
func converted(document []byte) (*smd.Schema, error) {
	var parsed struct {
		Components struct {
			Schemas map[string]*spec.Schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(document, &parsed); err != nil {
		return nil, err
	}
	for name, s := range parsed.Components.Schemas {
		if s == nil {
			delete(parsed.Components.Schemas, name)
		}
	}
	return schemaconv.ToSchemaFromOpenAPI(parsed.Components.Schemas, false)
}

// sortedText is a schema without the order in which maps were read.
func sortedText(t testing.TB, s *smd.Schema) string {
	t.Helper()
	slices.SortFunc(s.Types, func(a, b smd.TypeDef) int { return cmp.Compare(a.Name, b.Name) })
	for i := range s.Types {
		sortFields(&s.Types[i].Atom)
	}
	text, err := json.MarshalIndent(s.Types, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func sortFields(a *smd.Atom) {
	if a.List != nil {
		sortFields(&a.List.ElementType.Inlined)
	}
	if a.Map == nil {
		return
	}
	sortFields(&a.Map.ElementType.Inlined)
	slices.SortFunc(a.Map.Fields, func(a, b smd.StructField) int { return cmp.Compare(a.Name, b.Name) })
	for i := range a.Map.Fields {
		sortFields(&a.Map.Fields[i].Type.Inlined)
	}
}

// schemaOf returns the schemas that parse makes of a document.
func schemaOf(document []byte) (*smd.Schema, error) {
	types, err := parse(document)
	if err != nil {
		return nil, err
	}
	return &types.schema, nil
}

// everything is a document with all that decides how values are merged.
const everything = `{"components":{"schemas":{
	"io.k8s.apimachinery.pkg.api.resource.Quantity":{"type":"string"},
	"io.k8s.apimachinery.pkg.runtime.RawExtension":{"type":"object"},
	"Ref":{"$ref":"#/components/schemas/Struct"},
	"Any":{}, "Free":{"type":"object"},
	"Closed":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false},
	"Open":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":true},
	"Kept":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{
		"in":{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}}}},
	"Inner":{"type":"object","properties":{
		"kept":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"type":"string"}}},
		"not":{"type":"object","properties":{"a":{"type":"string"}}}}},
	"Struct":{"type":"object","x-kubernetes-map-type":"granular","properties":{
		"s":{"type":"string","default":"x"}, "byte":{"type":"string","format":"byte"},
		"time":{"type":"string","format":"date-time"}, "both":{"type":"string","format":"int-or-string"},
		"i":{"type":"integer","default":1,"nullable":true}, "f":{"type":"number","default":{"a":[1.5]}},
		"b":{"type":"boolean"},
		"one":{"allOf":[{"$ref":"#/components/schemas/Any"}],"default":{},"nullable":true},
		"two":{"allOf":[{"$ref":"#/components/schemas/Any"},{"type":"string"}]},
		"whole":{"$ref":"#/components/schemas/Any","x-kubernetes-map-type":"atomic"},
		"map":{"type":"object","additionalProperties":{"type":"string","nullable":true}},
		"refs":{"type":"object","additionalProperties":{"$ref":"#/components/schemas/Any"}},
		"list":{"type":"array","items":{"type":"string"}},
		"untypedList":{"items":{"type":"string"},"x-kubernetes-list-type":"set"},
		"atomic":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"atomic"},
		"set":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"},
		"keyed":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a","b"],"items":{
			"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer","default":0}}}},
		"merged":{"type":"array","items":{},"x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"a"},
		"mergedSet":{"type":"array","items":{},"x-kubernetes-patch-strategy":"merge,retainKeys"},
		"retained":{"type":"array","items":{},"x-kubernetes-patch-strategy":"retainKeys"},
		"typeWins":{"type":"array","items":{},"x-kubernetes-patch-strategy":"merge","x-kubernetes-list-type":"atomic"}
	}}}}}`

// TestSchemasOfDocuments: documents are read as schemaconv reads them.
func TestSchemasOfDocuments(t *testing.T) {
	all := documents(t)
	if len(all) < 10 {
		t.Errorf("%d documents are too few", len(all))
	}
	all["everything"] = []byte(everything)
	for path, document := range all {
		want, err := converted(document)
		if err != nil {
			t.Fatal(err)
		}
		got, err := schemaOf(document)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := sortedText(t, got), sortedText(t, want); got != want {
			t.Errorf("%s: got\n%.3000s\nwant\n%.3000s", path, got, want)
		}
	}
}

// TestDocumentsThatSayNothing: what can't be merged is an error, in schemaconv's words.
func TestDocumentsThatSayNothing(t *testing.T) {
	for _, property := range []string{
		`{"type":"date"}`, `{"type":"array"}`, `{"type":"object","x-kubernetes-map-type":"none"}`,
		`{"type":"array","items":{},"x-kubernetes-list-type":"none"}`,
		`{"type":"array","items":{},"x-kubernetes-list-type":"map"}`,
		`{"type":"array","items":{},"x-kubernetes-patch-strategy":"none"}`,
	} {
		document := []byte(`{"components":{"schemas":{"A":{"type":"object","properties":{"p":` + property + `}}}}}`)
		_, want := converted(document)
		_, err := schemaOf(document)
		if err == nil || want == nil || err.Error() != want.Error() {
			t.Errorf("%s: got %v, want %v", property, err, want)
		}
	}
}

// FuzzSchemas: no document makes a panic, and what both read is the same.
func FuzzSchemas(f *testing.F) {
	f.Add([]byte(everything))
	f.Add([]byte(`{"components":{"schemas":{"A":{"additionalProperties":7,"items":[]},"B":null}}}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		got, err := schemaOf(document)
		want, theirs := converted(document)
		if err != nil || theirs != nil {
			return
		}
		if !reflect.DeepEqual(sortedText(t, got), sortedText(t, want)) {
			t.Errorf("got\n%s\nwant\n%s", sortedText(t, got), sortedText(t, want))
		}
	})
}
