package registry_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// failing is a backend whose writes fail in a given way, some of them after they took effect.
type failing struct {
	storage.Backend
	err    error
	effect bool
	writes atomic.Int64
}

func (f *failing) Put(ctx ctxT, key string, value []byte, expect int64, ttl durationT) (int64, error) {
	if f.err == nil {
		return f.Backend.Put(ctx, key, value, expect, ttl)
	}
	f.writes.Add(1)
	if f.effect {
		if _, err := f.Backend.Put(ctx, key, value, expect, ttl); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("put %s: %w", key, f.err)
}

func (f *failing) Delete(ctx ctxT, key string, expect int64) (int64, error) {
	if f.err == nil {
		return f.Backend.Delete(ctx, key, expect)
	}
	f.writes.Add(1)
	return 0, fmt.Errorf("delete %s: %w", key, f.err)
}

func TestFailedWrites(t *testing.T) {
	cases := map[string]struct {
		err    error
		effect bool
		code   int32
		reason metav1.StatusReason
		retry  int32
		writes int64
	}{
		"unknown, and done":     {storage.ErrUnknownOutcome, true, 504, metav1.StatusReasonTimeout, 0, 4},
		"unknown, and not done": {storage.ErrUnknownOutcome, false, 504, metav1.StatusReasonTimeout, 0, 4},
		"unavailable":           {storage.ErrUnavailable, false, 503, metav1.StatusReasonServiceUnavailable, 1, 4},
		"closed":                {storage.ErrClosed, false, 503, metav1.StatusReasonServiceUnavailable, 1, 4},
		// What holds managedFields is tried again without.
		"too large": {storage.ErrTooLarge, false, 413, metav1.StatusReasonRequestEntityTooLarge, 0, 7},
		"no space":  {storage.ErrNoSpace, false, 507, store.ReasonNoSpace, 0, 4},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			backend := &failing{Backend: openBackend(t)}
			h, err := registry.New(shop.Definition()).Open(t.Context(), registry.Config{Backend: backend,
				Prefix: "/registry", DisableCache: true})
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			b := &bench{TB: t, backend: backend, Handle: h}
			b.create(`{"metadata":{"name":"a"}}`)
			backend.err, backend.effect = c.err, c.effect

			var errs [4]error
			_, errs[0] = b.Create(b.ctx(), "ns", body(`{"metadata":{"generateName":"b-"}}`),
				verb.WriteOptions{Form: v1})
			_, errs[1] = b.patch("a", "", `{"spec":{"size":3}}`)
			_, errs[2] = b.update("a", &shop.WidgetV1{ObjectMeta: metav1.ObjectMeta{Name: "a"},
				Spec: shop.SpecV1{Size: 4}})
			_, errs[3] = b.delete("a", verb.DeleteOptions{})
			for i, err := range errs {
				s := wantStatus(t, err, c.code, c.reason, "")
				if strings.Contains(s.Message, "/registry") || !strings.Contains(s.Message,
					"widgets.shop.example.com") || i > 0 && !strings.Contains(s.Message, `"a"`) {
					t.Errorf("it tells of storage's key, or not of the object: %s", s.Message)
				}
				if got := s.Details; got != nil && got.RetryAfterSeconds != c.retry || got == nil && c.retry != 0 {
					t.Errorf("%+v: retry after %+v", s, got)
				}
			}
			if n := backend.writes.Load(); n != c.writes {
				t.Errorf("%d writes were tried for 4 requests, want %d", n, c.writes)
			}
		})
	}
}
