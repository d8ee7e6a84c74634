package registry_test

import (
	"context"
	"testing"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/memory"
)

// resetting are widgets whose size nobody can change once it is set, whose color is blue where somebody wants pink, and
// whose notes are the strategy's.
func resetting(t *testing.T) *bench {
	d := shop.Definition()
	d.Strategy.PrepareForCreate = func(_ context.Context, w *shop.Widget) {
		w.Notes = map[string]string{"by": "strategy"}
		if w.Color == "pink" {
			w.Color = "blue"
		}
	}
	d.Strategy.PrepareForUpdate = func(_ context.Context, w, old *shop.Widget) {
		w.Size, w.Notes = old.Size, old.Notes
		if w.Color == "pink" {
			w.Color = "blue"
		}
	}
	return openOver(t, memory.New(), registry.New(d), registry.Config{Schemas: documents()})
}

// TestPreparedFieldsHaveTheirOwners: what a strategy takes back from a write is not the writer's, and what it leaves as
// it
// was is whose it was.
func TestPreparedFieldsHaveTheirOwners(t *testing.T) {
	b := resetting(t)
	put := func(manager, spec string) *shop.WidgetV1 {
		t.Helper()
		r, err := b.Update(b.ctx(), "ns", "a", "", body(config("", `,"spec":`+spec)), verb.WriteOptions{Form: v1,
			FieldManager: manager})
		if err != nil {
			t.Fatal(err)
		}
		return b.parse(r.Object)
	}
	r, err := b.Create(b.ctx(), "ns", body(config("", `,"spec":{"color":"pink","size":1,"notes":{"mine":"x"}}`)),
		verb.WriteOptions{Form: v1, FieldManager: "first"})
	if err != nil {
		t.Fatal(err)
	}
	w := b.parse(r.Object)
	if w.Spec.Color != "blue" || w.Spec.Notes["by"] != "strategy" {
		t.Fatalf("%+v", w.Spec)
	}
	// That there are notes is the first one's doing.
	wantOwners(t, w, `first Update {"f:spec":{"f:notes":{},"f:size":{}}}`)
	// The second one's size is not taken, and remains the first one's.
	wantOwners(t, put("second", `{"color":"red","size":2,"notes":{"by":"me"}}`),
		`first Update {"f:spec":{"f:notes":{},"f:size":{}}}`, `second Update {"f:spec":{"f:color":{}}}`)
	// Nor is its removal.
	wantOwners(t, put("third", `{"color":"red"}`),
		`first Update {"f:spec":{"f:notes":{},"f:size":{}}}`, `second Update {"f:spec":{"f:color":{}}}`)
	// Who wants pink gets blue, and owns nothing; nor does who had red.
	wantOwners(t, put("third", `{"color":"pink","size":9}`), `first Update {"f:spec":{"f:notes":{},"f:size":{}}}`)
}

// TestPreparedFieldsOfAnApply: the same holds for who applies, by force.
func TestPreparedFieldsOfAnApply(t *testing.T) {
	b := resetting(t)
	w := b.applied("first", config("", `,"spec":{"color":"pink","size":1,"parts":["p"]}`))
	wantOwners(t, w, `first Apply {"f:spec":{"f:parts":{"v:\"p\"":{}},"f:size":{}}}`)
	if r, err := b.apply("second", config("", `,"spec":{"color":"red","size":2}`), true); err != nil {
		t.Fatal(err)
	} else if w = b.parse(r.Object); w.Spec.Size != 1 {
		t.Errorf("%+v", w.Spec)
	}
	wantOwners(t, w, `first Apply {"f:spec":{"f:parts":{"v:\"p\"":{}},"f:size":{}}}`,
		`second Apply {"f:spec":{"f:color":{}}}`)
	// Applying the same again changes nothing.
	again, err := b.apply("second", config("", `,"spec":{"color":"red","size":2}`), true)
	if err != nil || b.parse(again.Object).ResourceVersion != w.ResourceVersion {
		t.Errorf("%s %v", whole(again.Object), err)
	}
}
