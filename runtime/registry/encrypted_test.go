package registry_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/state/cache"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const widgetKey = "/registry/shop.example.com/widgets/ns/"

// kinds runs a test with the cache and without, each with keys of its own.
func kinds(t *testing.T, test func(t *testing.T, b *bench, e *encryptionFile), names ...string) {
	t.Helper()
	for kind, cached := range map[string]bool{"cache": true, "bare": false} {
		t.Run(kind, func(t *testing.T) {
			e := newEncryptionFile(t, names...)
			test(t, openOver(t, memory.New(), registry.New(shop.Definition()), registry.Config{DisableCache: !cached,
				Transformer: e.transformer()}), e)
		})
	}
}

func (b *bench) raw(name string) *storage.KeyValue {
	b.Helper()
	kv, _, err := b.backend.Get(b.ctx(), widgetKey+name, storage.GetOptions{})
	if err != nil || kv == nil {
		b.Fatal(kv, err)
	}
	return kv
}

// With a new key in front, everything is still read, and each write, also one that changes nothing, takes the new key.
func TestRotation(t *testing.T) {
	kinds(t, func(t *testing.T, b *bench, e *encryptionFile) {
		created := b.create(`{"metadata":{"name":"a"},"spec":{"color":"red"}}`)
		if kv := b.raw("a"); !bytes.HasPrefix(kv.Value, []byte("k8s:enc:aesgcm:v1:one:")) ||
			bytes.Contains(kv.Value, []byte("red")) {
			t.Fatalf("stored %q", kv.Value)
		}
		if same, err := b.patch("a", "", `{}`); err != nil || same.ResourceVersion != created.ResourceVersion {
			t.Fatalf("nothing changed, and %+v %v", same, err)
		}
		e.set("two", "one")
		if w := b.get("a"); w.Spec.Color != "red" || w.ResourceVersion != created.ResourceVersion {
			t.Errorf("%+v", w)
		}
		again, err := b.patch("a", "", `{}`)
		if err != nil || again.ResourceVersion == created.ResourceVersion || again.Generation != created.Generation {
			t.Errorf("%+v %v", again, err)
		}
		if kv := b.raw("a"); !bytes.HasPrefix(kv.Value, []byte("k8s:enc:aesgcm:v1:two:")) {
			t.Errorf("stored %q", kv.Value)
		}
		e.set("two")
		if w := b.get("a"); w.ResourceVersion != again.ResourceVersion {
			t.Errorf("%+v", w)
		}
	}, "one")
}

// A value that no key opens fails the reads that cover it, with the names of both keys, and nothing else.
func TestLostKey(t *testing.T) {
	kinds(t, func(t *testing.T, b *bench, e *encryptionFile) {
		b.create(`{"metadata":{"name":"bad"}}`)
		lost := b.raw("bad")
		e.set("two")
		b.create(`{"metadata":{"name":"good","labels":{"a":"b"}}}`)
		// The same bytes again, so that a cache sees them with the new keys.
		if _, err := b.backend.Put(b.ctx(), lost.Key, lost.Value, lost.Revision, 0); err != nil {
			t.Fatal(err)
		}
		want := widgetKey + `bad`
		const why = `the value was encrypted with aesgcm key "one", and the encryption configuration has only ` +
			`aesgcm key "two"`
		_, err := b.Get(b.ctx(), "ns", "bad", "", v1)
		wantStatus(t, err, 500, metav1.StatusReasonInternalError, want)
		wantStatus(t, err, 500, metav1.StatusReasonInternalError, why)
		if !errors.Is(err, cache.ErrCorrupt) {
			t.Errorf("the cause of %v is lost", err)
		}
		_, err = b.List(b.ctx(), "ns", verb.ListOptions{}, v1)
		wantStatus(t, err, 500, metav1.StatusReasonStoreReadError, why)
		_, err = b.patch("bad", "", `{}`)
		wantStatus(t, err, 500, metav1.StatusReasonInternalError, why)
		_, err = b.delete("bad", verb.DeleteOptions{})
		wantStatus(t, err, 500, metav1.StatusReasonInternalError, why)
		w, err := b.Watch(b.ctx(), "ns", api.WatchOptions{}, v1)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		_, err = w.Next(b.ctx())
		wantStatus(t, err, 500, metav1.StatusReasonStoreReadError, why)

		if got := b.get("good"); got.Name != "good" {
			t.Errorf("%+v", got)
		}
		_, err = b.Create(b.ctx(), "ns", body(`{"metadata":{"name":"bad"}}`), verb.WriteOptions{Form: v1})
		wantStatus(t, err, 409, metav1.StatusReasonAlreadyExists, `widgets.shop.example.com "bad" already exists`)
	}, "one")
}

