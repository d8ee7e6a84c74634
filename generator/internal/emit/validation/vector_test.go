package validation_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/emittest"
	"apigen.dev/generator/internal/emit/openapi"
	shop "apigen.dev/generator/internal/emit/validation/testdata/shop/v1"
	"apigen.dev/generator/internal/plan"
)

// vector is an object with the errors of its checks.
type vector struct {
	// at is where value, JSON, is put into a valid object; null takes it away.
	at, value string
	// want are the errors; none accepts the object.
	want []string
	// unsaid: the schema accepts the object, for OpenAPI has no keyword for the rule, or Go's types lose the JSON form.
	unsaid bool
}

const valid = `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"w"},
	"crd":{"needed":"x","nullable":null},"declarative":{"required":"x","requiredList":["x"]}}`

func bad(at, value string, want ...string) vector { return vector{at: at, value: value, want: want} }
func good(at, value string) vector                { return vector{at: at, value: value} }
func (v vector) beyondOpenAPI() vector            { v.unsaid = true; return v }

var vectors = []vector{
	good("crd.bounded", `1`), good("crd.bounded", `9`),
	bad("crd.bounded", `-1`,
		`crd.bounded: Invalid value: -1: crd.bounded in body should be greater than or equal to 1`),
	bad("crd.bounded", `10`, `crd.bounded: Invalid value: 10: crd.bounded in body should be less than or equal to 9`),
	good("crd.bounded", `0`).beyondOpenAPI(), // as good as absent
	good("crd.between", `2`), good("crd.between", `8`),
	bad("crd.between", `0`, `crd.between: Invalid value: 0: crd.between in body should be greater than 1`),
	bad("crd.between", `1`, `crd.between: Invalid value: 1: crd.between in body should be greater than 1`),
	bad("crd.between", `9`, `crd.between: Invalid value: 9: crd.between in body should be less than 9`),
	good("crd.fives", `15`),
	bad("crd.fives", `16`, `crd.fives: Invalid value: 16: crd.fives in body should be a multiple of 5`),
	good("crd.ratio", `0.5`), good("crd.ratio", `0.7`),
	bad("crd.ratio", `0.4`, `crd.ratio: Invalid value: 0.4: crd.ratio in body should be greater than or equal to 0.5`),
	bad("crd.ratio", `0.55`, `crd.ratio: Invalid value: 0.55: crd.ratio in body should be a multiple of 0.1`),
	good("crd.text", `"äöüß"`),
	bad("crd.text", `"a"`, `crd.text: Invalid value: "a": crd.text in body should be at least 2 chars long`),
	bad("crd.text", `"äöüßa"`, `crd.text: Too long: may not be more than 4 bytes`),
	good("crd.pattern", `"a1"`),
	bad("crd.pattern", `""`, `crd.pattern: Invalid value: "": crd.pattern in body should match '^[a-z]+\d$'`),
	bad("crd.pattern", `"a1b"`, `crd.pattern: Invalid value: "a1b": crd.pattern in body should match '^[a-z]+\d$'`),
	good("crd.header", `"HOST"`),
	bad("crd.header", `"host"`, `crd.header: Invalid value: "host": crd.header in body should match '^[A-Z]+$'`),
	bad("crd.header", `"HOSTNAME"`, `crd.header: Too long: may not be more than 6 bytes`),
	bad("crd.headers", `["HOST","host"]`,
		`crd.headers[1]: Invalid value: "host": crd.headers[1] in body should match '^[A-Z]+$'`),
	good("crd.size", `"large"`),
	bad("crd.size", `"Large"`, `crd.size: Unsupported value: "Large": supported values: "small", "large"`),
	good("crd.power", `4`),
	bad("crd.power", `3`, `crd.power: Unsupported value: 3: supported values: "1", "2", "4"`),
	good("crd.list", `["a","a"]`),
	bad("crd.list", `[]`, `crd.list: Invalid value: 0: crd.list in body should have at least 2 items`),
	bad("crd.list", `["a","b","c","a"]`, `crd.list: Too many: 4: must have at most 3 items`),
	bad("crd.list", `["a","long"]`, `crd.list[1]: Too long: may not be more than 3 bytes`),
	bad("crd.list", `["d","b"]`, `crd.list[0]: Unsupported value: "d": supported values: "a", "b", "c", "long"`),
	good("crd.uniques", `[1,2]`),
	bad("crd.uniques", `[1,2,1]`, `crd.uniques[2]: Duplicate value: 1`),
	good("crd.counts", `{"a":1}`),
	bad("crd.counts", `{}`, `crd.counts: Invalid value: 0: crd.counts in body should have at least 1 properties`),
	bad("crd.counts", `{"a":1,"b":1,"c":1}`, `crd.counts: Too many: 3: must have at most 2 items`),
	bad("crd.counts", `{"a":0}`, `crd.counts[a]: Invalid value: 0: crd.counts[a] in body should be greater than or `+
		`equal to 1`),
	good("crd.part", `{"must":"x"}`),
	bad("crd.part", `{"must":""}`,
		`crd.part.must: Invalid value: "": crd.part.must in body should be at least 1 chars long`),
	bad("crd.part", `{"must":"x","number":0}`,
		`crd.part.number: Invalid value: 0: crd.part.number in body should be greater than or equal to 1`),
	bad("crd.optional", `{"must":"","number":1}`,
		`crd.optional.must: Invalid value: "": crd.optional.must in body should be at least 1 chars long`),
	bad("crd.needed", `null`, `crd.needed: Required value`),
	good("crd.nullable", `"x"`),
	good("crd.dateTime", `"2026-01-02T03:04:05Z"`),
	bad("crd.dateTime", `"yesterday"`,
		`crd.dateTime: Invalid value: "yesterday": crd.dateTime in body must be of type date-time: "yesterday"`),
	good("crd.ipv4", `"10.0.0.1"`),
	bad("crd.ipv4", `"10.0.0.256"`,
		`crd.ipv4: Invalid value: "10.0.0.256": crd.ipv4 in body must be of type ipv4: "10.0.0.256"`),
	bad("crd.ipv4", `"::1"`, `crd.ipv4: Invalid value: "::1": crd.ipv4 in body must be of type ipv4: "::1"`),
	good("crd.uuid", `"6ba7b810-9dad-11d1-80b4-00c04fd430c8"`),
	bad("crd.uuid", `"6ba7b810"`, `crd.uuid: Invalid value: "6ba7b810": crd.uuid in body must be of type uuid: `+
		`"6ba7b810"`),
	good("crd.cidr", `"10.0.0.0/8"`),
	bad("crd.cidr", `"10.0.0.0"`, `crd.cidr: Invalid value: "10.0.0.0": crd.cidr in body must be of type cidr: `+
		`"10.0.0.0"`),
	good("crd.bytes", `"AAAAAAA="`),
	bad("crd.bytes", `"AAAAAAAAAAA="`, `crd.bytes: Too long: may not be more than 8 bytes`),
	good("crd.share", `"50%"`), good("crd.share", `5`),
	bad("crd.share", `"half"`, `crd.share: Invalid value: "half": crd.share in body should match '^[0-9]+%$'`),
	bad("crd.share", `0`, `crd.share: Invalid value: 0: crd.share in body should be greater than or equal to 1`),
	good("crd.ports", `[{"name":"a","number":1},{"name":"b"}]`),
	bad("crd.ports", `[{"name":"a","number":-1}]`,
		`crd.ports[0].number: Invalid value: -1: crd.ports[0].number in body should be greater than or equal to 1`),
	bad("crd.ports", `[{"name":"a"},{"name":"a","number":2}]`,
		`crd.ports[1]: Duplicate value: {"name":"a"}`).beyondOpenAPI(),
	bad("crd.set", `["Low","High","Low"]`, `crd.set[2]: Duplicate value: "Low"`).beyondOpenAPI(),
	bad("crd.set", `["Low","low"]`, `crd.set[1]: Unsupported value: "low": supported values: "Low", "High"`),
	bad("crd.nested", `[["Low"],["High","low"]]`,
		`crd.nested[1][1]: Unsupported value: "low": supported values: "Low", "High"`),
	bad("crd.byName", `{"x":{"name":"a","number":65536}}`,
		`crd.byName[x].number: Invalid value: 65536: crd.byName[x].number in body `+
			`should be less than or equal to 65535`),
	good("crd.left", `"x"`),
	bad("crd", `{"needed":"x","nullable":null,"left":"x","right":0}`,
		`crd: Invalid value: "object": at most one of the fields in [left right] may be set`).beyondOpenAPI(),
	bad("crd.anonymous", `{"short":"long"}`, `crd.anonymous.short: Too long: may not be more than 2 bytes`),
	bad("crd.inherited", `"too long"`, `crd.inherited: Too long: may not be more than 5 bytes`),

	bad("metadata.name", `"w.w"`, `metadata.name: Invalid value: "w.w": must not contain dots`).beyondOpenAPI(),
	bad("declarative.required", `""`, `declarative.required: Required value`).beyondOpenAPI(),
	bad("declarative.required", `null`, `declarative.required: Required value`),
	bad("declarative.requiredList", `[]`, `declarative.requiredList: Required value`).beyondOpenAPI(),
	bad("declarative.forbidden", `""`, `declarative.forbidden: Forbidden`).beyondOpenAPI(),
	bad("declarative.bounded", `0`, `declarative.bounded: Invalid value: 0: must be greater than or equal to 1`),
	bad("declarative.bounded", `10`, `declarative.bounded: Invalid value: 10: must be less than or equal to 9`),
	bad("declarative.text", `"ä"`, `declarative.text: Too short: must be at least 2 characters`),
	bad("declarative.text", `"äöüßa"`, `declarative.text: Too long: may not be more than 4 characters`),
	bad("declarative.text", `"none"`,
		`declarative.text: Invalid value: "none": must not be equal to "none"`).beyondOpenAPI(),
	good("declarative.bytes", `"äö"`),
	bad("declarative.bytes", `"äöü"`, `declarative.bytes: Too long: may not be more than 4 bytes`).beyondOpenAPI(),
	bad("declarative.bytes", `"abcde"`, `declarative.bytes: Too long: may not be more than 4 bytes`),
	bad("declarative.name", `"a.b"`, `declarative.name: Invalid value: "a.b": must not contain dots`),
	good("declarative.list", `["a"]`),
	good("declarative.list", `[]`).beyondOpenAPI(), // unset
	bad("declarative.list", `["a","b","c"]`, `declarative.list: Too many: 3: must have at most 2 items`),
	bad("declarative.list", `["long"]`, `declarative.list[0]: Too long: may not be more than 3 characters`),
	bad("declarative.map", `{"a.b":1}`, `declarative.map: Invalid value: "a.b": must not contain dots`).beyondOpenAPI(),
	bad("declarative.map", `{"a":0}`, `declarative.map[a]: Invalid value: 0: must be greater than or equal to 1`),
	bad("declarative.map", `{"a":1,"b":1,"c":1}`, `declarative.map: Too many: 3: must have at most 2 items`),
	bad("declarative.unique", `["a","a"]`, `declarative.unique[1]: Duplicate value: "a"`).beyondOpenAPI(),
	bad("declarative.entries", `[{"type":"a","text":"x"},{"type":"a","text":"y"}]`,
		`declarative.entries[1]: Duplicate value: {"type":"a","text":"y"}`).beyondOpenAPI(),
	bad("declarative.entries", `[{"type":"a"}]`, `declarative.entries[0].text: Required value`),
	good("declarative.verdicts", `[{"type":"Approved","text":"x"},{"type":"Else","text":"x"}]`),
	bad("declarative.verdicts", `[{"type":"Denied","text":"x"},{"type":"Approved","text":"x"}]`,
		"declarative.verdicts: Invalid value: \"{verdicts[{\\\"type\\\": \\\"Approved\\\"}], verdicts[{\\\"type\\\": "+
			"\\\"Denied\\\"}]}\": must specify at most one of: `verdicts[{\"type\": \"Approved\"}]`, "+
			"`verdicts[{\"type\": \"Denied\"}]`").beyondOpenAPI(),
	good("declarative.chosen", `{"left":"x"}`),
	bad("declarative.chosen", `{}`,
		"declarative.chosen: Invalid value: \"\": must specify one of: `left`, `right`").beyondOpenAPI(),
	good("declarative.color", `"Red"`),
	bad("declarative.color", `"Black"`,
		`declarative.color: Unsupported value: "Black": supported values: "Green", "Red"`),
	good("declarative.opaque", `"Blue"`).beyondOpenAPI(),
	bad("declarative.letter", `"x"`,
		`declarative.seal: Required value: must be set when letter is set`).beyondOpenAPI(),
	bad("declarative", `{"required":"x","requiredList":["x"],"free":true,"pay":1}`,
		`declarative.pay: Forbidden: may not be set when free is set`).beyondOpenAPI(),
	good("declarative.union", `{"second":["x"]}`),
	bad("declarative.union", `{}`,
		"declarative.union: Invalid value: \"\": must specify one of: `first`, `second`").beyondOpenAPI(),
	bad("declarative.union", `{"first":"","second":["x"]}`,
		"declarative.union: Invalid value: \"{first, second}\": must specify exactly one of: `first`, `second`").
		beyondOpenAPI(),
	good("declarative.tagged", `{"kind":"Web","url":"x"}`),
	bad("declarative.tagged", `{"kind":"File"}`,
		"declarative.tagged.file: Invalid value: \"\": must be specified when `kind` is \"File\"").beyondOpenAPI(),
	good("declarative.loose", `{}`),
	bad("declarative.loose", `{"left":"","right":"x"}`,
		"declarative.loose: Invalid value: \"{left, right}\": must specify at most one of: `left`, `right`").
		beyondOpenAPI(),
	bad("declarative.modal", `{"mode":"Queue"}`, `declarative.modal.queue: Required value`).beyondOpenAPI(),
	bad("declarative.modal", `{"mode":"Queue","queue":"long"}`,
		`declarative.modal.queue: Too long: may not be more than 3 characters`).beyondOpenAPI(),
	good("declarative.modal", `{"mode":"Maybe"}`),
	bad("declarative.modal", `{"mode":"Other","queue":"x"}`, `declarative.modal.queue: Forbidden`).beyondOpenAPI(),

	bad("status", `{"ready":-1}`, `status.ready: Invalid value: -1: status.ready in body should be greater than or `+
		`equal to 0`),
	bad("status.conditions", `[{"type":"Ready","status":"Maybe","reason":"R","message":"",`+
		`"lastTransitionTime":"2026-01-02T03:04:05Z"}]`,
		`status.conditions[0].status: Unsupported value: "Maybe": supported values: "True", "False", "Unknown"`).
		beyondOpenAPI(),
}

