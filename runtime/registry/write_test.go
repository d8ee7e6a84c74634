package registry_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestCreateRefuses(t *testing.T) {
	cases := map[string]struct {
		namespace, body string
		code            int32
		reason          metav1.StatusReason
		message         string
	}{
		"a second one of the same name": {"ns", `{"metadata":{"name":"there"}}`, 409, metav1.StatusReasonAlreadyExists,
			`widgets.shop.example.com "there" already exists`},
		"no name": {"ns", `{"metadata":{}}`, 422, metav1.StatusReasonInvalid,
			`Widget.shop.example.com "" is invalid: metadata.name: Required value: name or generateName is required`},
		"a name in the wrong case": {"ns", `{"metadata":{"Name":"a"}}`, 400, metav1.StatusReasonBadRequest,
			`Widget in version "v1" cannot be handled as a Widget: strict decoding error: ` +
				`unknown field "metadata.Name"`},
		"a name that is none": {"ns", `{"metadata":{"name":"A_b"}}`, 422, metav1.StatusReasonInvalid,
			`metadata.name: Invalid value: "A_b": a lowercase RFC 1123 subdomain must consist of`},
		"another namespace": {"ns", `{"metadata":{"name":"a","namespace":"other"}}`, 400, metav1.StatusReasonBadRequest,
			"the namespace of the provided object does not match the namespace sent on the request"},
		"no namespace": {"", `{"metadata":{"name":"a"}}`, 422, metav1.StatusReasonInvalid,
			"metadata.namespace: Required value"},
		"a resourceVersion": {"ns", `{"metadata":{"name":"a","resourceVersion":"5"}}`, 400,
			metav1.StatusReasonBadRequest,
			"resourceVersion should not be set on objects to be created"},
		"another kind": {"ns", `{"kind":"List","apiVersion":"shop.example.com/v1","metadata":{"name":"a"}}`, 400,
			metav1.StatusReasonBadRequest,
			`List in version "v1" cannot be handled as a Widget`},
		"an apiVersion that is none": {"ns", `{"kind":"Widget","apiVersion":"a/b/c","metadata":{"name":"a"}}`, 400,
			metav1.StatusReasonBadRequest,
			"the object provided is unrecognized (must be of type Widget): unexpected GroupVersion string: a/b/c"},
		"another version": {"ns", `{"kind":"Widget","apiVersion":"shop.example.com/v1beta1","metadata":{"name":"a"}}`,
			400, metav1.StatusReasonBadRequest,
			"the API version in the data (shop.example.com/v1beta1) does not match the expected API version " +
				"(shop.example.com/v1)"},
		"an unknown field": {"ns", `{"metadata":{"name":"a"},"spec":{"colr":"red"}}`, 400,
			metav1.StatusReasonBadRequest,
			`Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.colr"`},
		"a field twice": {"ns", `{"metadata":{"name":"a"},"metadata":{"name":"a"}}`, 400, metav1.StatusReasonBadRequest,
			`strict decoding error: duplicate field "metadata"`},
		"a value of the wrong type": {"ns", `{"metadata":{"name":"a","labels":{"a":1}}}`, 400,
			metav1.StatusReasonBadRequest,
			"cannot unmarshal number into Go struct field"},
		"a number": {"ns", `42`, 400, metav1.StatusReasonBadRequest, "the object provided is unrecognized " +
			"(must be of type Widget)"},
		"half an object": {"ns", `{"metadata":{"name":`, 400, metav1.StatusReasonBadRequest,
			`json parse error: unexpected end of JSON input ({"metadata":{"name":)`},
		"what the strategy refuses": {"ns", `{"metadata":{"name":"a"},"spec":{"size":-1}}`, 422,
			metav1.StatusReasonInvalid,
			`Widget.shop.example.com "a" is invalid: spec.size: Invalid value: -1: must not be negative`},
		"a label that is none": {"ns", `{"metadata":{"name":"a","labels":{"a b":"c"}}}`, 422,
			metav1.StatusReasonInvalid, `metadata.labels: Invalid value: "a b"`},
		"a finalizer that is none": {"ns", `{"metadata":{"name":"a","finalizers":["not valid"]}}`, 422,
			metav1.StatusReasonInvalid,
			`metadata.finalizers: Invalid value: "not valid"`},
		"objects without end": {"ns", `{"metadata":{"name":"a"},"x":` + strings.Repeat(`{"a":`, 20000) + "1" +
			strings.Repeat("}", 20000) + "}",
			400, metav1.StatusReasonBadRequest, "exceeded max depth"},
	}
	both(t, func(t *testing.T, b *bench) {
		b.create(`{"metadata":{"name":"there"}}`)
		for name, c := range cases {
			_, err := b.Create(b.ctx(), c.namespace, body(c.body), verb.WriteOptions{Form: v1})
			t.Run(name, func(t *testing.T) { wantStatus(t, err, c.code, c.reason, c.message) })
		}
		if n, err := b.backend.Count(b.ctx(), "/registry/shop.example.com/"); err != nil || n != 1 {
			t.Errorf("%d objects are stored, %v", n, err)
		}
	})
}

