package registry_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/object/wire"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	v1      = verb.Form{Version: "v1"}
	v1beta1 = verb.Form{Version: "v1beta1"}
)

// bench is an open resource over a memory backend.
type bench struct {
	testing.TB
	backend storage.Backend
	verb.Handle
	transformer store.Transformer
}

func (b *bench) ctx() context.Context { return b.TB.Context() }

// open opens a resource; it is closed with the test.
func open(t testing.TB, resource registry.Resource, cached bool) *bench {
	t.Helper()
	return openOver(t, memory.New(), resource, registry.Config{DisableCache: !cached})
}

// openOver opens a resource over a backend, which is closed with the test, too.
func openOver(t testing.TB, backend storage.Backend, resource registry.Resource, config registry.Config) *bench {
	t.Helper()
	b := &bench{TB: t, backend: backend, transformer: config.Transformer}
	config.Backend, config.Prefix = backend, "/registry"
	if _, measured := t.(*testing.B); !measured {
		// A cache that differs from the backend panics.
		config.Verify, config.CheckCache = true, 100*time.Millisecond
		config.CompressCache = cmp.Or(config.CompressCache, 20*time.Millisecond)
	}
	h, err := resource.Open(t.Context(), config)
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

// stored is what the backend holds under a key, opened.
func (b *bench) stored(key string) (value string, revision int64) {
	b.Helper()
	kv, _, err := b.backend.Get(b.ctx(), key, storage.GetOptions{})
	if err != nil || kv == nil {
		b.Fatalf("%s: %v %v", key, kv, err)
	}
	if b.transformer == nil {
		return string(kv.Value), kv.Revision
	}
	plain, stale, err := b.transformer.Open(key, kv.Value)
	if err != nil || stale {
		b.Fatalf("%s is stored as %q: stale %v, %v", key, kv.Value, stale, err)
	}
	return string(plain), kv.Revision
}

// storedWidget is stored, in JSON also where the widget is stored in protobuf.
func (b *bench) storedWidget(key string) (value string, revision int64) {
	b.Helper()
	value, revision = b.stored(key)
	if !strings.HasPrefix(value, wire.Magic) {
		return value, revision
	}
	message, gvk, err := wire.OpenEnvelope([]byte(value))
	if err != nil {
		b.Fatal(err)
	}
	var w shop.WidgetV1
	if err := w.Unmarshal(message); err != nil {
		b.Fatal(err)
	}
	w.SetGroupVersionKind(gvk)
	return mustJSON(w) + "\n", revision
}

// wait returns once reads are served from memory.
func (b *bench) wait() { b.Helper(); waitFor(b, b.Ready) }

func waitFor(t testing.TB, ready func() error) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(2 * time.Minute); ready() != nil; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal(ready())
		}
	}
}

// both runs a test with the cache in front and over the bare backend, with values in the clear and encrypted, in JSON
// and in protobuf.
func both(t *testing.T, test func(t *testing.T, b *bench)) {
	t.Helper()
	for name, transformer := range map[string]store.Transformer{"": nil, " encrypted": encrypted(t)} {
		for kind, config := range map[string]registry.Config{
			"cache": {}, "bare": {DisableCache: true},
			"cache protobuf": {Encoding: verb.Protobuf}, "bare protobuf": {Encoding: verb.Protobuf, DisableCache: true},
		} {
			if transformer != nil && config.Encoding != verb.JSON {
				continue // the same bytes pass the transformer
			}
			t.Run(kind+name, func(t *testing.T) {
				config.Transformer = transformer
				test(t, openOver(t, memory.New(), registry.New(shop.InProtobuf()), config))
			})
		}
	}
}

func body(data string) verb.Body {
	return verb.Body{Version: "v1", Data: []byte(data), Validation: metav1.FieldValidationStrict}
}

func whole(r verb.Rendition) string { return "{" + r.Head + string(r.Payload) }

// parse decodes a rendition as a v1 Widget.
func (b *bench) parse(r verb.Rendition) *shop.WidgetV1 {
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
	r, err := b.Create(b.ctx(), "ns", body(data), verb.WriteOptions{Form: v1})
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
	r, err := b.Update(b.ctx(), "ns", name, "", body(string(data)), verb.WriteOptions{Form: v1})
	if err != nil {
		return nil, err
	}
	return b.parse(r.Object), nil
}

