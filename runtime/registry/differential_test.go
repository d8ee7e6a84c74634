package registry_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// FuzzSelection: a list shows what apimachinery's selectors match, whatever is looked up in indexes.
func FuzzSelection(f *testing.F) {
	for _, seed := range [][2]string{
		{"", ""}, {"x=1", ""}, {"x", "spec.color=red"}, {"!x,y notin (2,3)", ""},
		{"x in (1,2),y!=1", "spec.color!=red"}, {"x>1,y<3", ""},
		{"", "metadata.name=w03"}, {"", "metadata.name!=w03,spec.color=blue"}, {"x=", "metadata.namespace=ns"},
		{"", "metadata.name=w01,metadata.name=w02"},
		{"x=1,x=2", ""}, {"x==1,!y", "spec.color="}, {"", `spec.color=r\=d`},
	} {
		f.Add(seed[0], seed[1])
	}
	resources := map[string]*bench{"cache": open(f, registry.New(shop.Definition()), true),
		"bare": open(f, registry.New(shop.Definition()), false)}
	var all []*shop.WidgetV1
	for i := range 24 {
		data := fmt.Sprintf(`{"metadata":{"name":"w%02d","labels":{%s}},"spec":{"color":%q}}`, i,
			strings.Join([]string{`"x":"1"`, `"x":"2","y":"1"`, `"y":"3"`, `"x":""`, `"x":"10","y":"2"`, ``}[i%6:i%6+1],
				""), []string{"red", "blue", "", "r=d"}[i%4])
		for _, b := range resources {
			w := b.create(data)
			if all = append(all, w); b != resources["cache"] {
				all = all[:len(all)-1]
			}
		}
	}
	f.Fuzz(func(t *testing.T, labelText, fieldText string) {
		byLabel, err := labels.Parse(labelText)
		if err != nil {
			return
		}
		byField, err := fields.ParseSelector(fieldText)
		if err != nil {
			return
		}
		var want []string
		for _, w := range all {
			if byLabel.Matches(labels.Set(w.Labels)) && byField.Matches(fields.Set{"metadata.name": w.Name,
				"metadata.namespace": w.Namespace, "spec.color": w.Spec.Color}) {
				want = append(want, w.Name)
			}
		}
		for kind, b := range resources {
			b := &bench{TB: t, backend: b.backend, Handle: b.Handle}
			page, err := b.List(b.ctx(), "ns", verb.ListOptions{Selection: api.Selection{Labels: byLabel,
				Fields: byField}}, v1)
			if err != nil {
				if slices.ContainsFunc(byField.Requirements(), func(r fields.Requirement) bool {
					return r.Field != "metadata.name" && r.Field != "metadata.namespace" && r.Field != "spec.color"
				}) {
					continue // there is no such field
				}
				t.Fatalf("%s: %v", kind, err)
			}
			var got []string
			for item := range page.Items {
				got = append(got, b.parse(item).Name)
			}
			page.Close()
			if !slices.Equal(got, want) {
				t.Errorf("%s: %q and %q select %q, want %q", kind, labelText, fieldText, got, want)
			}
		}
	})
}

// FuzzDecode: what apimachinery's serializer refuses is refused, what it warns of is warned of, and nothing else.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"metadata":{"name":"a"},"spec":{"color":"red","size":3,"parts":["x"],"notes":{"a":"b"}}}`,
		`{"metadata":{"name":"a","name":"b"},"more":1}`,
		`{"metadata":{"name":"a","generation":1.5}}`, `{"metadata":{"name":"a","labels":{"a":1}}}`,
		`{"metadata":{"name":"a"},"spec":{"size":9223372036854775808}}`,
		`{"metadata":{"name":"a"},"spec":{"size":1e2}}`, `{"Metadata":{"name":"a"}}`,
		`{"metadata":{"name":"a","creationTimestamp":"x"}}`, `{"spec":null,"metadata":null}`,
		`[]`, `null`, `1`, `"x"`, `{`, ``, `{}{}`, `{"metadata":{"name":"\ud800"}}`,
		"{\"metadata\":{\"name\":\"\xff\"}}", `{"kind":"Widget","apiVersion":"shop.example.com/v1"}`,
		`{"kind":1}`, `{"apiVersion":"a/b/c","kind":"Widget"}`, `{"apiVersion":"shop.example.com/","more":1}`,
		`{"metadata":{"managedFields":[{"fieldsV1":{"a":1}}]}}`, `{"spec":{"notes":{"a":null}}}`,
	} {
		f.Add(seed)
	}
	gvk := schema.GroupVersionKind{Group: "shop.example.com", Version: "v1", Kind: "Widget"}
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(gvk, &shop.WidgetV1{})
	serializer := kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme, scheme,
		kjson.SerializerOptions{Strict: true})
	shared := open(f, registry.New(shop.Definition()), false)
	f.Fuzz(func(t *testing.T, data string) {
		_, actual, want := serializer.Decode([]byte(data), &gvk, nil)
		if actual != nil && *actual != gvk {
			return // what is of another kind is refused in other words
		}
		opts := verb.WriteOptions{Form: v1, DryRun: true}
		result, err := shared.Create(t.Context(), "ns", verb.Body{Version: "v1", Data: []byte(data),
			Validation: metav1.FieldValidationWarn}, opts)
		if want != nil && !runtime.IsStrictDecodingError(want) {
			// apimachinery looks for kind and apiVersion, and only for them, in whatever case they are written.
			folded := strings.Contains(want.Error(), "unexpected GroupVersion string") &&
				!strings.Contains(data, `"apiVersion"`)
			if !folded && !apierrors.IsBadRequest(err) {
				t.Errorf("%q: %v, where apimachinery says %v", data, err, want)
			}
			return
		}
		if apierrors.IsBadRequest(err) && (strings.Contains(err.Error(), "cannot be handled") ||
			strings.Contains(err.Error(), "unrecognized")) {
			t.Errorf("%q: %v, where apimachinery says %v", data, err, want)
		}
		var strict []string
		if found, ok := runtime.AsStrictDecodingError(want); ok {
			for _, e := range found.Errors() {
				strict = append(strict, e.Error())
			}
		}
		_, refused := shared.Create(t.Context(), "ns", verb.Body{Version: "v1", Data: []byte(data),
			Validation: metav1.FieldValidationStrict}, opts)
		if len(strict) > 0 && (!apierrors.IsBadRequest(refused) || !strings.Contains(refused.Error(), want.Error())) {
			t.Errorf("%q strictly: %v, want %v", data, refused, want)
		}
		if status := apierrors.APIStatus(nil); err == nil || errors.As(err, &status) &&
			status.Status().Reason == metav1.StatusReasonInvalid {
			for _, warning := range strict {
				if !slices.Contains(result.Warnings, warning) {
					t.Errorf("%q warns of %q, want %q", data, result.Warnings, strict)
				}
			}
		}
	})
}
