package agreement_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/custom/agreement/wiring"
	"apigen.dev/runtime/internal/custom/dynamic"
	"apigen.dev/runtime/internal/object/ownership"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/memory"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

var objects = flag.Int("objects", 100, "how many random objects of each kind are created and updated")

// requests are the kinds of the requests for an object: apply, or create and put, of which the first may be in CBOR.
var requests = []string{"", "apply", "", "cbor"}

// TestAgreement: objects of a kind with a Go type are refused for the same fields, and are stored in the same form, as
// custom resources of the CustomResourceDefinition that the generator writes of the type.
func TestAgreement(t *testing.T) {
	for _, resource := range wiring.Group().Resources {
		info := resource.Info()
		t.Run(info.Names.Kind, func(t *testing.T) {
			p := newPair(t, resource)
			found := map[string]string{} // a difference, and the first object that shows it
			for i, body := range p.bodies() {
				name := fmt.Sprintf("o%d%s", i/2, requests[i/2%len(requests)])
				for _, difference := range p.write(name, body, i%2 == 1) {
					if found[difference] == "" {
						found[difference] = fmt.Sprint(name, " ", body)
					}
				}
			}
			for _, differences := range known[info.Names.Kind] {
				for _, difference := range differences {
					if found[difference] == "" {
						t.Errorf("no object shows the known difference %q", difference)
					}
					delete(found, difference)
				}
			}
			for _, difference := range slices.Sorted(maps.Keys(found)) {
				t.Errorf("%s, of %s", difference, found[difference])
			}
		})
	}
}

// pair is a kind that is served twice: by its Go type, and by its definition.
type pair struct {
	*testing.T
	typed, custom verb.Handle
	kind          string
	schema        *apiextensionsv1.JSONSchemaProps
	// differs has the names of objects that were stored in different forms, which changes who manages fields later.
	differs map[string]bool
}

func newPair(t *testing.T, resource registry.Resource) *pair {
	info := resource.Info()
	data, err := os.ReadFile("testdata/" + info.Group + "_" + info.Names.Plural + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(data, &crd); err != nil {
		t.Fatal(err)
	}
	crd.Status.AcceptedNames = crd.Spec.Names
	kind, err := dynamic.New(&crd, nil, dynamic.Template{})
	if err != nil {
		t.Fatal(err)
	}
	return &pair{
		T: t, typed: open(t, resource), custom: open(t, kind.Resource), kind: info.Names.Kind,
		schema: crd.Spec.Versions[0].Schema.OpenAPIV3Schema, differs: map[string]bool{},
	}
}

func open(t testing.TB, resource registry.Resource) verb.Handle {
	backend := memory.New()
	group := wiring.Group()
	config := registry.Config{Backend: backend, Prefix: "/registry", DisableCache: true,
		Schemas: ownership.NewSchemas(group.Name, group.OpenAPI)}
	handle, err := resource.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(handle.Close(), backend.Close()); err != nil {
			t.Error(err)
		}
	})
	return handle
}

// bodies returns what is written of the kind: the fields beside metadata. Each other one replaces the one before.
func (p *pair) bodies() (out []map[string]any) {
	for range requests {
		for _, text := range changes[p.kind] {
			out = append(out, p.decode(text))
		}
	}
	for _, text := range chosen[p.kind] {
		for range requests {
			out = append(out, p.decode(text), map[string]any{})
		}
		for range requests {
			out = append(out, map[string]any{}, p.decode(text))
		}
	}
	g := &generator{Rand: rand.New(rand.NewPCG(1, 2)), strings: texts[p.kind]}
	spec := p.schema.Properties["spec"]
	for range *objects {
		for range 2 {
			body := map[string]any{}
			if g.IntN(20) > 0 {
				body["spec"] = g.object(&spec)
			}
			out = append(out, body)
		}
	}
	return out
}

func (p *pair) decode(text string) (body map[string]any) {
	if err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &body); err != nil {
		p.Fatal(err)
	}
	return body
}

// write creates or replaces an object in both ways, and returns how the results differ.
func (p *pair) write(name string, body map[string]any, replaces bool) []string {
	typed, typedErr := p.send(p.typed, name, body, replaces)
	custom, customErr := p.send(p.custom, name, body, replaces)
	if typedErr == nil && customErr == nil {
		owned := []any{typed[managed], custom[managed]}
		delete(typed, managed)
		delete(custom, managed)
		out := compare("", typed, custom)
		if len(out) > 0 {
			p.differs[name] = true
		} else if !p.differs[name] && !reflect.DeepEqual(owned[0], owned[1]) {
			out = append(out, fmt.Sprintf("of an equal object, the type manages %v and the definition %v", owned...))
		}
		return out
	}
	if apierrors.IsNotFound(typedErr) && apierrors.IsNotFound(customErr) {
		return nil // both refused what this would have replaced
	}
	var out []string
	typedCauses, customCauses := causes(typedErr, name), causes(customErr, name)
	if typedCauses[undecodable] && customErr != nil || customCauses[undecodable] {
		typedCauses, customCauses = nil, nil
	}
	for path := range typedCauses {
		if !customCauses[path] {
			out = append(out, "only the type refuses "+path)
		}
	}
	for path := range customCauses {
		if !typedCauses[path] {
			out = append(out, "only the definition refuses "+path)
		}
	}
	if typedErr == nil || customErr == nil { // so that the next write replaces the same object
		for _, h := range []verb.Handle{p.typed, p.custom} {
			_, _ = h.Delete(p.Context(), "ns", name, verb.DeleteOptions{})
		}
	}
	return out
}

