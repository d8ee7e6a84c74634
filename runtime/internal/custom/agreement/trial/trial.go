// Package trial writes random objects of a kind twice, by its Go type and as custom resources of the definition that
// the generator writes of the type, and says where the server treats them in different ways.
package trial

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/registry"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Trial is a kind with a Go type and a definition, and what is known of it.
type Trial struct {
	// Group has the resource, and the documents that describe it.
	Group    registry.Group
	Resource registry.Resource
	// Definition is in YAML.
	Definition []byte
	// Texts are values of strings without an enumeration.
	Texts []string
	// Right is how many of three random objects have few wrong values; 0 is one.
	Right int
	// Chosen are objects in JSON that show one case each.
	Chosen []string
	// Changes are objects in JSON, of which the second replaces the first; both are empty for none.
	Changes [2]string
	// Samples are right objects in JSON, of which most random objects are made by few changes.
	Samples []json.RawMessage
	// Thin is for large schemas: random objects have few members.
	Thin bool
	// Native is for large schemas of types in Kubernetes' own style, beside Thin. It is no difference then that only
	// the definition refuses a missing member or a duplicate element: Go finds them where a marker demands it, such as
	// +required, and a schema where a tag lacks omitempty or a list is a set or a map. Nor is it that only one of the
	// two stores a zero value or null, or that the definition stores another form of a quantity, a duration or a time.
	Native bool
	// NullIsAbsent is for types in Kubernetes' own style. It is no difference then that only the definition refuses
	// null in what an apply makes: kube-apiserver has no null in an object of its own Go types either.
	NullIsAbsent bool
	// Known are the differences that remain, by their reasons; an asterisk stands for any text. Run wants to see each
	// of them.
	Known map[string][]string
}

// requests are the kinds of the requests for an object: apply, or create and put, of which the first may be in CBOR.
var requests = []string{"", "apply", "", "cbor"}

// Objects is how many random objects of each kind are created and replaced.
func Objects() int {
	if long() {
		return 1000
	}
	return 100
}

func long() bool { return os.Getenv("APIGEN_LONG") != "" }

// Run fails the test for each difference that isn't known: objects of the kind are refused for the same fields, and are
// stored in the same form, whichever way they are written, and a read finds what the write answered.
func (tr Trial) Run(t *testing.T) { tr.find(t).judge(t, tr.Known, true) }

// findings are differences, each with the first object that shows it.
type findings map[string]string

// find writes all objects.
func (tr Trial) find(t *testing.T) findings {
	p, found := NewPair(t, tr), findings{}
	for i, body := range tr.bodies(p) {
		name := fmt.Sprintf("o%d%s", i/2, requests[i/2%len(requests)])
		for _, difference := range p.write(name, body, i%2 == 1) {
			if found[difference] == "" {
				found[difference] = fmt.Sprint(name, " ", text(body))
			}
		}
	}
	t.Logf("%d of %d writes were accepted, %d of %d of the status", p.accepted, p.written, p.acceptedStatus,
		p.writtenStatus)
	least := p.written / 20
	if tr.Thin {
		least = 1
	}
	if p.accepted < least {
		t.Errorf("only %d of %d objects were accepted, which compares little of what is stored", p.accepted, p.written)
	}
	return found
}

// judge fails the test for each difference that isn't known, and for each known one that isn't found if all are wanted.
func (f findings) judge(t *testing.T, known map[string][]string, all bool) {
	left := maps.Clone(f)
	for _, differences := range known {
		for _, known := range differences {
			pattern, seen := pattern(known), false
			for difference := range f {
				if pattern.MatchString(difference) {
					seen = true
					delete(left, difference)
				}
			}
			if !seen && all {
				t.Errorf("no object shows the known difference %q", known)
			}
		}
	}
	for _, difference := range slices.Sorted(maps.Keys(left)) {
		t.Errorf("%s, of %.2000s", difference, f[difference])
	}
}

// pattern returns what matches a known difference.
func pattern(known string) *regexp.Regexp {
	return regexp.MustCompile("(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(known), `\*`, ".*") + "$")
}

// bodies returns what is written of the kind: the fields beside metadata. Each other one replaces the one before.
func (tr Trial) bodies(p *Pair) (out []map[string]any) {
	for range requests {
		for _, text := range tr.Changes {
			if text != "" {
				out = append(out, p.Decode(text))
			}
		}
	}
	for _, text := range tr.Chosen {
		for range requests {
			out = append(out, p.Decode(text), map[string]any{})
		}
		for range requests {
			out = append(out, map[string]any{}, p.Decode(text))
		}
	}
	p.random = &generator{Rand: rand.New(rand.NewPCG(1, 2)), strings: tr.Texts, thin: tr.Thin,
		usual: tr.Native}
	for _, sample := range tr.Samples {
		body := p.Decode(string(sample))
		quantities(body, p.schema)
		p.random.samples = append(p.random.samples, body)
	}
	for i := range 2 * Objects() {
		p.random.right = i/2%3 < max(1, tr.Right)
		out = append(out, p.random.body(p.schema))
	}
	return out
}

// definition returns the definition as a server serves it, and its storage version.
func (tr Trial) definition(t testing.TB) (*apiextensionsv1.CustomResourceDefinition,
	*apiextensionsv1.CustomResourceDefinitionVersion,
) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(tr.Definition, crd); err != nil {
		t.Fatal(err)
	}
	crd.Status.AcceptedNames = crd.Spec.Names
	i := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Storage
	})
	return crd, &crd.Spec.Versions[i]
}

// Decode decodes the fields of an object.
func (p *Pair) Decode(text string) (body map[string]any) {
	if err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &body); err != nil {
		p.Fatal(err)
	}
	return body
}
