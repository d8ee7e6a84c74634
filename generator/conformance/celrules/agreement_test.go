package celrules

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/cel"
	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// corpora are modules with definitions of custom resources that have rules, and where in them.
var corpora = []struct{ module, glob string }{
	{"sigs.k8s.io/gateway-api@v1.6.0", "config/crd/experimental/*.yaml"},
	{"sigs.k8s.io/karpenter@v1.8.0", "pkg/apis/crds/*.yaml"},
	{"sigs.k8s.io/kueue@v0.14.0", "config/components/crd/bases/*.yaml"},
	{"sigs.k8s.io/cluster-api@v1.14.2", "core/config/crd/bases/*_clusters.yaml"},
	{"sigs.k8s.io/network-policy-api@v0.2.0", "config/crd/experimental/*.yaml"},
}

// corpus is the schemas of all versions of all definitions with rules, by name.
func corpus(t *testing.T) map[string]*apiextensionsv1.JSONSchemaProps {
	t.Helper()
	out := map[string]*apiextensionsv1.JSONSchemaProps{}
	for _, c := range corpora {
		cmd := exec.Command("go", "mod", "download", "-json", c.module)
		cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		data, err := cmd.Output()
		var info struct{ Dir string }
		if err != nil || json.Unmarshal(data, &info) != nil {
			t.Logf("%s can't be fetched: %v", c.module, err)
			continue
		}
		files, _ := filepath.Glob(filepath.Join(info.Dir, c.glob))
		for _, file := range files {
			var crd apiextensionsv1.CustomResourceDefinition
			data, err := os.ReadFile(file)
			if err != nil || yaml.Unmarshal(data, &crd) != nil || crd.Kind != "CustomResourceDefinition" {
				continue
			}
			for _, v := range crd.Spec.Versions {
				if s := v.Schema.OpenAPIV3Schema; ours(s).HasRules() {
					out[crd.Spec.Names.Kind+"."+v.Name] = s
				}
			}
		}
	}
	if len(out) == 0 {
		t.Fatal("none of the modules can be fetched, or none has definitions with rules")
	}
	return out
}

// TestVerdict checks that runtime/cel accepts the rules that the peer accepts, and refuses those that it refuses. The
// rules are those of the corpus, and each of them spoilt in several ways.
func TestVerdict(t *testing.T) {
	s := scheme()
	for name, props := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compare := func(what string, props *apiextensionsv1.JSONSchemaProps) {
				theirs, faults := refusals(t, s, props), faultsOf(props)
				if len(theirs) > 0 != (len(faults) > 0) {
					t.Errorf("%s: theirs: %q\nours: %+v", what, theirs, faults)
				}
			}
			compare("as it is", props)
			spoil(props.DeepCopy(), func(what string, whole *apiextensionsv1.JSONSchemaProps) { compare(what, whole) })
		})
	}
}

// faultsOf are the faults that our compiler finds, without advice.
func faultsOf(props *apiextensionsv1.JSONSchemaProps) []cel.Fault {
	return slices.DeleteFunc(cel.Check(ours(props), "Thing", true), func(f cel.Fault) bool { return f.Advice })
}

// spoil calls f with a schema in which one thing after the other is spoilt, a sample of all.
func spoil(whole *apiextensionsv1.JSONSchemaProps, f func(what string, whole *apiextensionsv1.JSONSchemaProps)) {
	n, most := 0, 70
	if os.Getenv("APIGEN_LONG") != "" {
		most = math.MaxInt
	}
	var walk func(s *apiextensionsv1.JSONSchemaProps, path string, store func())
	walk = func(s *apiextensionsv1.JSONSchemaProps, path string, store func()) {
		try := func(what string, change func()) {
			if n++; n%7 != 0 || n > most {
				return
			}
			before := s.DeepCopy()
			change()
			store()
			f(path+": "+what, whole)
			*s = *before
			store()
		}
		for i := range s.XValidations {
			r := s.XValidations[i]
			for what, text := range map[string]string{
				"a field that is not there": "(" + r.Rule + ") && self.nope == 1",
				"oldSelf":                   "(" + r.Rule + ") && self == oldSelf",
				"no bool":                   "size(string(" + r.Rule + "))",
				"twice over":                "(" + r.Rule + ") && (" + r.Rule + ")",
				"syntax":                    r.Rule + " &&",
			} {
				try(what, func() { s.XValidations[i].Rule = text })
			}
			try("fieldPath", func() { s.XValidations[i].FieldPath = ".no.such" })
			try("messageExpression", func() { s.XValidations[i].MessageExpression = "'x' + string(1)" })
			try("messageExpression of self", func() { s.XValidations[i].MessageExpression = "string(self)" })
		}
		if s.MaxItems != nil {
			try("no maxItems", func() { s.MaxItems = nil })
		}
		if s.MaxLength != nil {
			try("no maxLength", func() { s.MaxLength = nil })
		}
		for _, name := range sorted(s.Properties) {
			p := s.Properties[name]
			walk(&p, path+"."+name, func() { s.Properties[name] = p; store() })
		}
		if s.Items != nil && s.Items.Schema != nil {
			walk(s.Items.Schema, path+"[*]", store)
		}
	}
	walk(whole, "", func() {})
}

