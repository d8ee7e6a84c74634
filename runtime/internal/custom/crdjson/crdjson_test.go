package crdjson

import (
	"bytes"
	"encoding/json"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/randfill"
)

// filler fills definitions with every field of their types, and with strings of all kinds.
func filler(seed int64) *randfill.Filler {
	texts := []string{
		"", "object", "a <b> & \"c\"\\", "line\nnext\ttab\b\f\r\x01\x7f", "é世界🙂\u2028\u2029", "bad \xff utf-8",
	}
	raws := []string{"", `"plain"`, `"<escaped>"`, "true", "false", "12", "1.50", "[]", `{"a": [1, null, "\u00e9"]}`}
	return randfill.NewWithSeed(seed).NilChance(0.5).NumElements(0, 3).MaxDepth(11).Funcs(
		func(s *string, c randfill.Continue) { *s = texts[c.Intn(len(texts))] },
		func(j *apiextensionsv1.JSON, c randfill.Continue) { j.Raw = []byte(raws[c.Intn(len(raws))]) },
		func(m *metav1.ObjectMeta, _ randfill.Continue) { m.Name, m.Labels = "a.b", map[string]string{"<": ">"} },
		func(m *metav1.Time, _ randfill.Continue) { *m = metav1.Unix(1e9, 0) },
		func(s *apiextensionsv1.JSONSchemaPropsOrStringArray, c randfill.Continue) { c.Fill(&s.Property) },
	)
}

// TestWritesAsEncodingJSON fills every field that the Go types have: one that is new in them would be missing.
func TestWritesAsEncodingJSON(t *testing.T) {
	for seed := range int64(200) {
		crd := &definition{}
		filler(seed).Fill(crd)
		want, wantErr := json.Marshal(crd)
		got, err := Marshal(crd)
		if (err == nil) != (wantErr == nil) || !bytes.Equal(got, want) {
			t.Fatalf("seed %d: %v, %v\n%s\nwant\n%s", seed, err, wantErr, got, want)
		}
	}
}

func TestRefusesWhatHasNoJSON(t *testing.T) {
	for _, raw := range []string{"{", `"\x"`, "nul", "1 2"} {
		schema := &props{Default: &apiextensionsv1.JSON{Raw: []byte(raw)}}
		if data, err := MarshalSchema(schema); err == nil {
			t.Errorf("%s became %s", raw, data)
		}
	}
}

// TestReadsRegularSchemas makes sure that schemas which servers store need no reflection, and become the same.
func TestReadsRegularSchemas(t *testing.T) {
	for seed := range int64(200) {
		crd := &definition{}
		filler(seed).Funcs(
			func(s *string, c randfill.Continue) { *s = []string{"", "object", "a \"b\" <é>\n"}[c.Intn(3)] },
			func(j *apiextensionsv1.JSON, _ randfill.Continue) { j.Raw = []byte(`{"a":[1,null]}`) },
			func(d *apiextensionsv1.JSONSchemaDependencies, _ randfill.Continue) { *d = nil },
			func(i *apiextensionsv1.JSONSchemaPropsOrArray, _ randfill.Continue) { i.Schema = &props{Type: "a"} },
		).Fill(crd)
		data, err := json.Marshal(crd)
		if err != nil {
			t.Fatal(err)
		}
		if checkReads(t, data); len(crd.Spec.Versions) > 0 {
			if _, ok := findSchemas(data); !ok {
				t.Fatalf("seed %d is irregular:\n%s", seed, data)
			}
		}
	}
}

// checkReads wants the results of sigs.k8s.io/json.
func checkReads(t *testing.T, data []byte) {
	t.Helper()
	for _, strictly := range []bool{false, true} {
		var got, want definition
		strict, err := Unmarshal(data, &got, strictly)
		wantStrict, wantErr := unmarshalWhole(data, &want, strictly)
		if !sameErrors(strict, wantStrict) || !sameErrors([]error{err}, []error{wantErr}) {
			t.Fatalf("strictly %t: %v, %v, want %v, %v for\n%s", strictly, strict, err, wantStrict, wantErr, data)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("strictly %t: %+v, want %+v for\n%s", strictly, got, want, data)
		}
	}
}

func sameErrors(a, b []error) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if (a[i] == nil) != (b[i] == nil) || a[i] != nil && a[i].Error() != b[i].Error() {
			return false
		}
	}
	return true
}

// definitionOf is a definition with a schema in its only version.
func definitionOf(schema string) []byte {
	return []byte(`{"kind": "CustomResourceDefinition", "metadata": {"name": "a"}, "spec": {"group": "b", "versions": [
		{"name": "v1", "schema": {"openAPIV3Schema": ` + schema + `}, "served": true}, {"name": "v2"}]}}`)
}

