package registry_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// labelled is a resource whose type brings its own protobuf, with keys where kube-apiserver would have them.
func labelled() registry.Definition[*metav1.PartialObjectMetadata] {
	kind := partial()
	return registry.Definition[*metav1.PartialObjectMetadata]{
		Group: kind.Group, Names: api.Names{Kind: kind.Kind, Plural: "labels"}, Scope: api.Namespaced, New: kind.New,
		Versions: kind.Versions, Storage: "v1", StoragePrefix: "labels",
	}
}

// encoded is an object as kube-apiserver stores its own kinds: by apimachinery's serializer.
func encoded(t testing.TB, gvk schema.GroupVersionKind, object runtime.Object) []byte {
	t.Helper()
	scheme := runtime.NewScheme()
	object.GetObjectKind().SetGroupVersionKind(gvk)
	var out bytes.Buffer
	if err := protobuf.NewSerializer(scheme, scheme).Encode(object, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

var labelKind = schema.GroupVersionKind{Group: "label.example.com", Version: "v1", Kind: "Label"}

func put(t testing.TB, backend storage.Backend, key string, value []byte) {
	t.Helper()
	if _, err := backend.Put(context.Background(), key, value, 0, 0); err != nil {
		t.Fatal(err)
	}
}

// Values that kube-apiserver wrote as protobuf are read as any other, and written again as JSON.
func TestStoredProtobuf(t *testing.T) {
	for name, disabled := range map[string]bool{"cache": false, "bare": true} {
		t.Run(name, func(t *testing.T) {
			backend := memory.New()
			object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
				Namespace: "ns", Name: "a", UID: "u1", Labels: map[string]string{"x": "y"},
				Finalizers: []string{"example.com/hold"},
			}}
			put(t, backend, "/registry/labels/ns/a", encoded(t, labelKind, object))
			put(t, backend, "/registry/labels/ns/b", []byte(`{"kind":"Label","apiVersion":"label.example.com/v1",`+
				`"metadata":{"namespace":"ns","name":"b","uid":"u2"}}`+"\n"))
			b := openOver(t, backend, registry.New(labelled()), registry.Config{DisableCache: disabled})
			r, err := b.Get(b.ctx(), "ns", "a", "", v1)
			if err != nil || !strings.HasPrefix(whole(r), `{"kind":"Label","apiVersion":"label.example.com/v1",`+
				`"metadata":{"name":"a","namespace":"ns","uid":"u1","resourceVersion":"`) {
				t.Fatalf("%s, %v", whole(r), err)
			}
			page, err := b.List(b.ctx(), "ns",
				verb.ListOptions{Selection: api.Selection{Labels: labels.SelectorFromSet(labels.Set{"x": "y"})}}, v1)
			if err != nil || page.Len != 1 {
				t.Fatalf("listed by its label: %v", err)
			}
			page.Close()
			patch := func(data string) {
				t.Helper()
				if _, err := b.Patch(b.ctx(), "ns", "a", "", verb.MergePatch,
					verb.Body{Version: "v1", Data: []byte(data)}, verb.WriteOptions{Form: v1}); err != nil {
					t.Fatal(err)
				}
			}
			patch(`{}`) // changes nothing, and is written, since what is stored is stale
			kv, _, err := backend.Get(b.ctx(), "/registry/labels/ns/a", storage.GetOptions{})
			if err != nil || !strings.HasPrefix(string(kv.Value), `{"kind":"Label",`+
				`"apiVersion":"label.example.com/v1","metadata":{"name":"a"`) {
				t.Fatalf("%s, %v", kv.Value, err)
			}
			first := kv.Revision
			patch(`{}`)
			if kv, _, err = backend.Get(b.ctx(), "/registry/labels/ns/a", storage.GetOptions{}); err != nil ||
				kv.Revision != first {
				t.Fatalf("written again, though nothing changed: %v", err)
			}
		})
	}
}

func TestStoredProtobufIsMigrated(t *testing.T) {
	backend := memory.New()
	for _, name := range []string{"a", "b", "c"} {
		put(t, backend, "/registry/labels/ns/"+name,
			encoded(t, labelKind, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ns",
				Name: name}}))
	}
	put(t, backend, "/registry/labels/ns/cut",
		encoded(t, labelKind, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "cut"}})[:30])
	config := registry.Config{Backend: backend, Prefix: "/registry"}
	for _, want := range []struct {
		dry                     bool
		stale, rewritten, wrong int64
	}{{true, 3, 0, 1}, {false, 3, 3, 1}, {false, 0, 0, 1}} {
		m, err := registry.Migrate(context.Background(), registry.New(labelled()), config,
			store.MigrateOptions{DryRun: want.dry})
		if err != nil || m.Stale != want.stale || m.Rewritten != want.rewritten || m.Unreadable != want.wrong {
			t.Errorf("%+v, %v", m, err)
		}
	}
}

// What is protobuf and can't be read fails by its name, and nothing else does.
func TestUnreadableProtobuf(t *testing.T) {
	message := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "bad"}}
	whole := encoded(t, labelKind, message)
	for name, c := range map[string]struct {
		value []byte
		says  string
	}{
		"cut":     {whole[:len(whole)-9], "EOF"},
		"nothing": {[]byte("k8s\x00"), "protobuf"},
		"noise":   {[]byte("k8s\x00\xff\xff\xff\xff\xff\xff"), "EOF"},
		"another kind": {encoded(t, schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, message),
			`kind "Pod", apiVersion "v1"`},
		"another version": {encoded(t, schema.GroupVersionKind{Group: "label.example.com", Version: "v3",
			Kind: "Label"}, message),
			`apiVersion "label.example.com/v3"`},
	} {
		backend := memory.New()
		put(t, backend, "/registry/labels/ns/bad", c.value)
		put(t, backend, "/registry/labels/other/good",
			encoded(t, labelKind, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "other",
				Name: "good"}}))
		b := openOver(t, backend, registry.New(labelled()), registry.Config{})
		_, err := b.Get(b.ctx(), "ns", "bad", "", v1)
		if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "/registry/labels/ns/bad") ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := b.Get(b.ctx(), "other", "good", "", v1); err != nil {
			t.Errorf("%s: beside it: %v", name, err)
		}
		page, err := b.List(b.ctx(), "other", verb.ListOptions{}, v1)
		if err != nil || page.Len != 1 {
			t.Errorf("%s: the list beside it: %v", name, err)
			continue
		}
		page.Close()
	}
	backend := memory.New()
	gvk := schema.GroupVersionKind{Group: shop.Definition().Group, Version: "v1", Kind: shop.Definition().Names.Kind}
	put(t, backend, "/registry/"+gvk.Group+"/"+shop.Definition().Names.Plural+"/ns/bad", encoded(t, gvk, message))
	b := openOver(t, backend, registry.New(shop.Definition()), registry.Config{})
	if _, err := b.Get(b.ctx(), "ns", "bad", "", v1); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(),
		"stored as Kubernetes protobuf") {
		t.Errorf("without methods: %v", err)
	}
}
