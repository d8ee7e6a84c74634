package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/registry/internal/shop"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	v1      = api.Form{Version: "v1"}
	v1beta1 = api.Form{Version: "v1beta1"}
)

// bench is an open resource over a memory backend.
type bench struct {
	testing.TB
	backend storage.Backend
	registry.Handle
}

func (b *bench) ctx() context.Context { return b.TB.Context() }

// open opens a resource; it is closed with the test.
func open(t testing.TB, resource registry.Resource, cached bool) *bench {
	t.Helper()
	b := &bench{TB: t, backend: memory.New()}
	h, err := resource.Open(registry.Config{Backend: b.backend, Prefix: "/registry", DisableCache: !cached})
	if err != nil {
		t.Fatal(err)
	}
	b.Handle = h
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		b.backend.Close()
	})
	b.wait()
	return b
}

// wait returns once reads are served from memory.
func (b *bench) wait() { b.Helper(); waitFor(b, b.Ready) }

func waitFor(t testing.TB, ready func() error) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); ready() != nil; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal(ready())
		}
	}
}

// both runs a test with the cache in front and over the bare backend.
func both(t *testing.T, test func(t *testing.T, b *bench)) {
	t.Helper()
	for name, cached := range map[string]bool{"cache": true, "bare": false} {
		t.Run(name, func(t *testing.T) { test(t, open(t, registry.New(shop.Definition()), cached)) })
	}
}

func body(data string) registry.Body {
	return registry.Body{Version: "v1", Data: []byte(data), Validation: metav1.FieldValidationStrict}
}

func whole(r api.Rendition) string { return "{" + r.Head + string(r.Payload) }

// parse decodes a rendition as a v1 Widget.
func (b *bench) parse(r api.Rendition) *shop.WidgetV1 {
	b.Helper()
	var w shop.WidgetV1
	if err := json.Unmarshal([]byte(whole(r)), &w); err != nil {
		b.Fatalf("%v in %s", err, whole(r))
	}
	if r.VersionLen > 0 {
		if got := string(r.Payload[r.VersionAt : r.VersionAt+r.VersionLen]); got != w.ResourceVersion {
			b.Fatalf("the offset of resourceVersion shows %q in %s", got, whole(r))
		}
	}
	return &w
}

func (b *bench) create(data string) *shop.WidgetV1 {
	b.Helper()
	r, err := b.Create(b.ctx(), "ns", body(data), registry.WriteOptions{Form: v1})
	if err != nil {
		b.Fatal(err)
	}
	return b.parse(r.Object)
}

func (b *bench) get(name string) *shop.WidgetV1 {
	b.Helper()
	r, err := b.Get(b.ctx(), "ns", name, "", v1)
	if err != nil {
		b.Fatal(err)
	}
	return b.parse(r)
}

func (b *bench) update(name string, w *shop.WidgetV1) (*shop.WidgetV1, error) {
	data, err := json.Marshal(w)
	if err != nil {
		b.Fatal(err)
	}
	r, err := b.Update(b.ctx(), "ns", name, "", body(string(data)), registry.WriteOptions{Form: v1})
	if err != nil {
		return nil, err
	}
	return b.parse(r.Object), nil
}

func (b *bench) patch(name, subresource, patch string) (*shop.WidgetV1, error) {
	kind := registry.MergePatch
	if strings.HasPrefix(patch, "[") {
		kind = registry.JSONPatch
	}
	r, err := b.Patch(b.ctx(), "ns", name, subresource, kind, body(patch), registry.WriteOptions{Form: v1})
	if err != nil {
		return nil, err
	}
	return b.parse(r.Object), nil
}

func (b *bench) delete(name string, opts registry.DeleteOptions) (registry.Deletion, error) {
	opts.Form = v1
	return b.Delete(b.ctx(), "ns", name, opts)
}

// wantStatus checks code, reason and a part of the message.
func wantStatus(t testing.TB, err error, code int32, reason metav1.StatusReason, message string) *metav1.Status {
	t.Helper()
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		t.Fatalf("got %v, want a status %d %s", err, code, reason)
	}
	s := status.Status()
	if s.Code != code || s.Reason != reason || !strings.Contains(s.Message, message) {
		t.Fatalf("got %d %s %q\nwant %d %s %q", s.Code, s.Reason, s.Message, code, reason, message)
	}
	return &s
}