func sorted(m map[string]apiextensionsv1.JSONSchemaProps) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// TestAnswers: objects at random, created and updated, break the same rules with the same errors.
func TestAnswers(t *testing.T) {
	for name, props := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, g := newRun(t, "Thing", props), newGenerator(7, props)
			faults := map[string]bool{}
			for i := range 60 {
				old := g.whole(props)
				obj, _ := g.changed(old, g.whole(props)).(map[string]any)
				obj["apiVersion"], obj["kind"] = "example.com/v1", "Thing"
				for _, before := range []map[string]any{nil, old} {
					theirs, mine := r.theirs(obj, before), r.ours(obj, before)
					if d := cmp.Diff(theirs, mine); d != "" {
						t.Fatalf("object %d, an update: %t: -theirs +ours\n%s\n%s", i, before != nil, d, text(obj))
					}
					for _, e := range theirs {
						faults[e] = true
					}
				}
			}
			if len(faults) == 0 {
				t.Errorf("no rule was ever broken: the objects say nothing")
			}
		})
	}
}

func text(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

// TestFunctions checks that expressions over Kubernetes' functions give the same values, cost the same where the cost
// decides, and fail with the same messages.
func TestFunctions(t *testing.T) {
	s := scheme()
	for _, expression := range expressions {
		t.Run(strings.Map(name, expression), func(t *testing.T) {
			limit := int64(50)
			props := &apiextensionsv1.JSONSchemaProps{Type: "object",
				Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": {
					Type: "object", XValidations: apiextensionsv1.ValidationRules{
						{Rule: expression, MessageExpression: "'it is ' + self.text"},
					},
					Properties: map[string]apiextensionsv1.JSONSchemaProps{
						"text": {Type: "string", MaxLength: &limit}, "number": {Type: "integer"},
						"real": {Type: "number"}, "a-b": {Type: "string"}, "namespace": {Type: "string"},
						"time": {Type: "string", Format: "date-time"}, "data": {Type: "string", Format: "byte"},
						"span": {Type: "string", Format: "duration"}, "day": {Type: "string", Format: "date"},
						"texts": {Type: "array", MaxItems: &limit,
							Items: &apiextensionsv1.JSONSchemaPropsOrArray{
								Schema: &apiextensionsv1.JSONSchemaProps{Type: "string", MaxLength: &limit},
							}},
						"set": {Type: "array", XListType: ptr("set"), MaxItems: &limit,
							Items: &apiextensionsv1.JSONSchemaPropsOrArray{
								Schema: &apiextensionsv1.JSONSchemaProps{Type: "string", MaxLength: &limit},
							}},
						"items": {Type: "array", XListType: ptr("map"), XListMapKeys: []string{"name"},
							MaxItems: &limit,
							Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{
								Type: "object", Required: []string{"name"},
								Properties: map[string]apiextensionsv1.JSONSchemaProps{
									"name": {Type: "string", MaxLength: &limit}, "size": {Type: "integer"},
								}}}},
						"labels": {Type: "object", MaxProperties: &limit,
							AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{
								Schema: &apiextensionsv1.JSONSchemaProps{Type: "string", MaxLength: &limit},
							}},
						"either": {XIntOrString: true, MaxLength: &limit},
					},
				}}}
			theirs, faults := refusals(t, s, props), faultsOf(props)
			if len(theirs) > 0 != (len(faults) > 0) {
				t.Errorf("theirs: %q\nours: %+v", theirs, faults)
			}
			spec := map[string]any{
				"text": "v1.2.3", "number": int64(3), "real": 1.5, "a-b": "dashed", "namespace": "kube-system",
				"time": "2024-02-03T04:05:06Z", "data": "aGVsbG8=",
				"span": "1h30m", "day": "2024-02-03", "texts": []any{"b", "a", "c"}, "set": []any{"x", "y"},
				"items":  []any{map[string]any{"name": "a", "size": int64(1)}, map[string]any{"name": "b"}},
				"labels": map[string]any{"a": "1", "b": "2"}, "either": "50%",
			}
			r, obj := newRun(t, "Thing", props), map[string]any{"apiVersion": "example.com/v1", "kind": "Thing",
				"metadata": map[string]any{"name": "x"}, "spec": spec}
			if len(theirs) > 0 {
				return
			}
			if d := cmp.Diff(r.theirs(obj, nil), r.ours(obj, nil)); d != "" {
				t.Errorf("-theirs +ours\n%s", d)
			}
			old := map[string]any{"apiVersion": "example.com/v1", "kind": "Thing",
				"metadata": map[string]any{"name": "x"}, "spec": map[string]any{"text": "v1.2.2", "number": int64(3)}}
			if d := cmp.Diff(r.theirs(obj, old), r.ours(obj, old)); d != "" {
				t.Errorf("update: -theirs +ours\n%s", d)
			}
		})
	}
}

func ptr(s string) *string { return &s }

func name(r rune) rune {
	if strings.ContainsRune(" /'\"", r) {
		return '_'
	}
	return r
}

// TestExample checks that the library's definition, which apigen writes from Go types, has the rules that its server
// runs, and that Kubernetes accepts them.
func TestExample(t *testing.T) {
	data, err := os.ReadFile("../../../examples/library/config/crd/library.example.com_books.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(data, &crd); err != nil {
		t.Fatal(err)
	}
	ruled := 0
	for _, v := range crd.Spec.Versions {
		if ours(v.Schema.OpenAPIV3Schema).HasRules() {
			ruled++
		}
		if texts := refusals(t, scheme(), v.Schema.OpenAPIV3Schema); len(texts) > 0 {
			t.Errorf("%s: %q", v.Name, texts)
		}
	}
	if ruled == 0 {
		t.Error("no version has rules")
	}
}