func (b *bench) patch(name, subresource, patch string) (*shop.WidgetV1, error) {
	kind := verb.MergePatch
	if strings.HasPrefix(patch, "[") {
		kind = verb.JSONPatch
	}
	r, err := b.Patch(b.ctx(), "ns", name, subresource, kind, body(patch), verb.WriteOptions{Form: v1})
	if err != nil {
		return nil, err
	}
	return b.parse(r.Object), nil
}

func (b *bench) delete(name string, opts verb.DeleteOptions) (verb.Deletion, error) {
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
		w := b.create(`{"metadata":{"name":"a","uid":"forged","creationTimestamp":"2001-01-01T00:00:00Z",` +
			`"generation":7,` +
			`"deletionTimestamp":"2001-01-01T00:00:00Z","selfLink":"/x","managedFields":[{"manager":"m"}]},` +
			`"spec":{"color":"red"},"status":{"phase":"Done"}}`)
		if w.UID == "" || w.UID == "forged" || w.CreationTimestamp.Year() < 2020 || w.Generation != 1 ||
			w.DeletionTimestamp != nil ||
			w.SelfLink != "" || len(w.ManagedFields) != 1 || w.Namespace != "ns" || w.ResourceVersion == "" {
			t.Errorf("metadata: %+v", w.ObjectMeta)
		}
		if w.Status.Phase != "" {
			t.Error("creation set the status")
		}
		if w.Spec.Size != 1 {
			t.Error("the default is missing")
		}
		stored, revision := b.storedWidget("/registry/shop.example.com/widgets/ns/a")
		want := `{"kind":"Widget","apiVersion":"shop.example.com/v1","metadata":{"name":"a","namespace":"ns","uid":"` +
			string(w.UID) +
			`","generation":1,"creationTimestamp":"` + w.CreationTimestamp.UTC().Format(time.RFC3339) + `",` +
			managed(w, `{"f:spec":{"f:color":{},"f:size":{}}}`) + `},"spec":{"color":"red","size":1}}` + "\n"
		if stored != want {
			t.Errorf("stored %s\nwant   %s", stored, want)
		}
		if w.ResourceVersion != strconv.FormatInt(revision, 10) {
			t.Errorf("resourceVersion %s, stored at %d", w.ResourceVersion, revision)
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
		"version v1 is declared twice": func(d *registry.Definition[*shop.Widget]) {
			d.Versions[1] = d.Versions[0]
		},
		"New is not set": func(d *registry.Definition[*shop.Widget]) { d.New = nil },
		"was not made by VersionOf": func(d *registry.Definition[*shop.Widget]) {
			d.Versions[1] = codec.Version[*shop.Widget]{Info: api.VersionInfo{Name: "v2"}}
		},
		"its Conversion has cells for 2 columns": func(d *registry.Definition[*shop.Widget]) {
			d.Versions[0].Info.Columns = nil
		},
		"the Scope \"\" is neither": func(d *registry.Definition[*shop.Widget]) {
			d.Scope = ""
		},
		`the StoragePrefix is "/widgets": write "widgets"`: prefixed("/widgets"),
		`subresource "status": it needs a name of its own`: func(d *registry.Definition[*shop.Widget]) {
			d.Subresources[0].Copy = nil
		},
		`selectable field "spec.color": it needs Path and Val`: func(d *registry.Definition[*shop.Widget]) {
			d.SelectableFields[0].Value = nil
		},
		`selectable field "spec.color": version "v7" is not served`: func(d *registry.Definition[*shop.Widget]) {
			d.SelectableFields[0].Versions = []string{"v1", "v7"}
		},
	}
	for want, change := range cases {
		d := shop.Definition()
		change(&d)
		_, err := registry.New(d).Open(t.Context(), registry.Config{Backend: openBackend(t), Prefix: "/registry"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func prefixed(prefix string) func(d *registry.Definition[*shop.Widget]) {
	return func(d *registry.Definition[*shop.Widget]) { d.StoragePrefix = prefix }
}

// remove deletes an object if it is there, finalizers or not.
func (b *bench) remove(name string) {
	b.Helper()
	if _, err := b.patch(name, "", `{"metadata":{"finalizers":null}}`); err != nil && codeOf(b, err) != 404 {
		b.Fatal(err)
	}
	if _, err := b.delete(name, verb.DeleteOptions{}); err != nil && codeOf(b, err) != 404 {
		b.Fatal(err)
	}
}

func codeOf(t testing.TB, err error) int32 {
	t.Helper()
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		t.Fatalf("no status: %v", err)
	}
	return status.Status().Code
}