// Once the key is back, what it sealed is read again without a restart, by the cache, too.
func TestKeyComesBack(t *testing.T) {
	kinds(t, func(t *testing.T, b *bench, e *encryptionFile) {
		b.create(`{"metadata":{"name":"a"}}`)
		lost := b.raw("a")
		e.set("two")
		if _, err := b.backend.Put(b.ctx(), lost.Key, lost.Value, lost.Revision, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := b.List(b.ctx(), "ns", verb.ListOptions{}, v1); err == nil {
			t.Fatal("a value was read without its key")
		}
		e.set("two", "one")
		waitFor(t, func() error {
			_, err := b.List(b.ctx(), "ns", verb.ListOptions{ResourceVersion: "0"}, v1)
			return err
		})
	}, "one")
}

// Encryption is turned on, and off again, without any value being lost.
func TestOnAndOff(t *testing.T) {
	kinds(t, func(t *testing.T, b *bench, e *encryptionFile) {
		for _, step := range []struct {
			keys   []string
			prefix string
		}{{nil, "{"}, {[]string{"one", "-"}, "k8s:enc:aesgcm:v1:one:"}, {[]string{"-", "one"}, "{"}} {
			if step.keys == nil {
				b.create(`{"metadata":{"name":"a"},"spec":{"color":"red"}}`)
			} else {
				e.set(step.keys...)
				if _, err := b.patch("a", "", `{}`); err != nil {
					t.Fatal(err)
				}
			}
			if kv := b.raw("a"); !bytes.HasPrefix(kv.Value, []byte(step.prefix)) {
				t.Errorf("with %v stored %q", step.keys, kv.Value)
			}
			if w := b.get("a"); w.Spec.Color != "red" || w.Generation != 1 {
				t.Errorf("with %v: %+v", step.keys, w)
			}
		}
	}, "-")
}

// A value is bound to its key: what was copied below another name is refused.
func TestCopiedValue(t *testing.T) {
	kinds(t, func(t *testing.T, b *bench, e *encryptionFile) {
		b.create(`{"metadata":{"name":"a"}}`)
		if _, err := b.backend.Put(b.ctx(), widgetKey+"b", b.raw("a").Value, 0, 0); err != nil {
			t.Fatal(err)
		}
		_, err := b.Get(b.ctx(), "ns", "b", "", v1)
		wantStatus(t, err, 500, metav1.StatusReasonInternalError, `aesgcm key "one" does not open it`)
	}, "one")
}

// A key whose secret is another one than it was is named, too.
func TestWrongSecret(t *testing.T) {
	kinds(t, func(t *testing.T, b *bench, e *encryptionFile) {
		b.create(`{"metadata":{"name":"a"}}`)
		bad := b.raw("a")
		e.set("one!")
		if _, err := b.backend.Put(b.ctx(), bad.Key, bad.Value, bad.Revision, 0); err != nil {
			t.Fatal(err)
		}
		for _, version := range []string{"", "0"} {
			waitFor(t, func() error { // until the cache has it
				_, err := b.List(b.ctx(), "ns", verb.ListOptions{ResourceVersion: version}, v1)
				if err == nil {
					return errors.New("it was read")
				}
				wantStatus(t, err, 500, metav1.StatusReasonStoreReadError, widgetKey+`a`)
				wantStatus(t, err, 500, metav1.StatusReasonStoreReadError, `aesgcm key "one" does not open it`)
				return nil
			})
		}
	}, "one")
}

// Watches tell what was written under another key than the state before, and go on where the keys don't.
func TestWatchAcrossKeys(t *testing.T) {
	kinds(t, func(t *testing.T, b *bench, e *encryptionFile) {
		w := b.watch(api.WatchOptions{})
		b.create(`{"metadata":{"name":"a"},"spec":{"color":"red"}}`)
		w.expect("ADDED a")
		e.set("two", "one")
		if _, err := b.patch("a", "", `{"spec":{"color":"blue"}}`); err != nil {
			t.Fatal(err)
		}
		w.expect("MODIFIED a")
		if _, err := b.delete("a", verb.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		w.expect("DELETED a")
		if got := whole(w.last); !strings.Contains(got, "blue") {
			t.Error(got)
		}
	}, "one")
}

// What can't be read is deleted with the option for it, whatever its finalizers; what can be read is not.
func TestDeleteUnreadable(t *testing.T) {
	kinds(t, func(t *testing.T, b *bench, e *encryptionFile) {
		b.create(`{"metadata":{"name":"bad","finalizers":["x.example.com/y"]}}`)
		lost := b.raw("bad")
		unsafe := verb.DeleteOptions{IgnoreReadErrors: true}
		_, err := b.delete("bad", unsafe)
		wantStatus(t, err, 409, metav1.StatusReasonConflict, "the object can be read")
		e.set("two")
		if _, err := b.backend.Put(b.ctx(), lost.Key, lost.Value, lost.Revision, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := b.backend.Put(b.ctx(), widgetKey+"junk", []byte("junk"), 0, 0); err != nil {
			t.Fatal(err)
		}
		dry := unsafe
		dry.DryRun = true
		for _, name := range []string{"bad", "junk"} {
			for _, opts := range []verb.DeleteOptions{dry, unsafe} {
				d, err := b.Delete(b.ctx(), "ns", name, opts)
				if err != nil || !d.Done || d.Object.Payload != nil {
					t.Errorf("%s: %+v %v", name, d, err)
				}
			}
			_, err = b.Get(b.ctx(), "ns", name, "", v1)
			wantStatus(t, err, 404, metav1.StatusReasonNotFound, name)
			_, err = b.Delete(b.ctx(), "ns", name, unsafe)
			wantStatus(t, err, 404, metav1.StatusReasonNotFound, name)
		}
		if got, _ := b.names("ns", verb.ListOptions{}); got != "" {
			t.Errorf("left: %s", got)
		}
	}, "one")
}

func TestDeleteUnreadableGoesAlone(t *testing.T) {
	b := open(t, registry.New(shop.Definition()), false)
	uid, grace, background := b.create(`{"metadata":{"name":"a"}}`).UID, int64(0), metav1.DeletePropagationBackground
	for want, opts := range map[string]verb.DeleteOptions{
		".preconditions":      {Preconditions: &metav1.Preconditions{UID: &uid}},
		".gracePeriodSeconds": {GracePeriodSeconds: &grace},
		".propagationPolicy":  {Propagation: &background},
	} {
		opts.IgnoreReadErrors = true
		_, err := b.Delete(b.ctx(), "ns", "a", opts)
		wantStatus(t, err, 422, metav1.StatusReasonInvalid, "cannot be set together with "+want)
	}
	_, err := b.DeleteCollection(b.ctx(), "ns", verb.DeleteOptions{IgnoreReadErrors: true}, verb.ListOptions{})
	wantStatus(t, err, 400, metav1.StatusReasonBadRequest, "by name")
}

// A value that was replaced by a readable one between the look at it and its deletion stays.
func TestDeleteUnreadableLooksAgain(t *testing.T) {
	backend := &replacing{Backend: memory.New()}
	b := openOver(t, backend, registry.New(shop.Definition()), registry.Config{DisableCache: true})
	if _, err := b.backend.Put(b.ctx(), widgetKey+"a", []byte("junk"), 0, 0); err != nil {
		t.Fatal(err)
	}
	backend.value = `{"kind":"Widget","apiVersion":"shop.example.com/v1","metadata":{"name":"a","namespace":"ns"}}`
	_, err := b.Delete(b.ctx(), "ns", "a", verb.DeleteOptions{IgnoreReadErrors: true})
	wantStatus(t, err, 409, metav1.StatusReasonConflict, "the object can be read")
	if w := b.get("a"); w.Name != "a" {
		t.Errorf("%+v", w)
	}
}

// replacing has somebody write a value just before the first deletion.
type replacing struct {
	storage.Backend
	value string
}

func (r *replacing) Delete(ctx ctxT, key string, expect int64) (int64, error) {
	if value := r.value; value != "" {
		r.value = ""
		if _, err := r.Put(ctx, key, []byte(value), expect, 0); err != nil {
			return 0, err
		}
	}
	return r.Backend.Delete(ctx, key, expect)
}

// A transformer that can't seal ends the write before anything is sent.
func TestSealFails(t *testing.T) {
	b := openOver(t, memory.New(), registry.New(shop.Definition()), registry.Config{DisableCache: true,
		Transformer: sealsNothing{}})
	_, err := b.Create(b.ctx(), "ns", body(`{"metadata":{"name":"a"}}`),
		verb.WriteOptions{Form: verb.Form{Version: "v1"}})
	wantStatus(t, err, 500, metav1.StatusReasonInternalError, "no randomness")
	if n, _ := b.backend.Count(b.ctx(), widgetKey); n != 0 {
		t.Error("it was written all the same")
	}
}

type sealsNothing struct{}

func (sealsNothing) Open(_ string, stored []byte) ([]byte, bool, error) { return stored, false, nil }
func (sealsNothing) Seal(string, []byte) ([]byte, error)                { return nil, errors.New("no randomness") }

// While keys rotate under writers, readers and a watcher, no request fails and no write is lost; in the end the last
// key
// alone opens everything that was written since.
func TestRotationUnderLoad(t *testing.T) {
	kinds(t, func(t *testing.T, b *bench, e *encryptionFile) {
		const objects, rounds = 4, 25
		for i := range objects {
			b.create(fmt.Sprintf(`{"metadata":{"name":"w%d"}}`, i))
		}
		w := b.watch(api.WatchOptions{ResourceVersion: b.get("w3").ResourceVersion})
		var workers sync.WaitGroup
		for i := range objects {
			workers.Go(func() {
				for n := range rounds {
					name := fmt.Sprintf("w%d", i)
					if _, err := b.Patch(b.ctx(), "ns", name, "", verb.MergePatch,
						body(fmt.Sprintf(`{"spec":{"size":%d}}`, n+10)), verb.WriteOptions{Form: v1}); err != nil {
						t.Error(err)
					}
					for _, version := range []string{"", "0"} {
						if _, err := b.List(b.ctx(), "ns", verb.ListOptions{ResourceVersion: version}, v1); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		names := []string{"one"}
		for n := range 20 {
			names = append([]string{fmt.Sprintf("key%d", n)}, names...)
			e.set(names...)
			for i := range objects { // a migration, as it were
				if _, err := b.Patch(b.ctx(), "ns", fmt.Sprintf("w%d", i), "", verb.MergePatch, body(`{}`),
					verb.WriteOptions{Form: v1}); err != nil {
					t.Error(err)
				}
			}
		}
		workers.Wait()
		w.sizesTo(objects, rounds+9)
		for i := range objects {
			if _, err := b.patch(fmt.Sprintf("w%d", i), "", `{}`); err != nil {
				t.Error(err)
			}
		}
		e.set(names[0])
		for i := range objects {
			if got := b.get(fmt.Sprintf("w%d", i)); got.Spec.Size != rounds+9 {
				t.Errorf("%s: %d, want %d", got.Name, got.Spec.Size, rounds+9)
			}
		}
	}, "one")
}

// sizesTo reads events until so many objects have the last size, and fails where one has not grown by single steps.
func (w *watcher) sizesTo(objects int, last int64) {
	w.Helper()
	sizes := map[string]int64{}
	for left := objects; left > 0; {
		events, err := w.w.Next(w.TB.Context())
		if err != nil {
			w.Fatal(err)
		}
		for _, event := range events {
			got := w.parse(event.Object)
			now, before := got.Spec.Size, sizes[got.Name]
			if before > 1 && now != before && now != before+1 {
				w.Errorf("%s went from %d to %d", got.Name, before, now)
			}
			if now == last && before != last {
				left--
			}
			sizes[got.Name] = now
		}
	}
}