// TestEnvelopeInAnotherCase: keys that are kind and apiVersion but for their case must say what the URL says.
func TestEnvelopeInAnotherCase(t *testing.T) {
	for said, wrong := range map[string]string{
		`"Kind":"Gadget"`:                          "the kind in the data does not match the expected kind",
		`"kind":"Widget","KIND":"Gadget"`:          "the kind in the data does not match the expected kind",
		`"Apiversion":"shop.example.com/v1beta1"`:  "does not match the expected API version",
		`"APIVERSION":"a/b/c"`:                     "unexpected GroupVersion string: a/b/c",
		`"Kind":1`:                                 "cannot unmarshal number",
		`"Kind":"Gadget","kind":"Widget"`:          "",
		`"Kind":"Widget"`:                          "",
		`"apiversion":"shop.example.com/v1","x":1`: "",
	} {
		for _, validation := range []string{metav1.FieldValidationIgnore, metav1.FieldValidationWarn} {
			b := open(t, registry.New(shop.Definition()), true)
			sent := body(`{` + said + `,"metadata":{"name":"a"}}`)
			sent.Validation = validation
			_, err := b.Create(b.ctx(), "ns", sent, verb.WriteOptions{Form: v1})
			if wrong != "" {
				wantStatus(t, err, 400, metav1.StatusReasonBadRequest, wrong)
			} else if err != nil {
				t.Errorf("%s: %v", said, err)
			}
		}
	}
}

func TestInvalidNamesEveryField(t *testing.T) {
	b := open(t, registry.New(shop.Definition()), true)
	_, err := b.Create(b.ctx(), "ns", body(`{"metadata":{"name":"A_b","labels":{"a b":"c"}},"spec":{"size":-1}}`),
		verb.WriteOptions{Form: v1})
	s := wantStatus(t, err, 422, metav1.StatusReasonInvalid, "")
	var fields []string
	for _, c := range s.Details.Causes {
		fields = append(fields, c.Field)
	}
	if got := strings.Join(fields, " "); got != "metadata.name metadata.labels spec.size" {
		t.Errorf("causes: %s", got)
	}
}

func TestFieldValidationWarns(t *testing.T) {
	b := open(t, registry.New(shop.Definition()), true)
	data := verb.Body{Version: "v1", Validation: metav1.FieldValidationWarn,
		Data: []byte(`{"metadata":{"name":"a"},"spec":{"colr":"red","color":"beige","color":"beige"}}`)}
	r, err := b.Create(b.ctx(), "ns", data, verb.WriteOptions{Form: v1})
	if err != nil {
		t.Fatal(err)
	}
	want := `[unknown field "spec.colr" duplicate field "spec.color" spec.color: beige is out of fashion]`
	if got := fmt.Sprint(r.Warnings); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	data.Validation = metav1.FieldValidationIgnore
	data.Data = []byte(`{"metadata":{"name":"b"},"spec":{"colr":"red"}}`)
	if r, err = b.Create(b.ctx(), "ns", data, verb.WriteOptions{Form: v1}); err != nil || len(r.Warnings) > 0 {
		t.Errorf("ignored fields: %v, %v", r.Warnings, err)
	}
}

