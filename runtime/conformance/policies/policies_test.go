package policies

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apiserver/pkg/admission"
	"sigs.k8s.io/yaml"
)

// projects have policies, and objects for which they were written.
var projects = []string{"github.com/kyverno/kyverno@v1.19.1", "sigs.k8s.io/gateway-api@v1.5.0"}

// named is a policy and where it is from.
type named struct {
	name string
	spec registration.ValidatingAdmissionPolicySpec
	dir  string
}

// corpus are the policies and the objects of the projects. Policies that are the same but for their names are there
// once.
type corpus struct {
	policies []named
	objects  []*unstructured.Unstructured
	// near are the objects by the directories of their files.
	near map[string][]*unstructured.Unstructured
}

func read(t testing.TB) *corpus {
	t.Helper()
	c, seen := &corpus{near: map[string][]*unstructured.Unstructured{}}, map[string]bool{}
	for _, project := range projects {
		out, err := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", project).Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", project, err, out)
		}
		var module struct{ Dir string }
		if err := json.Unmarshal(out, &module); err != nil {
			t.Fatal(err)
		}
		if err := filepath.WalkDir(module.Dir, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
				return err
			}
			return c.read(path, seen)
		}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// read takes what a file has. Templates and the like are no YAML.
func (c *corpus) read(path string, seen map[string]bool) error {
	data, err := os.ReadFile(path)
	if err != nil || len(data) > 1<<20 {
		return err
	}
	dir := filepath.Dir(path)
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := yaml.YAMLToJSON(document)
		if err != nil {
			continue
		}
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(data); err != nil {
			continue
		}
		if specs := specsOf(u, data); len(specs) > 0 {
			for _, spec := range specs {
				if key := fmt.Sprintf("%+v", spec); !seen[key] {
					seen[key] = true
					name := filepath.Base(dir) + "/" + u.GetName()
					c.policies = append(c.policies, named{name, spec, dir})
				}
			}
		} else if !strings.Contains(u.GetAPIVersion(), "kyverno") && u.GetKind() != "CustomResourceDefinition" {
			c.objects = append(c.objects, u)
			c.near[dir] = append(c.near[dir], u)
		}
	}
}

// specsOf returns the policies in an object: Kubernetes' own, and the rules in CEL of Kyverno's, which have the same
// form.
func specsOf(u *unstructured.Unstructured, data []byte) (specs []registration.ValidatingAdmissionPolicySpec) {
	switch u.GetKind() {
	case "ValidatingAdmissionPolicy", "ValidatingPolicy":
		var p registration.ValidatingAdmissionPolicy
		if json.Unmarshal(data, &p) == nil && len(p.Spec.Validations) > 0 {
			specs = append(specs, p.Spec)
		}
	case "ClusterPolicy", "Policy":
		var p struct {
			Spec struct {
				Rules []struct {
					CELPreconditions []registration.MatchCondition
					Validate         struct {
						CEL struct {
							Expressions      []registration.Validation
							Variables        []registration.Variable
							ParamKind        *registration.ParamKind
							AuditAnnotations []registration.AuditAnnotation
						}
					}
				}
			}
		}
		if json.Unmarshal(data, &p) != nil {
			return nil
		}
		for _, rule := range p.Spec.Rules {
			if cel := rule.Validate.CEL; len(cel.Expressions) > 0 {
				specs = append(specs, registration.ValidatingAdmissionPolicySpec{
					MatchConditions: rule.CELPreconditions, Validations: cel.Expressions, Variables: cel.Variables,
					ParamKind: cel.ParamKind, AuditAnnotations: cel.AuditAnnotations,
				})
			}
		}
	}
	return specs
}

// mutant returns an object with some random changes.
func mutant(r *rand.Rand, u *unstructured.Unstructured) *unstructured.Unstructured {
	out := u.DeepCopy()
	for range r.IntN(4) {
		change(r, out.Object, 0)
	}
	out.Object["apiVersion"], out.Object["kind"] = u.GetAPIVersion(), u.GetKind() // which no server leaves to chance
	return out
}

