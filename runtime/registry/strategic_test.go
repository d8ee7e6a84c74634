package registry_test

import (
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/verb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (b *bench) strategic(patch, validation string) (verb.Result, error) {
	data := verb.Body{Version: "v1", Data: []byte(patch), Validation: validation}
	return b.Patch(b.ctx(), "ns", "a", "", verb.StrategicPatch, data, verb.WriteOptions{Form: v1, FieldManager: "m"})
}

func owner(name, uid string) string {
	return `{"apiVersion":"v1","kind":"Pod","name":"` + name + `","uid":"` + uid + `"}`
}

// The struct tags of metadata say that finalizers are merged, and ownerReferences too, by uid; spec.parts have no tag.
func TestStrategicMerge(t *testing.T) {
	created := `{"metadata":{"name":"a","labels":{"x":"1","y":"2"},"finalizers":["e.com/a","e.com/b"],` +
		`"ownerReferences":[` + owner("p", "1") + `,` + owner("q", "2") +
		`]},"spec":{"color":"red","parts":["p","q"],"notes":{"k":"v"}}}`
	cases := map[string]struct{ patch, finalizers, owners, parts, labels string }{
		"lists without a tag are replaced": {`{"spec":{"parts":["r"]}}`, "e.com/a e.com/b", "p q", "r", "x y"},
		"lists of values are merged": {`{"metadata":{"finalizers":["e.com/c","e.com/a"]}}`,
			"e.com/c e.com/a e.com/b", "p q", "p q", "x y"},
		"values are deleted": {`{"metadata":{"$deleteFromPrimitiveList/finalizers":["e.com/a"]}}`, "e.com/b", "p q",
			"p q", "x y"},
		"order is set": {`{"metadata":{"$setElementOrder/finalizers":["e.com/b","e.com/c","e.com/a"],` +
			`"finalizers":["e.com/c"]}}`,
			"e.com/b e.com/c e.com/a", "p q", "p q", "x y"},
		"lists of objects are merged by key": {`{"metadata":{"ownerReferences":[{"uid":"1","name":"n"},` +
			owner("r", "3") + `]}}`, "e.com/a e.com/b", "n r q", "p q", "x y"},
		"objects are deleted by key": {`{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"1"}]}}`,
			"e.com/a e.com/b", "q", "p q", "x y"},
		"lists are replaced": {`{"metadata":{"ownerReferences":[{"$patch":"replace"},` + owner("r", "3") + `]}}`,
			"e.com/a e.com/b", "r", "p q", "x y"},
		"objects are replaced": {`{"metadata":{"labels":{"$patch":"replace","z":"3"}}}`, "e.com/a e.com/b", "p q",
			"p q", "z"},
		"null deletes": {`{"metadata":{"labels":{"x":null}},"spec":{"parts":null}}`, "e.com/a e.com/b", "p q", "", "y"},
		"nothing":      {`{}`, "e.com/a e.com/b", "p q", "p q", "x y"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := openSchema(t)
			before := b.create(created)
			r, err := b.strategic(c.patch, metav1.FieldValidationStrict)
			if err != nil {
				t.Fatal(err)
			}
			w := b.parse(r.Object)
			var owners, labels []string
			for _, o := range w.OwnerReferences {
				owners = append(owners, o.Name)
			}
			for label := range w.Labels {
				labels = append(labels, label)
			}
			slices.Sort(labels)
			got := []string{strings.Join(w.Finalizers, " "), strings.Join(owners, " "), strings.Join(w.Spec.Parts, " "),
				strings.Join(labels, " ")}
			if want := []string{c.finalizers, c.owners, c.parts, c.labels}; !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			if (w.ResourceVersion == before.ResourceVersion) != (c.patch == "{}") {
				t.Errorf("written at %s, then %s", before.ResourceVersion, w.ResourceVersion)
			}
			if c.patch != "{}" && !slices.ContainsFunc(w.ManagedFields,
				func(e metav1.ManagedFieldsEntry) bool { return e.Manager == "m" }) &&
				name != "objects are deleted by key" && name != "values are deleted" && name != "null deletes" {
				t.Errorf("nobody is noted: %s", ownersOf(w))
			}
		})
	}
}