// managed is how the managedFields of a widget are written that one manager without a name made.
func managed(w *shop.WidgetV1, fields string) string {
	return `"managedFields":[{"manager":"unknown","operation":"Update","apiVersion":"shop.example.com/v1","time":"` +
		w.ManagedFields[0].Time.UTC().Format(time.RFC3339) + `","fieldsType":"FieldsV1","fieldsV1":` + fields + `}]`
}

func TestCreateSetsWhatTheServerDecides(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		w := b.create(`{"metadata":{"name":"a","uid":"forged","creationTimestamp":"2001-01-01T00:00:00Z","generation":7,` +
			`"deletionTimestamp":"2001-01-01T00:00:00Z","selfLink":"/x","managedFields":[{"manager":"m"}]},"spec":{"color":"red"},"status":{"phase":"Done"}}`)
		if w.UID == "" || w.UID == "forged" || w.CreationTimestamp.Year() < 2020 || w.Generation != 1 || w.DeletionTimestamp != nil ||
			w.SelfLink != "" || len(w.ManagedFields) != 1 || w.Namespace != "ns" || w.ResourceVersion == "" {
			t.Errorf("metadata: %+v", w.ObjectMeta)
		}
		if w.Status.Phase != "" {
			t.Error("creation set the status")
		}
		if w.Spec.Size != 1 {
			t.Error("the default is missing")
		}
		kv, _, err := b.backend.Get(b.ctx(), "/registry/shop.example.com/widgets/ns/a", storage.GetOptions{})
		if err != nil || kv == nil {
			t.Fatal(kv, err)
		}
		want := `{"kind":"Widget","apiVersion":"shop.example.com/v1","metadata":{"name":"a","namespace":"ns","uid":"` + string(w.UID) +
			`","generation":1,"creationTimestamp":"` + w.CreationTimestamp.UTC().Format(time.RFC3339) + `",` +
			managed(w, `{"f:spec":{"f:color":{},"f:size":{}}}`) + `},"spec":{"color":"red","size":1}}` + "\n"
		if string(kv.Value) != want {
			t.Errorf("stored %s\nwant   %s", kv.Value, want)
		}
		if w.ResourceVersion != strconv.FormatInt(kv.Revision, 10) {
			t.Errorf("resourceVersion %s, stored at %d", w.ResourceVersion, kv.Revision)
		}
		got := b.get("a")
		if got.UID != w.UID || got.ResourceVersion != w.ResourceVersion {
			t.Errorf("got %+v", got)
		}
	})
}

func TestDefinitionsThatContradictThemselves(t *testing.T) {
	cases := map[string]func(d *registry.Definition[*shop.Widget]){
		`the storage version "v3" is not in Versions`: func(d *registry.Definition[*shop.Widget]) { d.Storage = "v3" },
		"version v1 stands twice":                     func(d *registry.Definition[*shop.Widget]) { d.Versions[1] = d.Versions[0] },
		"New is not set":                              func(d *registry.Definition[*shop.Widget]) { d.New = nil },
		"was not made by VersionOf": func(d *registry.Definition[*shop.Widget]) {
			d.Versions[1] = registry.Version[*shop.Widget]{Info: api.VersionInfo{Name: "v2"}}
		},
		"its Conversion has cells for 2 columns":               func(d *registry.Definition[*shop.Widget]) { d.Versions[0].Info.Columns = nil },
		"the Scope \"\" is neither":                            func(d *registry.Definition[*shop.Widget]) { d.Scope = "" },
		`subresource "status": it needs a name of its own`:     func(d *registry.Definition[*shop.Widget]) { d.Subresources[0].Copy = nil },
		`selectable field "spec.color": it needs Path and Val`: func(d *registry.Definition[*shop.Widget]) { d.SelectableFields[0].Value = nil },
	}
	for want, change := range cases {
		d := shop.Definition()
		change(&d)
		_, err := registry.New(d).Open(registry.Config{Backend: openBackend(t), Prefix: "/registry"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
