package registry_test

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
)

// A new object has no resourceVersion when the author's functions see it, whatever the client sent: many tell a new
// object from an old one by that.
func TestNewObjectsHaveNoVersion(t *testing.T) {
	for name, sent := range map[string]struct {
		version string
		dryRun  bool
		code    int32 // 0 for success
	}{
		"none":                {"", false, 0},
		"zero":                {"0", false, 0},
		"another":             {"5", false, 400},
		"no number":           {"old", false, 400},
		"another, by dry run": {"5", true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			see := func(w *shop.Widget) {
				calls++
				if w.ResourceVersion != "" {
					t.Errorf("call %d sees resourceVersion %q", calls, w.ResourceVersion)
				}
			}
			d := shop.Definition()
			d.Strategy.PrepareForCreate = func(_ context.Context, w *shop.Widget) { see(w) }
			d.Strategy.Validate = func(_ context.Context, w *shop.Widget) field.ErrorList { see(w); return nil }
			d.Strategy.ValidateCreate = d.Strategy.Validate
			d.Strategy.Warnings = func(_ context.Context, w, _ *shop.Widget) []string { see(w); return nil }
			d.Strategy.Canonicalize = see
			h, err := registry.New(d).Open(t.Context(), registry.Config{Backend: newMemory(t), Prefix: "/registry",
				DisableCache: true})
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			_, err = h.Create(t.Context(), "ns", body(`{"metadata":{"name":"a","resourceVersion":"`+sent.version+`"}}`),
				verb.WriteOptions{Form: v1, DryRun: sent.dryRun})
			if err != nil && codeOf(t, err) != sent.code || err == nil && sent.code != 0 {
				t.Errorf("%v, want code %d", err, sent.code)
			}
			if calls != 5 {
				t.Errorf("%d of 5 functions were called", calls)
			}
		})
	}
}