func TestGenerateName(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		w := b.create(`{"metadata":{"generateName":"` + strings.Repeat("x", 70) + `"}}`)
		if len(w.Name) != 63 || strings.Trim(w.Name[58:], "bcdfghjklmnpqrstvwxz2456789") != "" {
			t.Errorf("name %q", w.Name)
		}
	})
}

// full answers every write of a new key as if the key were there.
type full struct {
	storage.Backend
	puts int
}

func (f *full) Put(ctx ctxT, key string, value []byte, expect int64, ttl durationT) (int64, error) {
	if strings.Contains(key, "/_apigen/") {
		return f.Backend.Put(ctx, key, value, expect, ttl)
	}
	f.puts++
	return 0, &storage.ConflictError{Key: key, Current: &storage.KeyValue{Key: key, Value: value, Revision: 1}}
}

func TestGenerateNameGivesUp(t *testing.T) {
	b := open(t, registry.New(shop.Definition()), false)
	backend := &full{Backend: b.backend}
	h, err := registry.New(shop.Definition()).Open(t.Context(), registry.Config{Backend: backend, Prefix: "/registry",
		DisableCache: true})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	_, err = h.Create(b.ctx(), "ns", body(`{"metadata":{"generateName":"a-"}}`), verb.WriteOptions{Form: v1})
	s := wantStatus(t, err, 409, metav1.StatusReasonAlreadyExists, "the server was not able to generate a unique "+
		"name for the object")
	if backend.puts != 8 || s.Details.RetryAfterSeconds != 1 {
		t.Errorf("%d attempts, %+v", backend.puts, s.Details)
	}
}

func TestDryRunLeavesNoTrace(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		w := b.create(`{"metadata":{"name":"a","finalizers":["x.example.com/y"]}}`)
		before, _ := b.backend.Revision(b.ctx())
		dry := verb.WriteOptions{DryRun: true, Form: v1}
		r, err := b.Create(b.ctx(), "ns", body(`{"metadata":{"name":"b"}}`), dry)
		if err != nil || r.Object.VersionLen != 0 || b.parse(r.Object).UID == "" {
			t.Errorf("create: %v %s", err, whole(r.Object))
		}
		r, err = b.Create(b.ctx(), "ns", body(`{"metadata":{"name":"b","resourceVersion":"5"}}`), dry)
		if err != nil || b.parse(r.Object).ResourceVersion != "5" {
			t.Errorf("create with a resourceVersion: %v %s", err, whole(r.Object))
		}
		_, err = b.Create(b.ctx(), "ns", body(`{"metadata":{"name":"a"}}`), dry)
		wantStatus(t, err, 409, metav1.StatusReasonAlreadyExists, "")
		r, err = b.Patch(b.ctx(), "ns", "a", "", verb.MergePatch, body(`{"spec":{"size":9}}`), dry)
		if got := b.parse(r.Object); err != nil || got.Spec.Size != 9 || got.Generation != 2 ||
			got.ResourceVersion != w.ResourceVersion {
			t.Errorf("patch: %v %s", err, whole(r.Object))
		}
		d, err := b.Delete(b.ctx(), "ns", "a", verb.DeleteOptions{WriteOptions: dry})
		if err != nil || d.Done || b.parse(d.Object).DeletionTimestamp == nil {
			t.Errorf("delete: %v %+v", err, d)
		}
		if after, _ := b.backend.Revision(b.ctx()); after != before {
			t.Errorf("revision %d became %d", before, after)
		}
	})
}

