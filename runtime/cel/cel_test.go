package cel_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/cel"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var kind = schema.GroupVersionKind{Group: "shop.example.com", Version: "v1", Kind: "Widget"}

// widget is a schema with rules of every sort.
func widget() *cel.Schema {
	port := &cel.Schema{Type: "object", Required: []string{"name"}, Properties: map[string]*cel.Schema{
		"name": {Type: "string"}, "number": {Type: "integer",
			Rules: []cel.Rule{{Rule: "self == oldSelf", Message: "may not move", Reason: "FieldValueForbidden"}}},
	}, Rules: []cel.Rule{{Rule: "self.number != 22", Message: "not ssh"}}}
	return &cel.Schema{Type: "object", Rules: []cel.Rule{{Rule: "self.kind == 'Widget' && self.metadata.name != 'bad'",
		Message: "no good name"}}, Properties: map[string]*cel.Schema{
		"spec": {Type: "object", Properties: map[string]*cel.Schema{
			"min": {Type: "integer"}, "max": {Type: "integer"},
			"tags":  {Type: "array", Items: &cel.Schema{Type: "string", Rules: []cel.Rule{{Rule: "self != 'x'"}}}},
			"ports": {Type: "array", ListType: "map", ListMapKeys: []string{"name"}, Items: port},
			"labels": {Type: "object", Values: &cel.Schema{Type: "string",
				Rules: []cel.Rule{{Rule: "self.size() < 3", Reason: "FieldValueDuplicate"}}}},
			"once": {Type: "string", Rules: []cel.Rule{{Rule: "!oldSelf.hasValue() || self == oldSelf.value()",
				OptionalOldSelf: true, Message: "only once"}}},
		}, Rules: []cel.Rule{
			{Rule: "!has(self.min) || !has(self.max) || self.min <= self.max",
				MessageExpression: "'min is %d'.format([self.min])", FieldPath: ".min"},
		}},
	}}
}

func object(spec map[string]any) map[string]any {
	return map[string]any{"apiVersion": "shop.example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": "w"}, "spec": spec}
}

type m = map[string]any

