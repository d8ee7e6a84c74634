package registry_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/object/wire"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/memory"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const labelKey = "/registry/labels/ns/a"

// A kind with protobuf is stored as kube-apiserver stores its own kinds, byte by byte, and shown in JSON.
func TestStoredInProtobuf(t *testing.T) {
	for name, disabled := range map[string]bool{"cache": false, "bare": true} {
		t.Run(name, func(t *testing.T) {
			b := openOver(t, memory.New(), registry.New(labelled()),
				registry.Config{DisableCache: disabled, Encoding: verb.Protobuf})
			created, err := b.Create(b.ctx(), "ns", body(`{"metadata":{"name":"a","labels":{"x":"y"},`+
				`"annotations":{"note":"1"}}}`), verb.WriteOptions{Form: v1, FieldManager: "m"})
			if err != nil {
				t.Fatal(err)
			}
			var object metav1.PartialObjectMetadata
			if err := json.Unmarshal([]byte(whole(created.Object)), &object); err != nil {
				t.Fatal(err)
			}
			version := object.ResourceVersion
			object.ResourceVersion = ""
			if got, _ := b.stored(labelKey); got != string(encoded(t, labelKind, &object)) {
				t.Errorf("stored %q\nwant   %q", got, encoded(t, labelKind, &object))
			}
			r, err := b.Get(b.ctx(), "ns", "a", "", verb.Form{Version: "v1", Encoding: verb.Protobuf})
			if err != nil {
				t.Fatal(err)
			}
			object.ResourceVersion = version
			if got := wire.Enveloped(r.Head, r.Payload); string(got) != string(encoded(t, labelKind, &object)) {
				t.Errorf("read %q\nwant %q", got, encoded(t, labelKind, &object))
			}
		})
	}
}

// A kind without protobuf is stored in JSON, whatever the configuration says.
func TestStoredInJSONWithoutProtobuf(t *testing.T) {
	b := openOver(t, memory.New(), registry.New(shop.Definition()), registry.Config{Encoding: verb.Protobuf})
	b.create(`{"metadata":{"name":"a"}}`)
	if got, _ := b.stored(widgetKey + "a"); !strings.HasPrefix(got, `{"kind":"Widget"`) {
		t.Errorf("stored %q", got)
	}
}

// encodingOf is the encoding of what is stored under a key.
func (b *bench) encodingOf(key string) verb.Encoding {
	b.Helper()
	if value, _ := b.stored(key); strings.HasPrefix(value, wire.Magic) {
		return verb.Protobuf
	}
	return verb.JSON
}

// replicas opens servers that store widgets in JSON and in protobuf, over one backend.
func replicas(t *testing.T, transformer store.Transformer, disabled bool) [2]*bench {
	t.Helper()
	backend := memory.New()
	var all [2]*bench
	for i, encoding := range []verb.Encoding{verb.JSON, verb.Protobuf} {
		all[i] = openOver(t, backend, registry.New(shop.InProtobuf()),
			registry.Config{DisableCache: disabled, Transformer: transformer, Encoding: encoding})
	}
	return all
}

// A write that changes nothing rewrites what another replica stores in another encoding, once.
func TestOtherEncodingIsStale(t *testing.T) {
	for name, disabled := range map[string]bool{"cache": false, "bare": true} {
		t.Run(name, func(t *testing.T) {
			servers := replicas(t, encrypted(t), disabled)
			servers[0].create(`{"metadata":{"name":"a"},"spec":{"color":"red"}}`)
			for _, i := range []int{1, 0, 1} {
				b, want := servers[i], []verb.Encoding{verb.JSON, verb.Protobuf}[i]
				before := b.get("a")
				after, err := b.patch("a", "", `{}`)
				if err != nil || after.ResourceVersion == before.ResourceVersion ||
					after.Generation != before.Generation {
					t.Fatalf("%+v, %v; before %+v", after, err, before)
				}
				if got := b.encodingOf(widgetKey + "a"); got != want {
					t.Errorf("stored in %v, want %v", got, want)
				}
				if again, err := b.patch("a", "", `{}`); err != nil || again.ResourceVersion != after.ResourceVersion {
					t.Errorf("written again, though nothing changed: %+v, %v", again, err)
				}
			}
		})
	}
}