func TestUpdateRules(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		w := b.create(`{"metadata":{"name":"a","labels":{"x":"1"}},"spec":{"color":"red"}}`)
		w.Labels["x"] = "2"
		got, err := b.update("a", w)
		if err != nil || got.Generation != 1 || got.ResourceVersion == w.ResourceVersion {
			t.Fatalf("a label: %v %+v", err, got)
		}
		_, err = b.update("a", w)
		wantStatus(t, err, 409, metav1.StatusReasonConflict, `Operation cannot be fulfilled on `+
			`widgets.shop.example.com "a": `+
			"the object has been modified; please apply your changes to the latest version and try again")

		w = got
		w.Spec.Color, w.Status.Phase, w.Generation, w.CreationTimestamp = "blue", "Done", 77, metav1.Time{}
		w.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}}
		if got, err = b.update("a", w); err != nil || got.Generation != 2 || got.Status.Phase != "" ||
			got.CreationTimestamp.IsZero() ||
			len(got.ManagedFields) != 1 || got.ManagedFields[0].Manager != "unknown" {
			t.Fatalf("spec and status: %v %+v", err, got)
		}

		again := *got
		w = &again
		w.ResourceVersion = ""
		if same, err := b.update("a", w); err != nil || same.ResourceVersion != got.ResourceVersion {
			t.Errorf("an update that changes nothing was written: %v %+v", err, same)
		}
		w.UID = "other"
		_, err = b.update("a", w)
		wantStatus(t, err, 409, metav1.StatusReasonConflict, `Operation cannot be fulfilled on `+
			`widgets.shop.example.com "a": Precondition failed: UID in precondition: other, UID in object meta: `+
			string(got.UID))
	})
}

func TestUpdateRefuses(t *testing.T) {
	cases := map[string]struct {
		name, body string
		code       int32
		reason     metav1.StatusReason
		message    string
	}{
		"an absent object": {"nope", `{"metadata":{"name":"nope"}}`, 404, metav1.StatusReasonNotFound,
			`widgets.shop.example.com "nope" not found`},
		"another name": {"a", `{"metadata":{"name":"b"}}`, 400, metav1.StatusReasonBadRequest,
			"the name of the object (b) does not match the name on the URL (a)"},
		"no name": {"a", `{"metadata":{}}`, 400, metav1.StatusReasonBadRequest,
			"the name of the object (a based on URL) was undeterminable: name must be provided"},
		"another namespace": {"a", `{"metadata":{"name":"a","namespace":"b"}}`, 400, metav1.StatusReasonBadRequest,
			"the namespace of the provided object does not match the namespace sent on the request"},
		"a resourceVersion that is none": {"a", `{"metadata":{"name":"a","resourceVersion":"x"}}`, 400,
			metav1.StatusReasonBadRequest, "invalid resource version"},
		"what the strategy refuses": {"a", `{"metadata":{"name":"a"},"spec":{"size":-4}}`, 422,
			metav1.StatusReasonInvalid, "spec.size: Invalid value: -4"},
		"a name that is no name": {"a%2f", `{"metadata":{"name":"a%2f"}}`, 400, metav1.StatusReasonBadRequest,
			`Name parameter invalid: "a%2f": may not contain '%'`},
	}
	both(t, func(t *testing.T, b *bench) {
		b.create(`{"metadata":{"name":"a"}}`)
		for name, c := range cases {
			_, err := b.Update(b.ctx(), "ns", c.name, "", body(c.body), verb.WriteOptions{Form: v1})
			t.Run(name, func(t *testing.T) { wantStatus(t, err, c.code, c.reason, c.message) })
		}
		_, err := b.Update(b.ctx(), "ns", "a", "scale", body(`{}`), verb.WriteOptions{Form: v1})
		wantStatus(t, err, 404, metav1.StatusReasonNotFound, "")
	})
}

func TestRequireVersionOnUpdate(t *testing.T) {
	d := shop.Definition()
	d.Strategy.RequireVersionOnUpdate = true
	b := open(t, registry.New(d), true)
	w := b.create(`{"metadata":{"name":"a"}}`)
	w.ResourceVersion = ""
	_, err := b.update("a", w)
	wantStatus(t, err, 422, metav1.StatusReasonInvalid, `widgets.shop.example.com "a" is invalid: `+
		`metadata.resourceVersion: Invalid value: 0: must be specified for an update`)
}

