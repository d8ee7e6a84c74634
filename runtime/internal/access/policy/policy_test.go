package policy

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/request"
)

type object = map[string]any

func deployment() object {
	return object{
		"metadata": object{"name": "web", "labels": object{"app": "web", "a.b/c": "d"}},
		"spec": object{"replicas": int64(3), "template": object{"spec": object{"containers": []any{
			object{"name": "a", "image": "x/a:1", "resources": object{"limits": object{"memory": "64Mi"}}},
			object{"name": "b", "image": "y/b:2"},
		}}}},
	}
}

// readers may get pods, and nothing else.
type readers struct{}

func (readers) Authorize(_ context.Context, a auth.Attributes) (auth.Decision, string, error) {
	switch {
	case a.IsResource && a.Verb == "get" && a.Resource == "pods" && a.Version == "*":
		return auth.Allow, "reads", nil
	case a.User.Name == "system:serviceaccount:ns:robot" && a.Path == "/healthz":
		return auth.Allow, "", nil
	case a.Resource == "broken":
		return auth.NoOpinion, "", errors.New("it broke")
	}
	return auth.NoOpinion, "no", nil
}

func input() *Input {
	return &Input{
		Object: deployment(), OldObject: object{"spec": object{"replicas": int64(2)}},
		Request: object{
			"operation": "UPDATE", "name": "web", "dryRun": false,
			"userInfo": object{"username": "u", "groups": []any{"g"}},
			"kind":     object{"group": "apps", "version": "v1", "kind": "Deployment"},
		},
		Params:    object{"max": int64(5)},
		Namespace: object{"metadata": object{"name": "ns", "labels": object{"env": "prod"}}},
		User:      &auth.User{Name: "u"}, Authorizer: readers{},
		Resource: request.Info{Group: "", Resource: "pods", Namespace: "ns"},
	}
}

var everything = Declared{Params: true, Authorizer: true, Mutation: true, Variables: true}