var schemas = []string{
	`{}`, ` { "type" : "object" , "properties" : { } } `, `{"required":[],"enum":[1,"a",{"b": [true]}]}`,
	`{"description":"a \"b\" \\ \/ \b\f\n\r\t \u00e9 \ud83d\ude42 é世界"}`, `{"description":"\ud83d"}`,
	`{"description":"\ud83d\u0041"}`, `{"description":"\ufffd"}`, "{\"description\":\"\xff\"}",
	"{\"description\":\"\n\"}",
	`{"description":"\u12"}`, `{"description":"\q"}`, `{"description":null}`, `{"default":null}`, `{"enum":[null]}`,
	`{"default":{"a": 1}}`, `{"default":{"a" 1}}`, `{"default":nul}`, `{"maximum":1.5e3,"minimum":-0,"multipleOf":01}`,
	`{"maximum":1_0}`, `{"maxLength":9223372036854775807}`, `{"maxLength":9223372036854775808}`, `{"maxLength":1.0}`,
	`{"maxLength":"1"}`, `{"type":"a","type":"b"}`, `{"Type":"a"}`, `{"ty\u0070e":"a"}`, `{"unknown":1}`,
	`{"properties":{"a":{},"a":{}}}`, `{"properties":{"\u0061":{},"b":{"unknown":{}}}}`, `{"properties":null}`,
	`{"items":{"type":"string"}}`, `{"items":[]}`, `{"items":[{"type":"a"},{}]}`, `{"items":true}`, `{"items":null}`,
	`{"items":{"unknown":1,"items":{"type":"a","type":"b"}}}`, `{"additionalProperties":true}`,
	`{"additionalProperties":false,"additionalItems":{"not":{"type":"a"}}}`, `{"additionalProperties":"a"}`,
	`{"allOf":[{}],"oneOf":[],"anyOf":[{"allOf":[{}]}]}`, `{"dependencies":{"a":["b"],"c":{}}}`,
	`{"externalDocs":{"url":"a","description":"b"}}`, `{"externalDocs":{"url":"a","url":"b"}}`,
	`{"x-kubernetes-validations":[{"rule":"a","message":"b","reason":"c","optionalOldSelf":true}]}`,
	`{"x-kubernetes-validations":[{"rule":"a","rule":"b"}]}`, `{"x-kubernetes-list-map-keys":["a"],"nullable":"true"}`,
	`{"x-kubernetes-list-type":"map","x-kubernetes-preserve-unknown-fields":false}`, `{"type":"a",}`, `{"type" "a"}`,
	`{"type":"a"`, `{"type":"a"}}`, `{,}`, `[]`, `null`, `1`, `"a"`, `{"type":tr ue}`, `{"nullable":true1}`, "",
}

func TestReadsAsReflectionDoes(t *testing.T) {
	for _, schema := range schemas {
		checkReads(t, definitionOf(schema))
	}
	for _, text := range []string{
		`{}`, `{"spec":null}`, `{"spec":{"versions":null}}`, `{"spec":{"versions":[null]}}`, `[]`,
		`{"spec":{},"spec":{}}`,
		`{"spec":{"versions":[{"schema":null},{"schema":{}},{"schema":{"openAPIV3Schema":null}}]}}`,
		`{"spec":{"versions":[{"schema":{"openAPIV3Schema":{}},"schema":{"openAPIV3Schema":{"type":"a"}}}]}}`,
		`{"spec":{"versions":[{"schema":{"openAPIV3Schema":{},"a":1}}],"b":2}} `, `{"spec":{"versions":[{}]}} a`,
		string(definitionOf(`{}`)) + "{}",
		string(definitionOf(strings.Repeat(`{"not":`, 300) + `{}` + strings.Repeat(`}`, 300))),
	} {
		checkReads(t, []byte(text))
	}
}

func TestReadsSchemasAlone(t *testing.T) {
	for _, text := range schemas {
		var got, want props
		err := UnmarshalSchema([]byte(text), &got)
		wantErr := kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &want)
		if !sameErrors([]error{err}, []error{wantErr}) || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %+v, want %v, %+v", text, err, got, wantErr, want)
		}
	}
}

// FuzzUnmarshal compares with reflection what becomes of any text, and then of what that is written as.
func FuzzUnmarshal(f *testing.F) {
	for _, schema := range schemas {
		f.Add(definitionOf(schema))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkReads(t, data)
		var crd definition
		if _, err := Unmarshal(data, &crd, false); err != nil {
			return
		}
		want, wantErr := json.Marshal(&crd)
		if got, err := Marshal(&crd); !sameErrors([]error{err}, []error{wantErr}) || !bytes.Equal(got, want) {
			t.Fatalf("%v, %s\nwant %v, %s", err, got, wantErr, want)
		}
	})
}

// large returns a definition whose schema is as deep as that of a pod.
func large(tb testing.TB) []byte {
	tb.Helper()
	random := rand.New(rand.NewSource(1))
	var of func(depth int) props
	of = func(depth int) props {
		s := props{Type: "object", Description: strings.Repeat("says what it is. ", random.Intn(12))}
		switch {
		case depth == 0:
			s.Type = "string"
		case depth%2 == 0:
			item := of(depth - 1)
			s.Type, s.Items = "array", &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &item}
		default:
			s.Properties = map[string]props{}
			for _, name := range []string{"first", "second", "third"} {
				s.Properties[name] = of(depth - 1)
			}
		}
		return s
	}
	schema := of(9)
	data, err := json.Marshal(&schema)
	if err != nil {
		tb.Fatal(err)
	}
	return definitionOf(string(data))
}

func BenchmarkUnmarshal(b *testing.B) {
	data := large(b)
	for name, unmarshal := range map[string]func([]byte, *definition, bool) ([]error, error){
		"here": Unmarshal, "reflection": unmarshalWhole,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := unmarshal(data, &definition{}, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMarshal(b *testing.B) {
	data, crd := large(b), &definition{}
	if _, err := Unmarshal(data, crd, true); err != nil {
		b.Fatal(err)
	}
	for name, marshal := range map[string]func(*definition) ([]byte, error){
		"here": Marshal, "reflection": func(crd *definition) ([]byte, error) { return json.Marshal(crd) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := marshal(crd); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