// The encoding in which an object is stored shows in no form of it: two replicas answer the same for one backend.
func TestFormsDontShowTheStoredEncoding(t *testing.T) {
	var forms []verb.Form
	for _, version := range []string{"v1", "v1beta1"} {
		for encoding := verb.JSON; encoding <= verb.Protobuf; encoding++ {
			for shape := verb.Whole; shape <= verb.RowWithObject; shape++ {
				table := shape != verb.Whole && shape != verb.Metadata
				if encoding == verb.Protobuf && (table || version != "v1" && shape == verb.Whole) {
					continue // there is none
				}
				forms = append(forms, verb.Form{Version: version, Encoding: encoding, Shape: shape})
			}
		}
	}
	for name, disabled := range map[string]bool{"cache": false, "bare": true} {
		t.Run(name, func(t *testing.T) {
			servers := replicas(t, nil, disabled)
			r := rand.New(rand.NewPCG(7, 7))
			for n := range 40 {
				b := servers[r.IntN(2)]
				b.create(fmt.Sprintf(`{"metadata":{"name":"w%d","labels":{"n":"%d"},"finalizers":["x.example.com/y"]},`+
					`"spec":{"color":"c%d","parts":["a","b"],"notes":{"%s":"<&>\u2028"}}}`, n, n, r.IntN(3),
					strings.Repeat("k", r.IntN(300))))
				if r.IntN(2) == 0 {
					if _, err := servers[r.IntN(2)].patch(fmt.Sprintf("w%d", n), "status",
						`{"status":{"phase":"on"}}`); err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, form := range forms {
				var pages [2]string
				for i, b := range servers {
					page, err := b.List(b.ctx(), "ns", verb.ListOptions{}, form)
					if err != nil {
						t.Fatalf("%+v: %v", form, err)
					}
					for item := range page.Items {
						pages[i] += fmt.Sprintf("%s %s %v\n", item.Head, item.Payload, item.Holes)
					}
					for _, block := range page.Blocks {
						pages[i] += fmt.Sprintf("%s\n", block.Data)
					}
					page.Close()
				}
				if pages[0] != pages[1] {
					t.Errorf("%+v: stored in JSON\n%s\nstored in protobuf\n%s", form, pages[0], pages[1])
				}
			}
		})
	}
}

// A migration rewrites what is stored in the other encoding, in both directions, and then nothing.
func TestEncodingIsMigrated(t *testing.T) {
	e := encrypted(t)
	servers := replicas(t, e, false)
	backend := servers[0].backend
	for n := range 5 {
		servers[n%2].create(fmt.Sprintf(`{"metadata":{"name":"w%d"},"spec":{"color":"red"}}`, n))
	}
	for _, c := range []struct {
		to    verb.Encoding
		stale int64
	}{{verb.Protobuf, 3}, {verb.Protobuf, 0}, {verb.JSON, 5}, {verb.JSON, 0}, {verb.Protobuf, 5}} {
		config := registry.Config{Backend: backend, Prefix: "/registry", Transformer: e, Encoding: c.to}
		m, err := registry.Migrate(t.Context(), registry.New(shop.InProtobuf()), config, store.MigrateOptions{})
		if err != nil || m.Read != 5 || m.Stale != c.stale || m.Rewritten != c.stale ||
			fmt.Sprint(m.Stored) != "[v1]" {
			t.Errorf("to %v: %+v, %v", c.to, m, err)
		}
		for n := range 5 {
			if got := servers[0].encodingOf(fmt.Sprintf("%sw%d", widgetKey, n)); got != c.to {
				t.Errorf("w%d is stored in %v, want %v", n, got, c.to)
			}
		}
	}
	for _, b := range servers {
		if names, _ := b.names("ns", verb.ListOptions{}); names != "w0 w1 w2 w3 w4" {
			t.Error(names)
		}
	}
}