func TestCreateOnUpdate(t *testing.T) {
	d := shop.Definition()
	d.Strategy.AllowCreateOnUpdate = true
	for _, cached := range []bool{true, false} {
		b := open(t, registry.New(d), cached)
		r, err := b.Update(b.ctx(), "ns", "a", "", body(`{"metadata":{"name":"a"}}`), verb.WriteOptions{Form: v1})
		if w := b.parse(r.Object); err != nil || !r.Created || w.UID == "" || w.Generation != 1 {
			t.Errorf("%v %+v", err, r)
		}
		r, err = b.Update(b.ctx(), "ns", "a", "", body(`{"metadata":{"name":"a"},"spec":{"size":3}}`),
			verb.WriteOptions{Form: v1})
		if err != nil || r.Created {
			t.Errorf("%v %+v", err, r)
		}
	}
}

func TestStatusSubresource(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		w := b.create(`{"metadata":{"name":"a"},"spec":{"color":"red"}}`)
		send := *w
		send.Spec.Color, send.Status.Phase, send.Labels = "blue", "Done", map[string]string{"a": "b"}
		data, _ := json.Marshal(send)
		r, err := b.Update(b.ctx(), "ns", "a", "status", body(string(data)), verb.WriteOptions{Form: v1})
		if err != nil {
			t.Fatal(err)
		}
		got := b.parse(r.Object)
		if got.Spec.Color != "red" || got.Status.Phase != "Done" || got.Labels != nil || got.Generation != 1 ||
			got.ResourceVersion == w.ResourceVersion {
			t.Errorf("status took %+v", got)
		}
		_, err = b.Update(b.ctx(), "ns", "a", "status", body(string(data)), verb.WriteOptions{Form: v1})
		wantStatus(t, err, 409, metav1.StatusReasonConflict, "the object has been modified")
		_, err = b.patch("a", "status", `{"status":{"clicks":-1}}`)
		wantStatus(t, err, 422, metav1.StatusReasonInvalid, "status.clicks: Invalid value: -1: must not be negative")
		if got, err = b.patch("a", "", `{"spec":{"color":"green"},"status":{"phase":"Lost"}}`); err != nil ||
			got.Status.Phase != "Done" || got.Generation != 2 {
			t.Errorf("an update of the object took %+v, %v", got, err)
		}
	})
}

func TestPatch(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		b.create(`{"metadata":{"name":"a","labels":{"x":"1","y":"2"}},"spec":{"color":"red","parts":["p"]}}`)
		got, err := b.patch("a", "", `{"metadata":{"labels":{"x":null}},"spec":{"color":"blue"}}`)
		if err != nil || got.Spec.Color != "blue" || len(got.Labels) != 1 || got.Generation != 2 {
			t.Errorf("merge: %v %+v", err, got)
		}
		_, err = b.patch("a", "", `[{"op":"test","path":"/spec/color","value":"blue"},{"op":"add",`+
			`"path":"/spec/parts/-","value":"q"},{"op":"copy","from":"/spec/color","path":"/spec/notes","value":{}}]`)
		wantStatus(t, err, 422, metav1.StatusReasonInvalid, "patch: Invalid value")
		got, err = b.patch("a", "", `[{"op":"add","path":"/spec/parts/-","value":"q"},{"op":"copy",`+
			`"from":"/spec/color","path":"/spec/parts/0"}]`)
		if err != nil || fmt.Sprint(got.Spec.Parts) != "[blue p q]" {
			t.Errorf("JSON: %v %+v", err, got)
		}
		if same, err := b.patch("a", "", `{}`); err != nil || same.ResourceVersion != got.ResourceVersion {
			t.Errorf("an empty patch wrote: %v %+v", err, same)
		}
		r, err := b.Patch(b.ctx(), "ns", "a", "", verb.MergePatch, verb.Body{Version: "v1beta1",
			Data: []byte(`{"spec":{"parts":"m,n","colour":"pink"}}`)}, verb.WriteOptions{Form: v1beta1})
		if err != nil || !strings.Contains(whole(r.Object), `"spec":{"colour":"pink","size":1,"parts":"m,n"}`) {
			t.Errorf("v1beta1: %v %s", err, whole(r.Object))
		}
	})
}

