package registry_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// config is a v1 widget named a as clients apply it: more of its metadata, and its other members.
func config(metadata, members string) string {
	return `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"a"` + metadata + `}` + members + `}`
}

func (b *bench) apply(manager, data string, force bool) (verb.Result, error) {
	return b.applyTo("", manager, data, force)
}

func (b *bench) applyTo(subresource, manager, data string, force bool) (verb.Result, error) {
	opts := verb.WriteOptions{Form: v1, FieldManager: manager, Force: force}
	return b.Patch(b.ctx(), "ns", "a", subresource, verb.ApplyPatch, body(data), opts)
}

func (b *bench) applied(manager, data string) *shop.WidgetV1 {
	b.Helper()
	r, err := b.apply(manager, data, false)
	if err != nil {
		b.Fatal(err)
	}
	return b.parse(r.Object)
}

// ownersOf is who owns what, without times.
func ownersOf(w *shop.WidgetV1) string {
	var all []string
	for _, m := range w.ManagedFields {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", m.Manager, m.Operation,
			m.FieldsV1.GetRawString(), m.Subresource)))
	}
	return strings.Join(all, "\n")
}

func wantOwners(t testing.TB, w *shop.WidgetV1, want ...string) {
	t.Helper()
	if got := ownersOf(w); got != strings.Join(want, "\n") {
		t.Errorf("owners:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}

func TestApplyCreates(t *testing.T) {
	b := openSchema(t)
	r, err := b.apply("m", config(`,"labels":{"x":"1"}`,
		`,"spec":{"color":"red","parts":["p"]},"status":{"phase":"Up"}`), false)
	if err != nil || !r.Created {
		t.Fatal(r.Created, err)
	}
	w := b.parse(r.Object)
	if w.UID == "" || w.Generation != 1 || w.Namespace != "ns" || w.Spec.Size != 1 || w.Status.Phase != "" {
		t.Errorf("%+v", w)
	}
	wantOwners(t, w, `m Apply {"f:metadata":{"f:labels":{"f:x":{}}},"f:spec":{"f:color":{},"f:parts":{"v:\"p\"":{}}}}`)
	if at := w.ManagedFields[0].Time; at == nil || time.Since(at.Time) > time.Minute ||
		w.ManagedFields[0].APIVersion != "shop.example.com/v1" {
		t.Errorf("%+v", w.ManagedFields[0])
	}
	if got := b.get("a"); got.ResourceVersion != w.ResourceVersion || ownersOf(got) != ownersOf(w) {
		t.Errorf("read: %+v", got)
	}
	if r, err = b.apply("m", config(``, `,"spec":{"color":"blue"}`), false); err != nil || r.Created {
		t.Fatal(r.Created, err)
	}
}

func TestApplyLeavesOutWhatIsNotApplied(t *testing.T) {
	b := openSchema(t)
	b.applied("m", config(`,"labels":{"x":"1","y":"1"}`, `,"spec":{"color":"red","parts":["p","q"],"notes":{"k":"v"}}`))
	b.applied("n", config(`,"labels":{"x":"1"}`, `,"spec":{"parts":["q","r"]}`))
	w := b.applied("m", config(``, `,"spec":{"size":4}`))
	if w.Labels["x"] != "1" || w.Labels["y"] != "" || w.Spec.Color != "" || strings.Join(w.Spec.Parts, "") != "qr" ||
		w.Spec.Notes != nil || w.Spec.Size != 4 {
		t.Errorf("%+v", w)
	}
	wantOwners(t, w,
		`m Apply {"f:spec":{"f:size":{}}}`,
		`n Apply {"f:metadata":{"f:labels":{"f:x":{}}},"f:spec":{"f:parts":{"v:\"q\"":{},"v:\"r\"":{}}}}`)
}

func TestApplyConflicts(t *testing.T) {
	b := openSchema(t)
	b.applied("m", config(``, `,"spec":{"color":"red","notes":{"k":"1"}}`))
	_, err := b.apply("n", config(``, `,"spec":{"color":"blue"}`), false)
	s := wantStatus(t, err, 409, metav1.StatusReasonConflict, `Apply failed with 1 conflict: conflict with "m": `+
		`.spec.color`)
	want := metav1.StatusCause{Type: metav1.CauseTypeFieldManagerConflict, Message: `conflict with "m"`,
		Field: ".spec.color"}
	if len(s.Details.Causes) != 1 || s.Details.Causes[0] != want {
		t.Errorf("%+v", s.Details)
	}

	opts := verb.WriteOptions{Form: v1, FieldManager: "edit"}
	if _, err := b.Patch(b.ctx(), "ns", "a", "", verb.MergePatch, body(`{"spec":{"size":5}}`), opts); err != nil {
		t.Fatal(err)
	}
	_, err = b.apply("n", config(``, `,"spec":{"color":"blue","size":6,"notes":{"k":"2"}}`), false)
	wantStatus(t, err, 409, metav1.StatusReasonConflict,
		"Apply failed with 3 conflicts: conflicts with \"edit\" using shop.example.com/v1:\n- "+
			".spec.size\nconflicts with \"m\":\n- .spec.color\n- .spec.notes.k")
	if w := b.get("a"); w.Spec.Color != "red" || w.Spec.Size != 5 {
		t.Errorf("a conflict changed %+v", w.Spec)
	}

	r, err := b.apply("n", config(``, `,"spec":{"color":"blue","size":6,"notes":{"k":"2"}}`), true)
	if err != nil {
		t.Fatal(err)
	}
	w := b.parse(r.Object)
	if w.Spec.Color != "blue" || w.Spec.Size != 6 || w.Spec.Notes["k"] != "2" {
		t.Errorf("%+v", w.Spec)
	}
	wantOwners(t, w, `n Apply {"f:spec":{"f:color":{},"f:notes":{"f:k":{}},"f:size":{}}}`)
}

func TestRefusedApplies(t *testing.T) {
	cases := map[string]struct {
		data    string
		absent  bool
		code    int32
		reason  metav1.StatusReason
		message string
	}{
		"managedFields": {config(`,"managedFields":[]`, ``), false, 400, metav1.StatusReasonBadRequest,
			"metadata.managedFields must be nil"},
		"no type": {`{"metadata":{"name":"a"}}`, false, 400, metav1.StatusReasonBadRequest,
			"invalid object type: /, Kind="},
		"null": {`null`, false, 400, metav1.StatusReasonBadRequest, "invalid object type: /, Kind="},
		"other version": {strings.Replace(config(``, ``), "/v1", "/v1beta1", 1), false, 400,
			metav1.StatusReasonBadRequest, "invalid object type: shop.example.com/v1beta1, Kind=Widget"},
		"other kind": {strings.Replace(config(``, ``), "Widget", "Gadget", 1), true, 400,
			metav1.StatusReasonBadRequest, "invalid object type: shop.example.com/v1, Kind=Gadget"},
		"no JSON": {`{`, false, 400, metav1.StatusReasonBadRequest, "error decoding patch: "},
		"a list":  {`[]`, false, 400, metav1.StatusReasonBadRequest, "error decoding patch: "},
		"other name": {strings.Replace(config(``, ``), `"a"`, `"b"`, 1), false, 400,
			metav1.StatusReasonBadRequest, "the name of the object (b) does not match the name on the URL (a)"},
		"no name": {strings.Replace(config(``, ``), `"name":"a"`, ``, 1), true, 400,
			metav1.StatusReasonBadRequest, "name must be provided"},
		"other namespace": {config(`,"namespace":"other"`, ``), false, 400, metav1.StatusReasonBadRequest,
			"the namespace of the provided object does not match"},
		"unknown field": {config(``, `,"spec":{"colour":"red"}`), false, 400, metav1.StatusReasonBadRequest,
			"failed to create typed patch object (/a; shop.example.com/v1, Kind=Widget): .spec.colour: field not " +
				"declared in schema"},
		"wrong type": {config(``, `,"spec":{"size":"big"}`), false, 400, metav1.StatusReasonBadRequest,
			".spec.size: expected numeric"},
		"fraction": {config(``, `,"spec":{"size":1.5}`), false, 400, metav1.StatusReasonBadRequest,
			"cannot unmarshal number 1.5 into Go struct field SpecV1.spec.size of type int64"},
		"huge number": {config(``, `,"spec":{"size":1e300}`), false, 400, metav1.StatusReasonBadRequest,
			"cannot unmarshal number 1e+300"},
		"twice in a set": {config(``, `,"spec":{"parts":["p","p"]}`), false, 400, metav1.StatusReasonBadRequest,
			`.spec.parts: duplicate entries for key [="p"]`},
		"metadata is text": {strings.Replace(config(``, ``), `{"name":"a"}`, `"a"`, 1), false, 400,
			metav1.StatusReasonBadRequest, ""},
		"invalid": {config(``, `,"spec":{"size":-1}`), false, 422, metav1.StatusReasonInvalid,
			"must not be negative"},
		"stale": {config(`,"resourceVersion":"1"`, ``), false, 409, metav1.StatusReasonConflict,
			"the object has been modified"},
		"other uid": {config(`,"uid":"u"`, ``), false, 422, metav1.StatusReasonInvalid,
			"metadata.uid: Invalid value"},
		"uid of nothing": {config(`,"uid":"u"`, ``), true, 409, metav1.StatusReasonConflict,
			"uid mismatch: the provided object specified uid u, and no existing object was found"},
		"no version": {config(`,"resourceVersion":"abc"`, ``), true, 400, metav1.StatusReasonBadRequest,
			`resourceVersion: Invalid value: "abc"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := openSchema(t)
			if !c.absent {
				b.applied("other", config(``, `,"spec":{"color":"red"}`))
			}
			_, err := b.apply("m", c.data, true)
			wantStatus(t, err, c.code, c.reason, c.message)
			if _, err := b.Get(b.ctx(), "ns", "a", "", v1); apierrors.IsNotFound(err) != c.absent {
				t.Error(err)
			}
		})
	}
}

func TestApplyTwiceWritesOnce(t *testing.T) {
	b := openSchema(t)
	first := b.applied("m", config(``, `,"spec":{"color":"red"}`))
	if again := b.applied("m", config(``, `,"spec":{"color":"red"}`)); again.ResourceVersion != first.ResourceVersion {
		t.Errorf("written at %s, then %s", first.ResourceVersion, again.ResourceVersion)
	}
	// Another manager who wants the same is noted.
	if shared := b.applied("n",
		config(``, `,"spec":{"color":"red"}`)); shared.ResourceVersion == first.ResourceVersion ||
		len(shared.ManagedFields) != 2 {
		t.Errorf("%+v", shared)
	}
}

func TestDryApplyLeavesNoTrace(t *testing.T) {
	b := openSchema(t)
	opts := verb.WriteOptions{Form: v1, FieldManager: "m", DryRun: true}
	r, err := b.Patch(b.ctx(), "ns", "a", "", verb.ApplyPatch, body(config(``, `,"spec":{"color":"red"}`)), opts)
	if err != nil || !r.Created || b.parse(r.Object).Spec.Color != "red" {
		t.Fatal(err, r)
	}
	if _, err := b.Get(b.ctx(), "ns", "a", "", v1); !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	first := b.applied("m", config(``, `,"spec":{"color":"red"}`))
	if _, err := b.Patch(b.ctx(), "ns", "a", "", verb.ApplyPatch, body(config(``, `,"spec":{"color":"blue"}`)),
		opts); err != nil {
		t.Fatal(err)
	}
	if w := b.get("a"); w.ResourceVersion != first.ResourceVersion || w.Spec.Color != "red" {
		t.Errorf("%+v", w)
	}
}

func TestApplyToSubresources(t *testing.T) {
	b := openSchema(t)
	_, err := b.applyTo("status", "m", config(``, `,"status":{"phase":"Up"}`), false)
	wantStatus(t, err, 404, metav1.StatusReasonNotFound, `widgets.shop.example.com "a" not found`)
	b.applied("m", config(``, `,"spec":{"color":"red"}`))
	r, err := b.applyTo("status", "s", config(`,"labels":{"x":"1"}`,
		`,"spec":{"color":"blue"},"status":{"phase":"Up"}`), true)
	if err != nil {
		t.Fatal(err)
	}
	w := b.parse(r.Object)
	if w.Status.Phase != "Up" || w.Spec.Color != "red" || w.Labels != nil || w.Generation != 1 {
		t.Errorf("%+v", w)
	}
	wantOwners(t, w, `m Apply {"f:spec":{"f:color":{}}}`, `s Apply {"f:status":{"f:phase":{}}} status`)

	_, err = b.applyTo("status", "m", config(``, `,"status":{"phase":"Down"}`), false)
	wantStatus(t, err, 409, metav1.StatusReasonConflict, `conflict with "s" with subresource "status": .status.phase`)
	// The object itself can't set the status, and so doesn't conflict about it.
	w = b.applied("m", config(``, `,"spec":{"color":"red"},"status":{"phase":"Down"}`))
	if w.Status.Phase != "Up" {
		t.Errorf("%+v", w.Status)
	}
	wantOwners(t, w, `m Apply {"f:spec":{"f:color":{}}}`, `s Apply {"f:status":{"f:phase":{}}} status`)
}

func TestApplyAcrossVersions(t *testing.T) {
	b := openSchema(t)
	b.applied("m", config(``, `,"spec":{"color":"red","parts":["p","q"]}`))
	old := strings.Replace(config(``, `,"spec":{"colour":"blue"}`), "/v1", "/v1beta1", 1)
	form := verb.Form{Version: "v1beta1"}
	opts := verb.WriteOptions{Form: form, FieldManager: "o"}
	_, err := b.Patch(b.ctx(), "ns", "a", "", verb.ApplyPatch, versioned("v1beta1", old), opts)
	wantStatus(t, err, 409, metav1.StatusReasonConflict, `conflict with "m": .spec.color`)
	opts.Force = true
	if _, err := b.Patch(b.ctx(), "ns", "a", "", verb.ApplyPatch, versioned("v1beta1", old), opts); err != nil {
		t.Fatal(err)
	}
	w := b.get("a")
	wantOwners(t, w, `m Apply {"f:spec":{"f:parts":{"v:\"p\"":{},"v:\"q\"":{}}}}`, `o Apply {"f:spec":{"f:colour":{}}}`)
	if w.Spec.Color != "blue" || w.ManagedFields[1].APIVersion != "shop.example.com/v1beta1" {
		t.Errorf("%+v", w)
	}
}

func TestManagedFieldsOfUpdates(t *testing.T) {
	b := openSchema(t)
	put := func(manager, data string) *shop.WidgetV1 {
		t.Helper()
		r, err := b.Update(b.ctx(), "ns", "a", "", body(data), verb.WriteOptions{Form: v1, FieldManager: manager})
		if err != nil {
			t.Fatal(err)
		}
		return b.parse(r.Object)
	}
	r, err := b.Create(b.ctx(), "ns", body(config(``, `,"spec":{"color":"red","size":2}`)), verb.WriteOptions{Form: v1,
		FieldManager: "m"})
	if err != nil {
		t.Fatal(err)
	}
	wantOwners(t, b.parse(r.Object), `m Update {"f:spec":{"f:color":{},"f:size":{}}}`)
	wantOwners(t, put("n", config(``, `,"spec":{"color":"blue","size":2}`)), `m Update {"f:spec":{"f:size":{}}}`,
		`n Update {"f:spec":{"f:color":{}}}`)
	// Nothing changed, nothing owned, nothing written.
	before := b.get("a").ResourceVersion
	w := put("o", config(``, `,"spec":{"color":"blue","size":2}`))
	wantOwners(t, w, `m Update {"f:spec":{"f:size":{}}}`, `n Update {"f:spec":{"f:color":{}}}`)
	if w.ResourceVersion != before {
		t.Error("an update that changes nothing was written")
	}
	// What is gone is owned by nobody.
	wantOwners(t, put("o", config(``, `,"spec":{"size":2}`)), `m Update {"f:spec":{"f:size":{}}}`)
	// A client may write owners itself, and forget them all.
	entry := `{"manager":"x","operation":"Apply","apiVersion":"shop.example.com/v1","fieldsType":"FieldsV1",` +
		`"fieldsV1":{"f:spec":{"f:size":{}}}}`
	wantOwners(t, put("o", config(`,"managedFields":[`+entry+`]`, `,"spec":{"size":2}`)),
		`x Apply {"f:spec":{"f:size":{}}}`)
	wantOwners(t, put("o", config(`,"managedFields":[{"manager":"broken"}]`, `,"spec":{"size":2}`)),
		`x Apply {"f:spec":{"f:size":{}}}`)
	if w = put("o", config(`,"managedFields":[{}]`, `,"spec":{"size":3}`)); w.ManagedFields != nil {
		t.Errorf("%+v", w.ManagedFields)
	}
	// From then on nobody is noted, until somebody applies.
	if w = put("o", config(``, `,"spec":{"size":4}`)); w.ManagedFields != nil {
		t.Errorf("%+v", w.ManagedFields)
	}
	wantOwners(t, b.applied("m", config(``, `,"spec":{"color":"red"}`)), `m Apply {"f:spec":{"f:color":{}}}`,
		`before-first-apply Update {"f:spec":{"f:size":{}}}`)
}

func TestUpdatersAreCapped(t *testing.T) {
	b, p := openSchema(t), newPeer(t)
	data := config(``, `,"spec":{"notes":{"n":"0"}}`)
	if _, err := b.Create(b.ctx(), "ns", body(data), verb.WriteOptions{Form: v1, FieldManager: "first"}); err != nil {
		t.Fatal(err)
	}
	p.set("v1", "", "first", p.read("v1", []byte(data)))
	for i := range 15 {
		notes := ""
		for k := range i + 1 {
			notes += fmt.Sprintf(`,"n%d":"%d"`, k, k)
		}
		data, manager := config(``, `,"spec":{"notes":{"n":"0"`+notes+`}}`), fmt.Sprintf("m%02d", i)
		if _, err := b.Update(b.ctx(), "ns", "a", "", body(data), verb.WriteOptions{Form: v1,
			FieldManager: manager}); err != nil {
			t.Fatal(err)
		}
		p.set("v1", "", manager, p.read("v1", []byte(data)))
		if got, want := len(b.get("a").ManagedFields), min(i+2, 10); got != want || len(p.live.ManagedFields) != want {
			t.Fatalf("%d updaters after %d updates, want %d", got, i+1, want)
		}
	}
	if !strings.Contains(ownersOf(b.get("a")), "ancient-changes") {
		t.Error(ownersOf(b.get("a")))
	}
}

// kubectl takes over, without a conflict, what it applied on the client's side.
func TestApplyAfterClientSideApply(t *testing.T) {
	b := openSchema(t)
	last := `{\"apiVersion\":\"shop.example.com/v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"a\"},` +
		`\"spec\":{\"color\":\"red\"}}`
	annotated := config(`,"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"`+last+`"}`,
		`,"spec":{"color":"red","size":2}`)
	if _, err := b.Create(b.ctx(), "ns", body(annotated), verb.WriteOptions{Form: v1,
		FieldManager: "kubectl-client-side-apply"}); err != nil {
		t.Fatal(err)
	}
	_, err := b.apply("other", config(``, `,"spec":{"color":"blue"}`), false)
	wantStatus(t, err, 409, metav1.StatusReasonConflict, `conflict with "kubectl-client-side-apply" using `+
		`shop.example.com/v1: .spec.color`)
	// It didn't apply size.
	_, err = b.apply("kubectl", config(``, `,"spec":{"color":"blue","size":3}`), false)
	wantStatus(t, err, 409, metav1.StatusReasonConflict, "Apply failed with 1 conflict: conflict with "+
		"\"kubectl-client-side-apply\" using shop.example.com/v1: .spec.size")
	w := b.applied("kubectl", config(``, `,"spec":{"color":"blue"}`))
	if want := config(``, `,"spec":{"color":"blue"}`) +
		"\n"; w.Annotations["kubectl.kubernetes.io/last-applied-configuration"] != want {
		t.Errorf("%q\nwant %q", w.Annotations, want)
	}
}

// overtaken lets somebody else write just before a write.
type overtaken struct {
	storage.Backend
	before func()
}

func (r *overtaken) Put(ctx ctxT, key string, value []byte, expect int64, ttl durationT) (int64, error) {
	if race := r.before; race != nil {
		r.before = nil
		race()
	}
	return r.Backend.Put(ctx, key, value, expect, ttl)
}

func TestApplyIsTriedAgain(t *testing.T) {
	backend := &overtaken{Backend: memory.New()}
	b := openOver(t, backend, registry.New(shop.Definition()), registry.Config{Schemas: documents()})
	b.applied("m", config(``, `,"spec":{"color":"red"}`))
	backend.before = func() { b.applied("n", config(``, `,"spec":{"notes":{"k":"v"}}`)) }
	w := b.applied("m", config(``, `,"spec":{"color":"blue"}`))
	if w.Spec.Color != "blue" || w.Spec.Notes["k"] != "v" || len(w.ManagedFields) != 2 {
		t.Errorf("%+v", w)
	}
	// Two who create at once: one creates, the other merges.
	if _, err := b.delete("a", verb.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	backend.before = func() { b.applied("n", config(``, `,"spec":{"size":9}`)) }
	r, err := b.apply("m", config(``, `,"spec":{"color":"blue"}`), false)
	if err != nil || r.Created {
		t.Fatal(r.Created, err)
	}
	if w = b.parse(r.Object); w.Spec.Color != "blue" || w.Spec.Size != 9 {
		t.Errorf("%+v", w)
	}
}

func TestBrokenSchemasAreTold(t *testing.T) {
	b := openOver(t, memory.New(), registry.New(shop.Definition()), registry.Config{Schemas: brokenDocuments()})
	_, err := b.apply("m", config(``, ``), false)
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != 500 || !strings.Contains(err.Error(),
		"the OpenAPI document of shop.example.com/v1") {
		t.Error(err)
	}
}

// An apply that, once defaulted, changes nothing but when it was done is not written.
func TestTimesAloneAreNotWritten(t *testing.T) {
	b := openSchema(t)
	data := config(``, `,"spec":{"color":"red","size":0}`)
	b.applied("m", data)
	entry := `{"manager":"m","operation":"Apply","apiVersion":"shop.example.com/v1","time":"2020-01-01T00:00:00Z",` +
		`"fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:color":{},"f:size":{}}}}`
	r, err := b.Update(b.ctx(), "ns", "a", "",
		body(config(`,"managedFields":[`+entry+`]`, `,"spec":{"color":"red","notes":{"k":"v"}}`)),
		verb.WriteOptions{Form: v1, FieldManager: "p"})
	if err != nil {
		t.Fatal(err)
	}
	before := b.parse(r.Object)
	if before.Spec.Size != 1 || len(before.ManagedFields) != 2 || before.ManagedFields[0].Time.Year() != 2020 {
		t.Fatalf("%+v", before)
	}
	after := b.applied("m", data)
	if after.ResourceVersion != before.ResourceVersion || after.ManagedFields[0].Time.Year() != 2020 {
		t.Errorf("written at %s, then at %s: %+v", before.ResourceVersion, after.ResourceVersion, after.ManagedFields)
	}
	if after = b.applied("m",
		config(``, `,"spec":{"color":"blue","size":0}`)); after.ManagedFields[0].Time.Year() == 2020 {
		t.Errorf("%+v", after.ManagedFields)
	}
}