// TestStrategicMergeOfAnotherKind: what a patch says of kind and apiVersion is ignored, as in kube-apiserver.
func TestStrategicMergeOfAnotherKind(t *testing.T) {
	for _, said := range []string{
		`"kind":"Gadget"`, `"apiVersion":"v1"`, `"apiVersion":"a/b/c"`,
		`"kind":"Gadget","apiVersion":"shop.example.com/v1beta1"`,
	} {
		b := openSchema(t)
		b.create(`{"metadata":{"name":"a"}}`)
		r, err := b.strategic(`{`+said+`,"spec":{"size":7}}`, metav1.FieldValidationStrict)
		if err != nil {
			t.Errorf("%s: %v", said, err)
			continue
		}
		if w := b.parse(r.Object); w.Kind != "Widget" || w.APIVersion != "shop.example.com/v1" || w.Spec.Size != 7 {
			t.Errorf("%s: %s", said, whole(r.Object))
		}
	}
}

func TestRefusedStrategicMerges(t *testing.T) {
	cases := map[string]struct {
		patch   string
		code    int32
		reason  metav1.StatusReason
		message string
	}{
		"no JSON": {`{`, 400, metav1.StatusReasonBadRequest, "unexpected end of JSON input"},
		"a list":  {`[]`, 400, metav1.StatusReasonBadRequest, ""},
		"directive": {`{"spec":{"$patch":"nonsense"}}`, 400, metav1.StatusReasonBadRequest,
			"unknown patch type: nonsense"},
		"directive at the top": {`{"$patch":"nonsense"}`, 400, metav1.StatusReasonBadRequest,
			"unknown patch type: nonsense"},
		"no key": {`{"metadata":{"ownerReferences":[{"name":"n"}]}}`, 400, metav1.StatusReasonBadRequest,
			"does not contain declared merge key: uid"},
		"order of text": {`{"metadata":{"$setElementOrder/finalizers":"x"}}`, 400, metav1.StatusReasonBadRequest,
			""},
		"retained keys": {`{"spec":{"$retainKeys":["color"],"size":3}}`, 400, metav1.StatusReasonBadRequest,
			"invalid patch format of retainKeys"},
		"retained text": {`{"spec":{"$retainKeys":"color"}}`, 400, metav1.StatusReasonBadRequest,
			"invalid patch format of retainKeys"},
		"wrong type": {`{"spec":{"size":"big"}}`, 422, metav1.StatusReasonInvalid,
			`patch: Invalid value: "map[spec:map[size:big]]": `},
		"unknown field": {`{"spec":{"bogus":1}}`, 422, metav1.StatusReasonInvalid,
			`strict decoding error: unknown field "spec.bogus"`},
		"twice": {`{"spec":{"size":1,"size":2}}`, 422, metav1.StatusReasonInvalid,
			`duplicate field "spec.size"`},
		"other name": {`{"metadata":{"name":"b"}}`, 400, metav1.StatusReasonBadRequest,
			"does not match the name on the URL"},
		"invalid": {`{"spec":{"size":-1}}`, 422, metav1.StatusReasonInvalid, "must not be negative"},
		"stale": {`{"metadata":{"resourceVersion":"1"}}`, 409, metav1.StatusReasonConflict,
			"the object has been modified"},
		"object for a list": {`{"metadata":{"finalizers":{"a":"b"}}}`, 422, metav1.StatusReasonInvalid,
			"cannot restore slice from map"},
		"list for an object": {`{"metadata":{"labels":["a"]}}`, 422, metav1.StatusReasonInvalid, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := openSchema(t)
			before := b.create(`{"metadata":{"name":"a","labels":{"x":"1"},"finalizers":["e.com/a"],` +
				`"ownerReferences":[` + owner("p", "1") + `]},"spec":{"color":"red","parts":["p"]}}`)
			_, err := b.strategic(c.patch, metav1.FieldValidationStrict)
			wantStatus(t, err, c.code, c.reason, c.message)
			if after := b.get("a"); after.ResourceVersion != before.ResourceVersion {
				t.Error("a refused patch was written")
			}
		})
	}
	b := openSchema(t)
	_, err := b.strategic(`{}`, metav1.FieldValidationStrict)
	wantStatus(t, err, 404, metav1.StatusReasonNotFound, `widgets.shop.example.com "a" not found`)
	b.create(`{"metadata":{"name":"a"}}`)
	r, err := b.strategic(`{"spec":{"bogus":1,"size":2,"size":3}}`, metav1.FieldValidationWarn)
	if err != nil || !slices.Equal(r.Warnings, []string{`duplicate field "spec.size"`, `unknown field "spec.bogus"`}) ||
		b.parse(r.Object).Spec.Size != 3 {
		t.Errorf("%v %q", err, r.Warnings)
	}
	if r, err = b.strategic(`{"spec":{"bogus":1}}`, metav1.FieldValidationIgnore); err != nil || len(r.Warnings) > 0 {
		t.Errorf("%v %q", err, r.Warnings)
	}
}

