package registry_test

import (
	"testing"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What a client of another version leaves out is stored with the storage version's defaults, since that is what is
// read. So
// what it writes is not stale, and writing the same again writes nothing.
func TestWritesOfAnotherVersionAreNotStale(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		old := func(data string) verb.Body {
			return verb.Body{Version: "v1beta1", Data: []byte(data), Validation: metav1.FieldValidationStrict}
		}
		const unsized = `{"metadata":{"name":"a"},"spec":{"colour":"red"}}`
		created, err := b.Create(b.ctx(), "ns", old(unsized), verb.WriteOptions{Form: v1})
		if err != nil {
			t.Fatal(err)
		}
		if w := b.parse(created.Object); w.Spec.Size != 1 {
			t.Errorf("created with size %d", w.Spec.Size)
		}
		first, _ := b.stored("/registry/shop.example.com/widgets/ns/a")
		for range 2 {
			updated, err := b.Update(b.ctx(), "ns", "a", "", old(unsized), verb.WriteOptions{Form: v1})
			if err != nil {
				t.Fatal(err)
			}
			was, is := b.parse(created.Object), b.parse(updated.Object)
			if is.ResourceVersion != was.ResourceVersion || is.Generation != was.Generation {
				t.Errorf("the same again is revision %s, generation %d; it was %s and %d", is.ResourceVersion,
					is.Generation, was.ResourceVersion, was.Generation)
			}
		}
		if w, err := b.patch("a", "", `{}`); err != nil ||
			w.ResourceVersion != b.parse(created.Object).ResourceVersion {
			t.Errorf("a patch that says nothing: %+v, %v", w, err)
		}
		if last, _ := b.stored("/registry/shop.example.com/widgets/ns/a"); last != first {
			t.Errorf("stored %s, and then %s", first, last)
		}
	})
}

// What a migration wrote needs no second one, also where an older version left out what has a default today; and
// nothing but
// the revision of the object changes.
func TestMigrationIsDoneAtOnce(t *testing.T) {
	backend := openBackend(t)
	const key = "/registry/shop.example.com/widgets/ns/old"
	value := `{"kind":"Widget","apiVersion":"shop.example.com/v1beta1","metadata":{"name":"old","namespace":"ns",` +
		`"uid":"u"},"spec":{"colour":"red"}}`
	if _, err := backend.Put(t.Context(), key, []byte(value), 0, 0); err != nil {
		t.Fatal(err)
	}
	b := openOver(t, backend, registry.New(shop.Definition()), registry.Config{})
	before := b.get("old")
	for want := int64(1); want >= 0; want-- {
		if m := migrate(t, backend, registry.New(shop.Definition()), nil, store.MigrateOptions{}); m.Stale != want ||
			m.Rewritten != want {
			t.Errorf("%+v, want %d stale", m, want)
		}
	}
	after := b.get("old")
	if after.ResourceVersion == before.ResourceVersion {
		t.Error("nothing was written")
	}
	after.ResourceVersion = before.ResourceVersion
	if b, a := before.Spec, after.Spec; a.Size != b.Size || a.Color != b.Color || a.Size != 1 {
		t.Errorf("%+v became %+v", b, a)
	}
}
