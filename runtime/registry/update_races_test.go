package registry_test

import (
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/memory"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A PUT that creates doesn't ask which state it was made from: that is gone.
func TestCreateOnUpdateOfAnOlderState(t *testing.T) {
	d := shop.Definition()
	d.Strategy.AllowCreateOnUpdate = true
	for _, cached := range []bool{true, false} {
		b := open(t, registry.New(d), cached)
		r, err := b.Update(b.ctx(), "ns", "a", "", body(`{"metadata":{"name":"a","resourceVersion":"7"}}`),
			verb.WriteOptions{Form: v1})
		if w := b.parse(r.Object); err != nil || !r.Created || w.ResourceVersion == "7" {
			t.Fatalf("%v %+v", err, r)
		}
		_, err = b.Update(b.ctx(), "ns", "b", "", body(`{"metadata":{"name":"b","resourceVersion":"x"}}`),
			verb.WriteOptions{Form: v1})
		wantStatus(t, err, 400, metav1.StatusReasonBadRequest, "invalid resource version")
	}
}

// Objects keep the names that they have: a rule that came later is for new ones.
func TestUpdateUnderAnOlderName(t *testing.T) {
	backend := memory.New()
	before := shop.Definition()
	before.Strategy.ValidateName = func(string, bool) []string { return nil }
	b := openOver(t, backend, registry.New(before), registry.Config{DisableCache: true})
	b.create(`{"metadata":{"name":"Old_Name","generateName":"Old_"},"spec":{"size":1}}`)
	b = openOver(t, backend, registry.New(shop.Definition()), registry.Config{DisableCache: true})
	if w, err := b.patch("Old_Name", "", `{"spec":{"size":2}}`); err != nil || w.Spec.Size != 2 {
		t.Errorf("%+v, %v", w, err)
	}
	if _, err := b.Update(b.ctx(), "ns", "Old_Name", "", body(`{"metadata":{"name":"Old_Name"},"spec":{"size":3}}`),
		verb.WriteOptions{Form: v1}); err != nil {
		t.Error(err)
	}
	_, err := b.Create(b.ctx(), "ns", body(`{"metadata":{"name":"New_Name"}}`), verb.WriteOptions{Form: v1})
	wantStatus(t, err, 422, metav1.StatusReasonInvalid, "metadata.name: Invalid value")
}

// Who gives a generateName beside a name that is taken is told as if the server had picked it.
func TestTakenNameBesideGenerateName(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		b.create(`{"metadata":{"name":"a","finalizers":["a.example.com/b"]}}`)
		const taken = `widgets.shop.example.com "a" already exists, the server was not able to generate a unique ` +
			`name for the object`
		create := func() error {
			_, err := b.Create(b.ctx(), "ns", body(`{"metadata":{"name":"a","generateName":"b-"}}`),
				verb.WriteOptions{Form: v1})
			return err
		}
		if s := wantStatus(t, create(), 409, metav1.StatusReasonAlreadyExists, taken); s.Message != taken {
			t.Errorf("%q", s.Message)
		}
		if _, err := b.Delete(b.ctx(), "ns", "a",
			verb.DeleteOptions{WriteOptions: verb.WriteOptions{Form: v1}}); err != nil {
			t.Fatal(err)
		}
		wantStatus(t, create(), 409, metav1.StatusReasonAlreadyExists, "object is being deleted: "+taken)
	})
}

// Owners that stand twice are told of on every write, in kube-apiserver's words for each.
func TestOwnersThatStandTwice(t *testing.T) {
	const owners = `"ownerReferences":[{"apiVersion":"v1","kind":"A","name":"a","uid":"u"},{"apiVersion":"v1",` +
		`"kind":"A","name":"a","uid":"u"}]`
	both(t, func(t *testing.T, b *bench) {
		b.create(`{"metadata":{"name":"a"}}`)
		check := func(what, begin string, r verb.Result, err error) {
			t.Helper()
			if err != nil || !slices.ContainsFunc(r.Warnings, func(w string) bool {
				return strings.HasPrefix(w, ".metadata.ownerReferences contains duplicate entries"+begin)
			}) {
				t.Errorf("%s: warnings %q, %v", what, r.Warnings, err)
			}
		}
		opts := verb.WriteOptions{Form: v1, FieldManager: "m"}
		object := body(`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"a",` + owners + `}}`)
		r, err := b.Update(b.ctx(), "ns", "a", "", object, opts)
		check("update", "; API server", r, err)
		r, err = b.Update(b.ctx(), "ns", "a", "status", object, opts)
		check("update of the status", "; API server", r, err)
		patch := body(`{"metadata":{` + owners + `}}`)
		r, err = b.Patch(b.ctx(), "ns", "a", "", verb.MergePatch, patch, opts)
		check("patch", " after mutating admission happens; API server", r, err)
		r, err = b.Patch(b.ctx(), "ns", "a", "status", verb.MergePatch, patch, opts)
		check("patch of the status", " after mutating admission happens; API server", r, err)
	})
}