// copies are operations each of which doubles the spec.
func copies(n int) (operations string) {
	for i := range n {
		operations += fmt.Sprintf(`{"op":"copy","from":"/spec","path":"/spec/notes/b%d"},`, i)
	}
	return operations
}

func TestPatchRefuses(t *testing.T) {
	cases := map[string]struct {
		name, patch string
		code        int32
		reason      metav1.StatusReason
		message     string
	}{
		"an absent object": {"nope", `{}`, 404, metav1.StatusReasonNotFound,
			`widgets.shop.example.com "nope" not found`},
		"what is no JSON": {"a", `{`, 400, metav1.StatusReasonBadRequest, "error decoding patch"},
		"an unknown field": {"a", `{"bogus":1}`, 422, metav1.StatusReasonInvalid,
			`strict decoding error: unknown field "bogus"`},
		"a wrong type": {"a", `{"spec":{"size":"x"}}`, 422, metav1.StatusReasonInvalid,
			"patch: Invalid value"},
		"another resourceVersion": {"a", `{"metadata":{"resourceVersion":"1"}}`, 409, metav1.StatusReasonConflict,
			"the object has been modified"},
		"another uid": {"a", `{"metadata":{"uid":"x"}}`, 422, metav1.StatusReasonInvalid,
			"metadata.uid: Invalid value: \"x\": field is immutable"},
		"another name": {"a", `{"metadata":{"name":"b"}}`, 400, metav1.StatusReasonBadRequest,
			"the name of the object (b) does not match the name on the URL (a)"},
		"another kind": {"a", `{"kind":"Gadget"}`, 422, metav1.StatusReasonInvalid,
			"patch: Invalid value"},
		"no apiVersion": {"a", `{"apiVersion":null,"spec":{"size":9}}`, 400, metav1.StatusReasonBadRequest,
			"Object 'apiVersion' is missing"},
		"an empty apiVersion": {"a", `{"apiVersion":""}`, 400, metav1.StatusReasonBadRequest,
			"Object 'apiVersion' is missing"},
		"a removed apiVersion": {"a", `[{"op":"remove","path":"/apiVersion"}]`, 400, metav1.StatusReasonBadRequest,
			"Object 'apiVersion' is missing"},
		"nothing at all": {"a", `[{"op":"replace","path":"","value":{}}]`, 400,
			metav1.StatusReasonBadRequest, "name must be provided"},
		"what the strategy refuses": {"a", `{"spec":{"size":-1}}`, 422, metav1.StatusReasonInvalid,
			"spec.size: Invalid value: -1"},
		"a failing test": {"a", `[{"op":"test","path":"/kind","value":"x"}]`, 422, metav1.StatusReasonInvalid,
			""},
		"an index out of range": {"a", `[{"op":"add","path":"/spec/parts/99999999999","value":"d"}]`, 422,
			metav1.StatusReasonInvalid, ""},
		"a scalar as the object": {"a", `[{"op":"replace","path":"","value":1}]`, 422, metav1.StatusReasonInvalid, ""},
		"a missing path":         {"a", `[{"op":"remove","path":"/spec/none"}]`, 422, metav1.StatusReasonInvalid, ""},
		"operations without end": {"a", "[" + strings.Repeat(`{"op":"remove","path":"/x"},`, 10000) +
			`{"op":"remove","path":"/x"}]`, 413, metav1.StatusReasonRequestEntityTooLarge,
			"The allowed maximum operations in a JSON patch is 10000, got 10001"},
		"copies without end": {"a", `[{"op":"add","path":"/spec/notes","value":{"a":"` + strings.Repeat("x", 100_000) +
			`"}},` +
			copies(40) + `{"op":"remove","path":"/spec/notes"}]`, 413, metav1.StatusReasonRequestEntityTooLarge,
			"copy operations"},
	}
	both(t, func(t *testing.T, b *bench) {
		b.create(`{"metadata":{"name":"a"},"spec":{"parts":["p"]}}`)
		for name, c := range cases {
			_, err := b.patch(c.name, "", c.patch)
			t.Run(name, func(t *testing.T) { wantStatus(t, err, c.code, c.reason, c.message) })
		}
		for _, patch := range []string{`{"kind":null}`, `[{"op":"remove","path":"/kind"}]`} {
			if w, err := b.patch("a", "", patch); err != nil || w.Kind != "Widget" {
				t.Errorf("%s: the path tells the kind: %v %+v", patch, err, w)
			}
		}
	})
}