// TestRun: a failed rule is reported with Kubernetes' message, at its path; an update may keep a value that fails.
func TestRun(t *testing.T) {
	rules := cel.New(kind, widget())
	ports := func(numbers ...int64) []any {
		var out []any
		for i, n := range numbers {
			out = append(out, m{"name": string(rune('a' + i)), "number": n})
		}
		return out
	}
	for name, test := range map[string]struct {
		spec, old m
		want      []string
	}{
		"good": {spec: m{"min": int64(1), "max": int64(2)}},
		"message and path": {spec: m{"min": int64(3), "max": int64(2)},
			want: []string{"spec.min: Invalid value: min is 3"}},
		"forgiven": {spec: m{"min": int64(3), "max": int64(2)},
			old: m{"min": int64(3), "max": int64(2)}},
		"not forgiven": {spec: m{"min": int64(4), "max": int64(2)},
			old: m{"min": int64(3), "max": int64(2)}, want: []string{"spec.min: Invalid value: min is 4"}},
		"element": {spec: m{"tags": []any{"a", "x"}},
			want: []string{`spec.tags[1]: Invalid value: "x": failed rule: self != 'x'`}},
		"list as it was": {spec: m{"tags": []any{"a", "x"}, "min": int64(1)},
			old: m{"tags": []any{"a", "x"}}},
		"atomic list changed": {spec: m{"tags": []any{"x", "a"}}, old: m{"tags": []any{"a", "x"}},
			want: []string{`spec.tags[0]: Invalid value: "x": failed rule: self != 'x'`}},
		"element of a map": {spec: m{"ports": ports(22)},
			want: []string{"spec.ports[0]: Invalid value: not ssh"}},
		"element that was there": {spec: m{"ports": []any{m{"name": "b", "number": int64(80)},
			m{"name": "a", "number": int64(22)}}}, old: m{"ports": ports(22)}},
		"transition by key": {spec: m{"ports": ports(81)}, old: m{"ports": ports(80)},
			want: []string{"spec.ports[0].number: Forbidden: may not move"}},
		"no transition for others": {spec: m{"ports": []any{m{"name": "z", "number": int64(81)}}},
			old: m{"ports": ports(80)}},
		"value of a map": {spec: m{"labels": m{"k": "long"}},
			want: []string{`spec.labels[k]: Duplicate value: "long"`}},
		"optional oldSelf, new": {spec: m{"once": "a"}},
		"optional oldSelf": {spec: m{"once": "a"}, old: m{"once": "b"},
			want: []string{`spec.once: Invalid value: "a": only once`}},
		"null is absent": {spec: m{"min": nil, "max": int64(2)}},
		"no field": {spec: m{"ports": []any{m{"name": "a"}}},
			want: []string{`spec.ports[0]: Invalid value: "object": no such key: number evaluating rule: not ssh`}},
		"not of the type": {spec: m{"tags": []any{int64(7)}},
			want: []string{`spec.tags[0]: Invalid value: "string": invalid data, expected string, got int64 ` +
				`evaluating rule: self != 'x'`}},
	} {
		t.Run(name, func(t *testing.T) {
			var old m
			if test.old != nil {
				old = object(test.old)
			}
			var got []string
			for _, e := range rules.Run(context.Background(), object(test.spec), old) {
				got = append(got, e.Error())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

// Thing is a typed object.
type Thing struct {
	metav1.TypeMeta
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Min int `json:"min"`
		Max int `json:"max"`
	} `json:"spec"`
}

// TestValidate: typed objects are seen as their JSON, with their kind; they aren't changed; other errors come first,
// and keep rules from running where the object is not to be trusted.
func TestValidate(t *testing.T) {
	rules := cel.New(kind, widget())
	bad := &Thing{ObjectMeta: metav1.ObjectMeta{Name: "bad",
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "x"}}}}
	bad.Spec.Min = 1
	errs := cel.Validate(t.Context(), rules, field.ErrorList{field.Invalid(field.NewPath("a"), 1, "b")}, bad, nil)
	if len(errs) != 3 || errs[0].Field != "a" || errs[1].Detail != "no good name" || errs[2].Detail != "min is 1" {
		t.Errorf("%v", errs)
	}
	if bad.Kind != "" || len(bad.ManagedFields) != 1 {
		t.Errorf("the object was changed: %+v", bad)
	}
	errs = cel.Validate(t.Context(), rules, field.ErrorList{field.Required(field.NewPath("a"), "")}, bad, nil)
	if len(errs) != 2 || !strings.HasPrefix(errs[1].Detail, "some validation rules were not checked") {
		t.Errorf("%v", errs)
	}
	// metadata is nothing that rules compare
	if errs := cel.Validate(t.Context(), rules, nil, bad, bad); len(errs) != 1 {
		t.Errorf("an update that changes nothing: %v", errs)
	}
}

// TestBudget: a rule that costs too much stops all.
func TestBudget(t *testing.T) {
	text := &cel.Schema{Type: "string"}
	rules := cel.New(kind, &cel.Schema{Type: "object", Properties: map[string]*cel.Schema{"spec": {
		Type: "object", Properties: map[string]*cel.Schema{"l": {Type: "array", Items: text}},
		Rules: []cel.Rule{
			{Rule: "self.l.all(a, self.l.all(b, self.l.all(c, a + b + c != '')))", Message: "slow"},
			{Rule: "false", Message: "never run"},
		},
	}}})
	var long []any
	for range 300 {
		long = append(long, "some text")
	}
	errs := rules.Run(t.Context(), object(m{"l": long}), nil)
	if len(errs) != 1 || !strings.Contains(errs[0].Detail,
		"no further validation rules will be run due to call cost exceeds limit for rule: slow") {
		t.Errorf("%v", errs)
	}
}

// TestBroken: rules that don't compile are an internal error of every write, never a pass.
func TestBroken(t *testing.T) {
	rules := cel.New(kind, &cel.Schema{Type: "object", Rules: []cel.Rule{{Rule: "self.nope"}}})
	if errs := cel.Validate(t.Context(), rules, nil, &Thing{}, nil); len(errs) != 1 ||
		errs[0].Type != field.ErrorTypeInternal {
		t.Errorf("%v", errs)
	}
}

// TestEscape: names that expressions can't have go there and come back.
func TestEscape(t *testing.T) {
	for name, want := range map[string]string{
		"a": "a", "a-b": "a__dash__b", "a.b/c": "a__dot__b__slash__c", "a__b": "a__underscores__b",
		"namespace": "__namespace__", "int": "int",
		"1a": "", "": "", "a b": "", "é": "",
	} {
		got, ok := cel.Escape(name)
		if got != want || ok != (want != "") {
			t.Errorf("%q: %q, %t", name, got, ok)
		}
		if !ok {
			continue
		}
		s := &cel.Schema{Type: "object", Properties: map[string]*cel.Schema{"spec": {Type: "object",
			Properties: map[string]*cel.Schema{name: {Type: "string"}},
			Rules:      []cel.Rule{{Rule: "self." + got + " == 'there'"}}}}}
		if errs := cel.New(kind, s).Run(t.Context(), object(m{name: "there"}), nil); len(errs) > 0 {
			t.Errorf("%q: %v", name, errs)
		}
	}
}

// FuzzRule: whatever is written as a rule, judging it never panics, and what is accepted runs.
func FuzzRule(f *testing.F) {
	for _, rule := range []string{"self.min <= self.max", "self.ports.all(p, p.number > oldSelf.min)", "self.",
		"self.labels.map(k, k + self.labels[k]).join('') == \"x\"", "quantity('1').add(1) == self", "[[]]"} {
		f.Add(rule, ".min")
	}
	f.Fuzz(func(t *testing.T, rule, path string) {
		s := widget()
		s.Properties["spec"].Rules = []cel.Rule{{Rule: rule, FieldPath: path, MessageExpression: rule}}
		for _, fault := range cel.Check(s, "Widget", true) {
			if fault.Schema == s.Properties["spec"] && !fault.Advice {
				return
			}
		}
		cel.New(kind, s).Run(t.Context(), object(m{"min": int64(1), "tags": []any{"a"}, "labels": m{"a": "b"}}),
			object(m{"max": int64(1)}))
	})
}

// BenchmarkValidate is what the rules of a small kind cost a write.
func BenchmarkValidate(b *testing.B) {
	rules := cel.New(kind, widget())
	thing := &Thing{ObjectMeta: metav1.ObjectMeta{Name: "w", Namespace: "default", Labels: map[string]string{"a": "b"}}}
	b.ReportAllocs()
	for b.Loop() {
		if errs := cel.Validate(b.Context(), rules, nil, thing, thing); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}

// BenchmarkNew is what compiling them costs, once.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		cel.New(kind, widget())
	}
}

// A reserved word is the name of a field behind a dot, as in kube-apiserver since 1.31; escaped it is one anywhere.
func TestReservedFields(t *testing.T) {
	text := &cel.Schema{Type: "string"}
	schema := &cel.Schema{Type: "object", Properties: map[string]*cel.Schema{"namespace": text}, Rules: []cel.Rule{
		{Rule: "!has(self.namespace) || self.namespace == 'a'"}, {Rule: "self.__namespace__ == 'a'"},
	}}
	for _, fault := range cel.Check(schema, "Object", true) {
		if !fault.Advice {
			t.Fatal(fault)
		}
	}
	rules := cel.New(kind, schema)
	for value, faults := range map[string]int{"a": 0, "b": 2} {
		errs := rules.Run(t.Context(), map[string]any{"namespace": value}, nil)
		if len(errs) != faults {
			t.Errorf("%s: %v", value, errs)
		}
	}
}