// FuzzPatches: no patch of any type makes the server panic or fail; what it did can be read.
func FuzzPatches(f *testing.F) {
	for _, seed := range []string{
		config(``, `,"spec":{"color":"red","parts":["x"],"notes":{"k":"v"}}`), config(`,"managedFields":[{}]`,
			`,"status":{"clicks":1}`),
		config(`,"labels":null,"finalizers":["e.com/x",null]`, `,"spec":null`),
		config(`,"ownerReferences":[{"uid":"1"},{"uid":"1"},{}]`, ``),
		`{"apiVersion":"shop.example.com/v1","kind":"Widget"}`, `{"apiVersion":[],"kind":{}}`, `null`, `[]`, `{"a":`,
		`{"spec":{"$patch":"delete"}}`, `{"metadata":{"$setElementOrder/ownerReferences":[{"uid":"1"}],` +
			`"ownerReferences":[{"$patch":"merge"}]}}`,
		`{"metadata":{"$deleteFromPrimitiveList/finalizers":[1,{}]}}`, `{"spec":{"$retainKeys":["color",1]}}`,
		`{"$patch":"replace"}`, `{"$patch":"delete"}`,
		`{"metadata":{"ownerReferences":[{"$patch":"replace"},{"$patch":"delete","uid":"1"}]}}`,
		`{"spec":{"parts":[["a"],["b"]]}}`,
		`{"metadata":{"managedFields":[{"manager":"x","operation":"Apply","apiVersion":"v1",` +
			`"fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"k:{}":{},"v:":{},"i:x":{},"":{}}}}]}}`,
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	resources := openSchema(f)
	f.Fuzz(func(t *testing.T, patch string, force bool) {
		b := &bench{TB: t, backend: resources.backend, Handle: resources.Handle}
		defer b.remove("a")
		b.remove("a")
		b.create(`{"metadata":{"name":"a","labels":{"x":"1"},"ownerReferences":[` + owner("p", "1") +
			`]},"spec":{"color":"red","parts":["p"]},"status":{"phase":"Up"}}`)
		for _, kind := range []verb.PatchType{verb.ApplyPatch, verb.StrategicPatch, verb.MergePatch} {
			for _, subresource := range []string{"", "status"} {
				opts := verb.WriteOptions{Form: v1, FieldManager: "m", Force: force && kind == verb.ApplyPatch}
				data := verb.Body{Version: "v1", Data: []byte(patch), Validation: metav1.FieldValidationWarn}
				if _, err := b.Patch(b.ctx(), "ns", "a", subresource, kind, data, opts); err != nil {
					if code := codeOf(t, err); code < 400 || code >= 500 {
						t.Fatalf("%s: %d %v", kind, code, err)
					}
				}
			}
		}
	})
}
