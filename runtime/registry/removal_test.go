package registry_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// discard deletes a widget as the color that is posted says. It spoils what it is given, which are copies.
func discard(_ context.Context, w, in *shop.Widget) (options *metav1.DeleteOptions, err error) {
	switch in.Color {
	case "refuse":
		err = apierrors.NewTooManyRequests("not now", 0)
	case "keep":
	case "dry":
		options = &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}
	case "other":
		uid := types.UID("other")
		options = &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}
	case "wrong":
		policy := metav1.DeletionPropagation("Sideways")
		options = &metav1.DeleteOptions{PropagationPolicy: &policy}
	case "orphan":
		options = &metav1.DeleteOptions{OrphanDependents: new(true)} //nolint:staticcheck // clients still send it
	default:
		options = &metav1.DeleteOptions{}
	}
	in.Color, w.Color, w.Finalizers = "spoilt", "spoilt", []string{"a.example.com/spoilt"}
	return options, err
}

func TestRemoval(t *testing.T) {
	for color, c := range map[string]struct {
		query bool // dryRun of the request
		fails func(error) bool
		stays bool
	}{
		"any": {}, "refuse": {fails: apierrors.IsTooManyRequests, stays: true}, "keep": {stays: true},
		"dry":   {stays: true},
		"other": {fails: apierrors.IsConflict, stays: true}, "wrong": {fails: apierrors.IsInvalid, stays: true},
		"asked": {query: true, stays: true}, "orphan": {stays: true},
	} {
		both2(t, func(t *testing.T, b *bench) {
			b.create(`{"metadata":{"name":"a"},"spec":{"color":"red"}}`)
			body := verb.Body{Version: "v1", Data: fmt.Appendf(nil, `{"spec":{"color":%q}}`, color)}
			r, err := b.Extension("discard").Create(b.ctx(), "ns", "a", body, verb.WriteOptions{Form: v1,
				DryRun: c.query})
			if c.fails != nil {
				if !c.fails(err) {
					t.Errorf("%s: %v", color, err)
				}
			} else if err != nil || !r.Created || !strings.Contains(whole(r.Object), `"status":"Success"`) {
				t.Errorf("%s: %v %s", color, err, whole(r.Object))
			}
			got, err := b.Get(b.ctx(), "ns", "a", "", v1)
			if stays := err == nil; stays != c.stays || !stays && !apierrors.IsNotFound(err) ||
				strings.Contains(whole(got), "spoilt") {
				t.Errorf("%s: then %s, %v", color, whole(got), err)
			}
			if held := strings.Contains(whole(got), `"finalizers":["orphan"]`); held != (color == "orphan") {
				t.Errorf("%s: then %s", color, whole(got))
			}
		})
	}
}

// What is posted by many at once deletes once, and what it decides on is what is deleted.
func TestRemovalsRace(t *testing.T) {
	both2(t, func(t *testing.T, b *bench) {
		b.create(`{"metadata":{"name":"a"},"spec":{"color":"red"}}`)
		var done atomic.Int64
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				_, err := b.Extension("discard").Create(b.ctx(), "ns", "a",
					verb.Body{Version: "v1", Data: []byte(`{}`)}, verb.WriteOptions{Form: verb.Form{Version: "v1"}})
				switch {
				case err == nil:
					done.Add(1)
				case !apierrors.IsNotFound(err):
					t.Error(err)
				}
			})
		}
		all.Wait()
		if done.Load() != 1 {
			t.Errorf("it was deleted %d times", done.Load())
		}
	})
}