// TestVectors: the checks in Go return the right errors, and the schema accepts and rejects the same objects.
func TestVectors(t *testing.T) {
	validator := schemaValidator(t)
	for _, v := range append(vectors, good("metadata.name", `"w"`)) {
		t.Run(v.at+"="+v.value, func(t *testing.T) {
			object := with(t, v.at, v.value)
			if d := cmp.Diff(v.want, check(t, operation.Create, object, nil)); d != "" {
				t.Errorf("Go: %s", d)
			}
			result := validator.Validate(object)
			if v.unsaid {
				return
			}
			if rejected := !result.IsValid(); rejected != (len(v.want) > 0) {
				t.Errorf("the schema says %v", result.Errors)
			}
		})
	}
}

// check runs the emitted functions.
func check(t *testing.T, verb operation.Type, object, old any) []string {
	t.Helper()
	var before *shop.Widget
	if old != nil {
		before = widget(t, old)
	}
	errs := shop.Validate_Widget(context.Background(), operation.Operation{Type: verb}, nil, widget(t, object), before)
	var out []string
	for _, err := range errs {
		out = append(out, err.Error())
	}
	slices.Sort(out)
	return out
}

func widget(t *testing.T, object any) *shop.Widget {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	out := new(shop.Widget)
	if err := json.Unmarshal(data, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// with is the valid object with one other value.
func with(t *testing.T, at, value string) map[string]any {
	t.Helper()
	var object map[string]any
	var v any
	if err := json.Unmarshal([]byte(valid), &object); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		t.Fatal(err)
	}
	steps := strings.Split(at, ".")
	in := object
	for _, step := range steps[:len(steps)-1] {
		inner, ok := in[step].(map[string]any)
		if !ok {
			inner = map[string]any{}
			in[step] = inner
		}
		in = inner
	}
	if last := steps[len(steps)-1]; v == nil {
		delete(in, last)
	} else {
		in[last] = v
	}
	return object
}

// schemaValidator validates by the schema that is emitted from the same types.
func schemaValidator(t *testing.T) *validate.SchemaValidator {
	t.Helper()
	program := emittest.Load(t, "./testdata/shop/...")
	program.RuntimeAvailable = true
	files, err := openapi.Emit(plan.New(program))
	if err != nil || len(files) != 3 {
		t.Fatal(len(files), err)
	}
	var document struct {
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(emit.Readable(files[0].Content), &document); err != nil {
		t.Fatal(err)
	}
	for name, s := range document.Components.Schemas {
		if strings.HasSuffix(name, "shop.v1.Widget") {
			data, err := json.Marshal(expand(s, document.Components.Schemas, nil))
			if err != nil {
				t.Fatal(err)
			}
			var whole spec.Schema
			if err := json.Unmarshal(data, &whole); err != nil {
				t.Fatal(err)
			}
			return validate.NewSchemaValidator(&whole, nil, "", strfmt.Default)
		}
	}
	t.Fatal("there is no schema of Widget")
	return nil
}

// expand replaces references by their schemas, except references that would never end.
func expand(s any, all map[string]any, within []string) any {
	switch s := s.(type) {
	case map[string]any:
		if ref, ok := s["$ref"].(string); ok {
			name := strings.TrimPrefix(ref, "#/components/schemas/")
			if slices.Contains(within, name) {
				return map[string]any{}
			}
			return expand(all[name], all, append(slices.Clone(within), name))
		}
		out := map[string]any{}
		for k, v := range s {
			out[k] = expand(v, all, within)
		}
		return out
	case []any:
		out := make([]any, len(s))
		for i, v := range s {
			out[i] = expand(v, all, within)
		}
		return out
	}
	return s
}
