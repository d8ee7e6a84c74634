package registry_test

import (
	"context"
	"errors"
	"testing"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/typedclient"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/reach"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// reachedFrom is a request's context, and the widgets that are reached from it.
func reachedFrom(t *testing.T, h verb.Handle) (context.Context, reach.Objects[*shop.Widget]) {
	t.Helper()
	reached, err := typedclient.Reachable([]verb.Handle{h})
	if err != nil {
		t.Fatal(err)
	}
	ctx := reach.With(t.Context(), reached)
	widgets, err := reach.Of[*shop.Widget](ctx)
	if err != nil {
		t.Fatal(err)
	}
	return ctx, widgets
}

// TestReached: what logic of one kind does with another is what a client would do.
func TestReached(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		ctx, widgets := reachedFrom(t, b.Handle)
		obj := &shop.Widget{Color: "red"}
		obj.Name, obj.Namespace, obj.Labels = "a", "ns", map[string]string{"app": "web"}
		made, err := widgets.Create(ctx, obj, reach.Write{Manager: "logic"})
		if err != nil || made.UID == "" || made.Size != 1 || made.ManagedFields[0].Manager != "logic" {
			t.Fatalf("%+v, %v", made, err)
		}
		if _, err = widgets.Create(ctx, obj, reach.Write{}); !apierrors.IsAlreadyExists(err) {
			t.Error(err)
		}
		for selector, want := range map[string]int{"app=web": 1, "app=other": 0, "": 1} {
			parsed, _ := labels.Parse(selector)
			if all, err := widgets.List(ctx, "ns", parsed); err != nil || len(all) != want {
				t.Errorf("%q: %v, %v", selector, all, err)
			}
		}
		if all, err := widgets.List(ctx, "", nil); err != nil || len(all) != 1 ||
			all[0].ResourceVersion != made.ResourceVersion {
			t.Errorf("%v, %v", all, err)
		}
		raced := false
		changed, err := widgets.Update(ctx, "ns", "a", reach.Write{Subresource: "status"}, func(w *shop.Widget) error {
			if !raced { // somebody else is faster once
				raced = true
				if _, err := b.patch("a", "", `{"spec":{"color":"green"}}`); err != nil {
					return err
				}
			}
			w.Phase, w.Color = "seen", "nobody's"
			return nil
		})
		if err != nil || changed.Phase != "seen" || changed.Color != "green" {
			t.Errorf("%+v, %v", changed, err)
		}
		if _, err = widgets.Update(ctx, "ns", "a", reach.Write{},
			func(w *shop.Widget) error { w.Size = -1; return nil }); !apierrors.IsInvalid(err) {
			t.Errorf("against the rules: %v", err)
		}
		enough := errors.New("enough")
		if _, err = widgets.Update(ctx, "ns", "a", reach.Write{},
			func(*shop.Widget) error { return enough }); !errors.Is(err, enough) {
			t.Error(err)
		}
		other := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("other")}
		if err := widgets.Delete(ctx, "ns", "a", other); !apierrors.IsConflict(err) {
			t.Error(err)
		}
		dry := reach.DryRun(ctx)
		if err := widgets.Delete(dry, "ns", "a", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		if changed, err = widgets.Update(dry, "ns", "a", reach.Write{},
			func(w *shop.Widget) error { w.Color = "dry"; return nil }); err != nil || changed.Color != "dry" {
			t.Errorf("%+v, %v", changed, err)
		}
		if kept, err := widgets.Get(ctx, "ns", "a"); err != nil || kept.Color != "green" {
			t.Errorf("a dry run left %+v, %v", kept, err)
		}
		if err := widgets.Delete(ctx, "ns", "a", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		if _, err = widgets.Get(ctx, "ns", "a"); !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
}

// TestReachedVirtual: kinds without storage are reached as well.
func TestReachedVirtual(t *testing.T) {
	ctx, widgets := reachedFrom(t, openVirtual(t, newShelf("a", "b").provider()))
	w, err := widgets.Update(ctx, "ns", "b", reach.Write{}, func(w *shop.Widget) error { w.Color = "blue"; return nil })
	if err != nil || w.Color != "blue" {
		t.Errorf("%+v, %v", w, err)
	}
	if all, err := widgets.List(ctx, "ns", nil); err != nil || len(all) != 2 || all[1].Color != "blue" {
		t.Errorf("%+v, %v", all, err)
	}
	if err := widgets.Delete(ctx, "ns", "a", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := widgets.Get(ctx, "ns", "a"); !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}