func compiler(t testing.TB, d Declared) *Compiler {
	t.Helper()
	c, err := NewCompiler(d)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConditions(t *testing.T) {
	c := compiler(t, everything)
	c.Variable("containers", "object.spec.template.spec.containers")
	c.Variable("images", "variables.containers.map(c, c.image)")
	c.Variable("wrong", "object.nothing")
	c.Variable("broken", "object.")
	cases := []struct {
		expression, err string
		want            bool
	}{
		{"object.spec.replicas <= params.max", "", true},
		{"object.spec.replicas > oldObject.spec.replicas && request.operation == 'UPDATE'", "", true},
		{"object.metadata.labels['a.b/c'] == 'd'", "", true},
		{"has(object.spec.paused)", "", false},
		{"variables.images.all(i, i.startsWith('x/'))", "", false},
		{"variables.containers.exists(c, has(c.resources) && quantity(c.resources.limits.memory).isLessThan(" +
			"quantity('1Gi')))", "", true},
		{"namespaceObject.metadata.labels['env'] == 'prod'", "", true},
		{"request.userInfo.groups.exists(g, g == 'g') && request.kind.kind == 'Deployment'", "", true},
		{"object.?spec.?paused.orValue(false) == true", "", false},
		{"authorizer.group('').resource('pods').namespace('ns').check('get').allowed()", "", true},
		{"authorizer.requestResource.check('get').reason() == 'reads'", "", true},
		{"authorizer.requestResource.check('delete').allowed()", "", false},
		{"authorizer.path('/healthz').check('get').allowed()", "", false},
		{"authorizer.serviceAccount('ns', 'robot').path('/healthz').check('get').allowed()", "", true},
		{"authorizer.group('').resource('broken').check('get').error() == 'it broke'", "", true},
		{"authorizer.group('').resource('x').labelSelector('a=b').check('get').errored()", "", false},
		{"object.nothing == 1", "expression 'object.nothing == 1' resulted in error: no such key: nothing", false},
		{"variables.wrong == 1", `expression 'variables.wrong == 1' resulted in error: composited variable "wrong" ` +
			`fails to evaluate: no such key: nothing`, false},
		{"variables.broken == 1", `composited variable "broken" fails to compile: compilation failed`, false},
		{"object.spec.replicas", "", true}, // of any type: checked below
		{"'x'", "compilation error: must evaluate to bool but got string", false},
		{"nobody == 1", "compilation error: compilation failed: ERROR: <input>:1:1: undeclared reference to 'nobody'",
			false},
		{"request.nothing == 1", "undefined field 'nothing'", false},
		{"variables.nothing == 1", "undefined field 'nothing'", false},
	}
	for _, one := range cases {
		want := Bool
		if one.expression == "object.spec.replicas" {
			want = Any
		}
		x := c.Compile(one.expression, want)
		got, err := c.Evaluate(t.Context(), input(), Budget).Bool(x)
		if want == Any {
			got = err == nil
		}
		if got != one.want || (err == nil) != (one.err == "") || err != nil && !strings.Contains(err.Error(), one.err) {
			t.Errorf("%s: %v, %v", one.expression, got, err)
		}
	}
}

// What isn't declared can't be used.
func TestDeclared(t *testing.T) {
	c := compiler(t, Declared{})
	for _, text := range []string{
		"params.a", "authorizer.path('/').check('get').allowed()", "variables.a", "Object{a: 1}",
		"jsonpatch.escapeKey('a')",
	} {
		if x := c.Compile(text, Any); x.Err == nil {
			t.Errorf("%s compiles", text)
		}
	}
}

func TestMutations(t *testing.T) {
	c := compiler(t, everything)
	apply := c.Compile(`Object{spec: Object.spec{replicas: object.spec.replicas + 1,
		template: Object.spec.template{spec: Object.spec.template.spec{
			containers: object.spec.template.spec.containers.map(c,
				Object.spec.template.spec.containers{name: c.name, ?image: optional.none()})}}},
		metadata: Object.metadata{labels: {"a": "b"}}}`, Object)
	got, err := c.Evaluate(t.Context(), input(), Budget).Object(apply)
	want := object{
		"metadata": object{"labels": object{"a": "b"}},
		"spec": object{"replicas": int64(4), "template": object{"spec": object{"containers": []any{
			object{"name": "a"}, object{"name": "b"},
		}}}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v %v", got, err)
	}
	wrong := c.Compile("Object{spec: Object.metadata{}}", Object)
	if _, err := c.Evaluate(t.Context(), input(), Budget).Object(wrong); err == nil ||
		!strings.Contains(err.Error(), `unexpected type name "Object.metadata", expected "Object.spec"`) {
		t.Error(err)
	}
	patch := c.Compile(`[JSONPatch{op: "test", path: "/spec/replicas", value: 3},
		JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("x/y~z"), value: {"a": [1, 2]}},
		JSONPatch{op: "move", from: "/a", path: "/b"}]`, Patch)
	operations, err := c.Evaluate(t.Context(), input(), Budget).Patch(patch)
	wanted := []Operation{
		{Op: "test", Path: "/spec/replicas", Value: int64(3), HasValue: true},
		{Op: "add", Path: "/metadata/labels/x~1y~0z", Value: object{"a": []any{int64(1), int64(2)}}, HasValue: true},
		{Op: "move", From: "/a", Path: "/b"},
	}
	if err != nil || !reflect.DeepEqual(operations, wanted) {
		t.Errorf("%+v %v", operations, err)
	}
	for _, text := range []string{`[JSONPatch{op: 1}]`, `[JSONPatch{opp: "a"}]`, `JSONPatch{}`} {
		if x := c.Compile(text, Patch); x.Err == nil {
			t.Errorf("%s compiles", text)
		}
	}
}

// Expressions that would take long end with an error, and after the budget is spent none is evaluated.
func TestBudget(t *testing.T) {
	c := compiler(t, everything)
	c.Variable("list", "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]")
	long := "variables.list"
	for range 5 {
		long += ".map(x, variables.list).map(l, l.size())"
	}
	const loop = "variables.list.all(a, variables.list.all(b, variables.list.all(c, variables.list.all(d, " +
		"variables.list.all(e, variables.list.all(f, a + b + c + d + e + f >= 0))))))"
	e := c.Evaluate(t.Context(), input(), Budget)
	if _, err := e.Bool(c.Compile(loop, Bool)); err == nil ||
		!strings.Contains(err.Error(), "operation cancelled: actual cost limit exceeded") {
		t.Error(err)
	}
	e = c.Evaluate(t.Context(), input(), 10)
	if _, err := e.Bool(c.Compile(long+" == []", Bool)); !errors.Is(err, ErrBudget) {
		t.Error(err)
	}
	if _, err := e.Bool(c.Compile("true", Bool)); !errors.Is(err, ErrBudget) {
		t.Error("an expression ran after the budget: ", err)
	}
}

// A variable is evaluated once, whatever many expressions use it.
func TestVariablesAreEvaluatedOnce(t *testing.T) {
	c := compiler(t, everything)
	c.Variable("check", "authorizer.requestResource.check('get').allowed()")
	x := c.Compile("variables.check && variables.check", Bool)
	e := c.Evaluate(t.Context(), input(), Budget)
	for range 3 {
		if ok, err := e.Bool(x); !ok || err != nil {
			t.Error(ok, err)
		}
	}
	if spent := Budget - e.Budget(); spent < checkCost || spent > 2*checkCost {
		t.Errorf("spent %d", spent)
	}
	e.SetParams(object{"a": int64(1)})
	if ok, err := e.Bool(c.Compile("params.a == 1 && variables.check", Bool)); !ok || err != nil {
		t.Error(ok, err)
	}
}

func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		"object.spec.replicas <= 5", "Object{spec: Object.spec{a: 1}}", "variables.a.all(x, x > 1)", "request.options",
		"authorizer.group('a').resource('b').check('c').allowed()", "[JSONPatch{op: 'add', path: '/a', value: object}]",
	} {
		f.Add(seed)
	}
	c, err := NewCompiler(everything)
	if err != nil {
		f.Fatal(err)
	}
	c.Variable("a", "[1, 2, 3]")
	f.Fuzz(func(t *testing.T, text string) {
		x := c.Compile(text, Any)
		e := c.Evaluate(t.Context(), input(), 100_000)
		e.Bool(x)
		if x.typ != nil && x.Err == nil {
			e.Object(x)
			e.Patch(x)
		}
		if e.Budget() > 100_000 {
			t.Error(e.Budget())
		}
	})
}

func BenchmarkEvaluate(b *testing.B) {
	c := compiler(b, everything)
	c.Variable("containers", "object.spec.template.spec.containers")
	for _, text := range []string{
		"object.spec.replicas <= 5",
		"variables.containers.all(c, c.image.startsWith('x/') || c.image.startsWith('y/'))",
	} {
		x := c.Compile(text, Bool)
		in := input()
		b.Run(fmt.Sprint(len(text)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if ok, err := c.Evaluate(b.Context(), in, Budget).Bool(x); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}
