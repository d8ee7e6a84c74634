package patch

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/verb"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Merge patches do what kube-apiserver's library does.
func TestMergePatchEqualsTheLibrary(t *testing.T) {
	for _, test := range [][2]string{
		{`{"a":1}`, `{}`},
		{`{"a":1}`, `{"a":null}`},
		{`{"a":1}`, `{"b":null}`},
		{`{"a":{"b":1,"c":2}}`, `{"a":{"b":null,"d":{"e":null,"f":1}}}`},
		{`{"a":{"b":1}}`, `{"a":[1,null,{"x":null}]}`},
		{`{"a":[1]}`, `{"a":[null,{"x":null,"y":[{"z":null}]}]}`},
		{`{"a":[1]}`, `{"a":{"x":null,"y":1}}`},
		{`{"a":null}`, `{"a":{"x":null,"y":1}}`},
		{`{"a":{"b":1}}`, `{"a":5.0,"c":12345678901234567890,"d":1e300}`},
		{`{"a":{"b":"<&>"}}`, `{"c":"\u2028<"}`},
	} {
		want, err := jsonpatch.MergePatch([]byte(test[0]), []byte(test[1]))
		if err != nil {
			t.Fatal(err)
		}
		patch, err := newMergePatch([]byte(test[1]))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // a patch may be applied again
			got, err := patch.Apply([]byte(test[0]))
			if err != nil || !sameTree(t, got, want) {
				t.Errorf("%s with %s is %s (%v), the library says %s", test[0], test[1], got, err, want)
			}
		}
	}
}

// sameTree compares with the text of numbers.
func sameTree(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y map[string]any
	if err := rendition.DecodeTree(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := rendition.DecodeTree(b, &y); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}

func TestMergePatchMustBeAnObject(t *testing.T) {
	for _, data := range []string{`null`, `[]`, `1`, `{`} {
		if _, err := newMergePatch([]byte(data)); err == nil {
			t.Errorf("%s was taken", data)
		}
	}
}

// A patch that nests deep around much text takes no longer than its size asks for: the library takes minutes.
func TestDeepMergePatchIsQuick(t *testing.T) {
	const depth = 9000
	data := strings.Repeat(`{"a":`, depth) + `"` + strings.Repeat("x", 2<<20) + `"` + strings.Repeat("}", depth)
	began := time.Now()
	patch, _, err := New(verb.MergePatch, verb.Body{Data: []byte(data), Validation: metav1.FieldValidationWarn})
	if err != nil {
		t.Fatal(err)
	}
	out, err := patch.Apply([]byte(`{"a":{"a":1}}`))
	if err != nil || !json.Valid(out) {
		t.Errorf("%d bytes, error %v", len(out), err)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}

// The library reads a value again at each level that it goes down; what would take it minutes is refused.
func TestDeepJSONPatchIsRefused(t *testing.T) {
	deep := func(depth, text int) verb.Body {
		return verb.Body{Data: []byte(`[{"op":"add","path":"/x","value":` + strings.Repeat(`{"a":`, depth) + `"` +
			strings.Repeat(`x\"{`, text/4) + `"` +
			strings.Repeat("}", depth) + `}]`)}
	}
	if _, _, err := New(verb.JSONPatch, deep(1000, 2<<20)); !apierrors.IsRequestEntityTooLargeError(err) {
		t.Errorf("1000 levels around 2 MiB: error %v", err)
	}
	for _, body := range []verb.Body{deep(5, 2<<20), deep(1000, 1000)} {
		if _, _, err := New(verb.JSONPatch, body); err != nil {
			t.Error(err)
		}
	}
}