func TestStrategyHooks(t *testing.T) {
	var calls []string
	d := shop.Definition()
	d.Strategy = registry.Strategy[*shop.Widget]{
		PrepareForCreate: func(_ ctxT, w *shop.Widget) { calls = append(calls, "prepare"); w.Phase = "New" },
		PrepareForUpdate: func(_ ctxT, w, old *shop.Widget) { calls = append(calls, "prepare "+old.Color+"-"+w.Color) },
		Validate: func(_ ctxT, w *shop.Widget) field.ErrorList {
			calls = append(calls,
				"validate")
			return nil
		},
		ValidateUpdate: func(_ ctxT, w, old *shop.Widget) field.ErrorList {
			calls = append(calls,
				"validateUpdate")
			return nil
		},
		Canonicalize: func(w *shop.Widget) {
			calls = append(calls,
				"canonicalize")
			w.Color = strings.ToLower(w.Color)
		},
		Warnings:     func(_ ctxT, w, old *shop.Widget) []string { calls = append(calls, "warn"); return nil },
		ValidateName: func(name string, generated bool) []string { return nil },
	}
	b := open(t, registry.New(d), false)
	w := b.create(`{"metadata":{"name":"Any_Name"},"spec":{"color":"RED"}}`)
	if w.Spec.Color != "red" || w.Status.Phase != "New" ||
		strings.Join(calls, " ") != "prepare validate warn canonicalize" {
		t.Errorf("%v %+v", calls, w)
	}
	calls = nil
	if _, err := b.patch("Any_Name", "", `{"spec":{"color":"BLUE"}}`); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(calls, " "); got != "prepare red-BLUE validate validateUpdate warn canonicalize" {
		t.Error(got)
	}
	_, err := b.Create(b.ctx(), "ns", body(`{"metadata":{"name":"../x"}}`), verb.WriteOptions{Form: v1})
	wantStatus(t, err, 422, metav1.StatusReasonInvalid, "metadata.name: Invalid value")
}

func TestClusterScope(t *testing.T) {
	b := open(t, registry.New(shop.Gadgets()), true)
	r, err := b.Create(b.ctx(), "", body(`{"metadata":{"name":"a","namespace":"ns"},"spec":{"power":3}}`),
		verb.WriteOptions{Form: v1})
	if err != nil || !strings.HasPrefix(whole(r.Object), `{"kind":"Gadget","apiVersion":"shop.example.com/v1",`+
		`"metadata":{"name":"a","uid":`) {
		t.Fatal(err, whole(r.Object))
	}
	kv, _, _ := b.backend.Get(b.ctx(), "/registry/shop.example.com/gadgets/a", storage.GetOptions{})
	if kv == nil {
		t.Error("the key of a cluster-scoped object is not where it belongs")
	}
	page, err := b.List(b.ctx(), "", verb.ListOptions{}, verb.Form{Version: "v1", Shape: verb.Metadata})
	if err != nil || page.Len != 1 {
		t.Fatal(page, err)
	}
	page.Close()
}