// managed is the key of the field sets in what send returns.
const managed = "managedFields"

// send returns what the server stores of an object, without the members that it sets itself, and the field sets.
func (p *pair) send(h verb.Handle, name string, body map[string]any, replaces bool) (map[string]any, error) {
	whole := map[string]any{"apiVersion": "agreement.example.com/v1", "kind": p.kind,
		"metadata": map[string]any{"name": name}}
	maps.Copy(whole, body)
	result, err := p.request(h, name, whole, replaces)
	if err != nil {
		return nil, err
	}
	var stored map[string]any
	data := slices.Concat([]byte("{"+result.Object.Head), result.Object.Payload)
	if err := json.Unmarshal(data, &stored); err != nil {
		p.Fatal(err)
	}
	entries, _, err := unstructured.NestedSlice(stored, "metadata", managed)
	if err != nil {
		p.Fatal(err)
	}
	delete(stored, "metadata")
	delete(stored, "apiVersion")
	delete(stored, "kind")
	var sets []any
	for _, entry := range entries {
		sets = append(sets, entry.(map[string]any)["fieldsV1"])
	}
	stored[managed] = text(sets)
	return stored, nil
}

// request writes an object whose name ends with the kind of the request.
func (p *pair) request(h verb.Handle, name string, whole map[string]any, replaces bool) (verb.Result, error) {
	form := verb.Form{Version: "v1"}
	opts := verb.WriteOptions{Form: form, FieldManager: "one", Force: true}
	body := verb.Body{Version: "v1"}
	var err error
	if body.Data, err = json.Marshal(whole); err != nil {
		p.Fatal(err)
	}
	switch {
	case strings.HasSuffix(name, "apply"):
		// A definition refuses null in a configuration, as kube-apiserver does, while a Go value has no null.
		if body.Data, err = json.Marshal(withoutNull(whole)); err != nil {
			p.Fatal(err)
		}
		return h.Patch(p.Context(), "ns", name, "", verb.ApplyPatch, body, opts)
	case !replaces && strings.HasSuffix(name, "cbor"):
		body.Encoding = verb.CBOR
		if body.Data, err = direct.Marshal(whole); err != nil {
			p.Fatal(err)
		}
		return h.Create(p.Context(), "ns", body, opts)
	case !replaces:
		return h.Create(p.Context(), "ns", body, opts)
	}
	old, err := h.Get(p.Context(), "ns", name, "", form)
	if err != nil {
		return verb.Result{}, err
	}
	version := string(old.Payload[old.VersionAt : old.VersionAt+old.VersionLen])
	whole["metadata"] = map[string]any{"name": name, "resourceVersion": version}
	if body.Data, err = json.Marshal(whole); err != nil {
		p.Fatal(err)
	}
	return h.Update(p.Context(), "ns", name, "", body, opts)
}

// withoutNull returns a value of JSON without null in its objects and lists.
func withoutNull(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			if member != nil {
				out[name] = withoutNull(member)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			if item != nil {
				out = append(out, withoutNull(item))
			}
		}
		return out
	}
	return v
}

// element is an index of a list, or a key of a map as either of the two names it.
var element = regexp.MustCompile(`\[[^]]*\]|\.key[AB]\b`)

// undecodable takes the place of the path for objects that can't be decoded.
const undecodable = "what it can't decode"

// causes returns the paths of the fields for which an object is refused, without indexes and keys. An apply that
// removes all members of an object leaves null, which only a definition refuses: it has no other causes then.
func causes(err error, name string) map[string]bool {
	if err == nil {
		return nil
	}
	out := map[string]bool{}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil || len(status.Status().Details.Causes) == 0 {
		return map[string]bool{undecodable: true}
	}
	for _, cause := range status.Status().Details.Causes {
		if strings.HasSuffix(name, "apply") && strings.Contains(cause.Message, `"null"`) {
			return map[string]bool{undecodable: true}
		}
		out[element.ReplaceAllString(cause.Field, "[]")] = true
	}
	return out
}

// compare returns the differences of two values of JSON at a path.
func compare(path string, typed, custom any) []string {
	switch typed := typed.(type) {
	case map[string]any:
		if custom, ok := custom.(map[string]any); ok {
			return compareMembers(path, typed, custom)
		}
	case []any:
		if custom, ok := custom.([]any); ok && len(typed) == len(custom) {
			var out []string
			for i := range typed {
				out = append(out, compare(path+"[]", typed[i], custom[i])...)
			}
			return out
		}
	}
	if reflect.DeepEqual(typed, custom) {
		return nil
	}
	const differs = "stored %s is %s by the type and %s by the definition"
	return []string{fmt.Sprintf(differs, path, text(typed), text(custom))}
}

func compareMembers(path string, typed, custom map[string]any) (out []string) {
	for name, value := range typed {
		at := member(path, name)
		if other, ok := custom[name]; ok {
			out = append(out, compare(at, value, other)...)
		} else {
			out = append(out, fmt.Sprintf("only the type stores %s", at))
		}
	}
	for name := range custom {
		if _, ok := typed[name]; !ok {
			out = append(out, fmt.Sprintf("only the definition stores %s", member(path, name)))
		}
	}
	return out
}

func member(path, name string) string {
	return strings.TrimPrefix(element.ReplaceAllString(path+"."+name, "[]"), ".")
}

func text(v any) string {
	var out bytes.Buffer
	_ = json.NewEncoder(&out).Encode(v) // it was decoded from JSON
	return string(bytes.TrimSpace(out.Bytes()))
}