// replacements replace values.
var replacements = []any{
	nil, "", "latest", "nginx:latest", "0", "true", int64(0), int64(-1), int64(1 << 40), 1.5, true, false, []any{},
	map[string]any{}, "10Mi", "a.b/c", []any{"a", int64(1)},
}

// change changes a random value in an object or a list.
func change(r *rand.Rand, value any, depth int) any {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			return v
		}
		key := slices.Sorted(maps.Keys(v))[r.IntN(len(v))]
		switch choice := r.IntN(4 + 3*depth); {
		case depth == 0 || choice < 2 && isTree(v[key]):
			v[key] = change(r, v[key], depth+1)
		case choice < 4:
			delete(v, key)
		case choice < 6:
			v[key] = replacement(r)
		default:
			v[key] = change(r, v[key], depth+1)
		}
		return v
	case []any:
		if len(v) == 0 {
			return v
		}
		i := r.IntN(len(v))
		switch r.IntN(5) {
		case 0:
			return append(v[:i:i], v[i+1:]...)
		case 1:
			return append(v, v[i])
		default:
			v[i] = change(r, v[i], depth+1)
			return v
		}
	}
	return replacement(r)
}

func replacement(r *rand.Rand) any {
	return runtime.DeepCopyJSONValue(replacements[r.IntN(len(replacements))])
}

func isTree(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// random returns a random write of an object like those for which a policy was written, or of another one.
func (c *corpus) random(r *rand.Rand, dir string) *write {
	object := c.objects[r.IntN(len(c.objects))]
	if near := c.near[dir]; len(near) > 0 && r.IntN(4) > 0 {
		object = near[r.IntN(len(near))]
	}
	object = mutant(r, object)
	w := &write{object: object, operation: admission.Create}
	switch r.IntN(8) {
	case 0, 1:
		w.old, w.operation = mutant(r, object), admission.Update
	case 2:
		w.old, w.object, w.operation = object, nil, admission.Delete
	}
	if r.IntN(4) > 0 {
		w.params = mutant(r, c.objects[r.IntN(len(c.objects))])
	}
	return w
}

// TestEvaluation: each expression of each policy evaluates to what kube-apiserver's evaluator makes of it, in its words
// and at its cost.
func TestEvaluation(t *testing.T) {
	c := read(t)
	if len(c.policies) < 150 || len(c.objects) < 500 {
		t.Errorf("%d policies and %d objects are too few", len(c.policies), len(c.objects))
	}
	const writes = 60
	expressions, held, failed, sound := 0, 0, 0, 0
	for i, p := range c.policies {
		t.Run(p.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			theirs, ours := newTheirs(t, &p.spec), newOurs(t, &p.spec)
			compiles := false
			for range writes {
				w := c.random(r, p.dir)
				for list, of := range map[string]func(evaluator) results{
					"conditions":  func(e evaluator) results { return e.conditions(t, w) },
					"validations": func(e evaluator) results { return e.validations(t, w) },
					"messages":    func(e evaluator) results { return e.messages(t, w) },
					"annotations": func(e evaluator) results { return e.annotations(t, w) },
				} {
					want, got := of(theirs), of(ours)
					// Both go through a map in the order of Go's, on which the cost of exists() depends.
					for try := 0; try < 100 && got.left != want.left; try++ {
						want, got = of(theirs), of(ours)
					}
					if len(want.all) == 0 && len(got.all) == 0 {
						continue
					}
					if !reflect.DeepEqual(got, want) {
						data, _ := json.Marshal(w.some()) // it came from JSON
						t.Fatalf("%s:\ngot  %+v\nwant %+v\nof %s %s", list, got, want, w.operation, data)
					}
					for _, one := range want.all {
						expressions++
						if one.holds {
							held++
						}
						if one.err != "" {
							failed++
						}
						compiles = compiles || !strings.HasPrefix(one.err, "compilation error")
					}
				}
			}
			if compiles {
				sound++
			}
		})
	}
	t.Logf("%d policies, of which %d compile; %d objects; %d evaluations: %d true, %d errors", len(c.policies), sound,
		len(c.objects), expressions, held, failed)
	if sound < 100 || held < 1000 {
		t.Errorf("%d policies compile, %d evaluations are true: too few", sound, held)
	}
}
