package structural_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"apigen.dev/runtime/cel"
	"apigen.dev/runtime/internal/custom/structural"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

const schema = `
type: object
properties:
  spec:
    type: object
    required: [size]
    properties:
      size: {type: integer, minimum: 1}
      color: {type: string, default: red, enum: [red, blue]}
      note: {type: string, nullable: true, maxLength: 3}
      tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
      ports:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]
        items: {type: object, properties: {name: {type: string}, number: {type: integer, maximum: 9, default: 3}}}
      labels: {type: object, additionalProperties: {type: string}}
      any: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {known: {type: object}}}
      inner: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
      either: {x-kubernetes-int-or-string: true}
`

func props(t testing.TB) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	var p apiextensionsv1.JSONSchemaProps
	if err := yaml.Unmarshal([]byte(schema), &p); err != nil {
		t.Fatal(err)
	}
	return &p
}

func decode(t testing.TB, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestReading(t *testing.T) {
	s, err := structural.New(props(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, in, unknown, out string }{
		{"unknown fields", `{x: 1, spec: {z: 2, size: 3}, metadata: {name: a}}`, "spec.z x",
			`{spec: {size: 3, color: red}, metadata: {name: a}}`},
		{"in lists", `{spec: {ports: [{name: a, z: 1}]}}`, "spec.ports[0].z",
			`{spec: {color: red, ports: [{name: a, number: 3}]}}`},
		{"kept ones, but not below what is known", `{spec: {any: {free: {a: 1}, known: {b: 1}}}}`, "spec.any.known.b",
			`{spec: {color: red, any: {free: {a: 1}, known: {}}}}`},
		{"maps have any key", `{spec: {labels: {a: b}}}`, "", `{spec: {color: red, labels: {a: b}}}`},
		{"nulls", `{spec: {color: null, note: null, size: null}}`, "", `{spec: {color: red, note: null}}`},
		{"metadata", `{metadata: {name: a, nope: 1}, spec: {inner: {kind: K, metadata: {nope: 2}, free: 1}}}`,
			"metadata.nope spec.inner.metadata.nope",
			`{metadata: {name: a}, spec: {color: red, inner: {kind: K, metadata: {}, free: 1}}}`},
	} {
		object := decode(t, c.in)
		unknown, err := s.Coerce(object, false)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		unknown = append(unknown, s.Prune(object)...)
		if got := strings.Join(unknown, " "); got != c.unknown {
			t.Errorf("%s: unknown %q, want %q", c.name, got, c.unknown)
		}
		s.DropNulls(object)
		s.SetDefaults(object)
		if want := decode(t, c.out); !reflect.DeepEqual(object, want) {
			t.Errorf("%s: %v, want %v", c.name, object, want)
		}
	}
}

// What a client sends has metadata of the right types; of what is stored, the wrong parts are left out.
func TestMetadataOfOtherTypes(t *testing.T) {
	s, err := structural.New(props(t))
	if err != nil {
		t.Fatal(err)
	}
	const text = `{kind: K, metadata: {name: a, labels: {a: 1}, annotations: {b: c}}}`
	if _, err := s.Coerce(decode(t, text), false); err == nil || !strings.Contains(err.Error(), "metadata") {
		t.Errorf("sent: %v", err)
	}
	object := decode(t, text)
	if _, err := s.Coerce(object, true); err != nil {
		t.Fatal(err)
	}
	if want := decode(t, `{kind: K, metadata: {name: a, annotations: {b: c}}}`); !reflect.DeepEqual(object, want) {
		t.Errorf("stored: %v", object)
	}
	// Metadata that is not an object stays where it is stored: the object can be read.
	object = decode(t, `{kind: K, metadata: [42]}`)
	_, err = s.Coerce(object, true)
	if err != nil || !reflect.DeepEqual(object, decode(t, `{kind: K, metadata: [42]}`)) {
		t.Errorf("stored: %v, %v", object, err)
	}
}

func TestValues(t *testing.T) {
	values, err := structural.NewValues(props(t))
	if err != nil {
		t.Fatal(err)
	}
	s, err := structural.New(props(t))
	if err != nil {
		t.Fatal(err)
	}
	const old = `{spec: {size: 0, note: long, ports: [{name: a, number: 10}, {name: b, number: 11}]}}`
	for _, c := range []struct{ name, object, old, want string }{
		{"valid", `{spec: {size: 1, either: a}}`, "", ""},
		{"missing", `{spec: {}}`, "", "spec.size: Required value"},
		{"a type", `{spec: {size: a}}`, "",
			`spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"`},
		{"a bound", `{spec: {size: 0}}`, "",
			"spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"},
		{"an enumeration", `{spec: {size: 1, color: green}}`, "",
			`spec.color: Unsupported value: "green": supported values: "red", "blue"`},
		{"a length", `{spec: {size: 1, note: long}}`, "", "spec.note: Too long: may not be more than 3 bytes"},
		{"a set", `{spec: {size: 1, tags: [a, b, a]}}`, "", `spec.tags[2]: Duplicate value: "a"`},
		{"keys of a map", `{spec: {size: 1, ports: [{name: a}, {name: a}]}}`, "",
			`spec.ports[1]: Duplicate value: {"name":"a"}`},
		{"an embedded object", `{spec: {size: 1, inner: {kind: K}}}`, "", "spec.inner.apiVersion: Required value"},
		{"what was wrong before", `{spec: {size: 0, note: long, color: red}}`, old, ""},
		{"another wrong value", `{spec: {size: -1, note: long}}`, old,
			"spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 1"},
		{"items in another order",
			`{spec: {size: 0, ports: [{name: b, number: 11}, {name: a, number: 10}, {name: c}]}}`, old, ""},
		{"a changed item", `{spec: {size: 0, ports: [{name: b, number: 12}]}}`, old,
			"spec.ports[0].number: Invalid value: 12: spec.ports[0].number in body should be less than or equal to 9"},
	} {
		object := decode(t, c.object)
		var before map[string]any
		if c.old != "" {
			before = decode(t, c.old)
		}
		errs := append(values.Validate(object, before), s.ValidateEmbedded(object)...)
		errs = append(errs, s.ValidateLists(object)...)
		if got := texts(errs); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
	if got := texts(values.ValidateMember("spec", decode(t, `{spec: {size: 0}}`), nil)); got !=
		"spec.size: Invalid value: 0: size in body should be greater than or equal to 1" {
		t.Errorf("a member: %s", got)
	}
}

func texts(errs field.ErrorList) string {
	var all []string
	for _, e := range errs {
		all = append(all, e.Error())
	}
	return strings.Join(all, "\n")
}

func TestUnsupported(t *testing.T) {
	for _, text := range []string{
		`{type: object, $ref: x}`, `{type: object, properties: {a: {type: object, patternProperties: {a: {}}}}}`,
		`{type: array, items: [{type: string}]}`,
	} {
		var p apiextensionsv1.JSONSchemaProps
		if err := yaml.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		if _, err := structural.New(&p); err == nil {
			t.Errorf("%s was accepted", text)
		}
	}
}

func TestCEL(t *testing.T) {
	p := props(t)
	spec := p.Properties["spec"]
	spec.XValidations = apiextensionsv1.ValidationRules{{Rule: "self.size > 1"}}
	p.Properties["spec"] = spec
	if faults := cel.Check(structural.CEL(p), "Object", true); len(faults) > 0 {
		t.Error(faults)
	}
}

// No object, whatever it looks like, makes the functions panic, and what was read once is read the same way again.
func FuzzReading(f *testing.F) {
	for _, text := range []string{
		`{"spec":{"size":1,"any":{"a":[1,null]}}}`, `{"metadata":[],"spec":{"inner":{"metadata":1}}}`,
		`{"spec":{"ports":[null,1,{"name":2}],"tags":[[],{}]}}`,
	} {
		f.Add(text)
	}
	s, err := structural.New(props(f))
	if err != nil {
		f.Fatal(err)
	}
	values, err := structural.NewValues(props(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var object map[string]any
		if kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &object) != nil || object == nil {
			return
		}
		if _, err := s.Coerce(object, true); err != nil {
			return
		}
		s.Prune(object)
		s.DropNulls(object)
		s.SetDefaults(object)
		values.Validate(object, object)
		s.ValidateEmbedded(object)
		s.ValidateLists(object)
		before, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		if again := s.Prune(object); len(again) > 0 {
			t.Errorf("%s: %v is pruned the second time", before, again)
		}
		s.SetDefaults(object)
		if after, err := json.Marshal(object); err != nil || string(after) != string(before) {
			t.Errorf("%s became %s (%v)", before, after, err)
		}
	})
}

// Metadata that is left as it is has the form that it has after a round trip through ObjectMeta.
func FuzzUsualMetadata(f *testing.F) {
	for _, text := range []string{
		`{"name":"a","generation":2,"creationTimestamp":"2026-11-23T21:54:50Z","labels":{"a":"b"},"finalizers":["x/y"],
"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","time":"2026-11-23T21:54:50Z",
"fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}},"subresource":"status"}],
"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"n","uid":"u","controller":true}]}`,
		`{"creationTimestamp":null,"labels":{}}`, `{"deletionGracePeriodSeconds":0}`, `{"name":""}`,
	} {
		f.Add(text)
	}
	s, err := structural.New(props(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var plain, marked map[string]any
		if kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &plain) != nil || plain == nil ||
			kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &marked) != nil {
			return
		}
		marked["nope"] = true // a member for which all of the metadata makes the round trip
		first, second := map[string]any{"metadata": plain}, map[string]any{"metadata": marked}
		_, err := s.Coerce(first, false)
		if _, err2 := s.Coerce(second, false); (err == nil) != (err2 == nil) {
			t.Fatalf("%v and %v", err, err2)
		}
		if err == nil && !reflect.DeepEqual(first, second) {
			t.Errorf("%v\n%v", first, second)
		}
	})
}
