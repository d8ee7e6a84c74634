package registry_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

func newMemory(t testing.TB) storage.Backend {
	b := memory.New()
	t.Cleanup(func() { b.Close() })
	return b
}

func view(namespace, name, color string) *shop.Widget {
	w := &shop.Widget{Color: color}
	w.Namespace, w.Name, w.Labels = namespace, name, map[string]string{"color": color}
	return w
}

// script is a watch that was written down.
type script struct {
	batches [][]registry.WatchEvent[*shop.Widget]
	closed  *bool
}

func (s *script) Next(ctx context.Context) ([]registry.WatchEvent[*shop.Widget], error) {
	if len(s.batches) == 0 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	batch := s.batches[0]
	s.batches = s.batches[1:]
	return batch, nil
}

func (s *script) Close() { *s.closed = true }

func openVirtual(t *testing.T, p registry.Provider[*shop.Widget]) verb.Handle {
	t.Helper()
	h, err := registry.NewProvided(shop.Definition(), p).Open(t.Context(), registry.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func names(page *verb.Page) (all []string) {
	for r := range page.Items {
		at := strings.Index(string(r.Payload), `"name":"`) + len(`"name":"`)
		name, _, _ := strings.Cut(string(r.Payload)[at:], `"`)
		all = append(all, name)
	}
	return all
}

func TestVirtualList(t *testing.T) {
	var items []*shop.Widget
	for i := range 10 {
		items = append(items, view([]string{"b", "a"}[i%2], fmt.Sprint("w", 9-i), []string{"red", "blue"}[i/5]))
	}
	h := openVirtual(t, registry.Provider[*shop.Widget]{
		List: func(context.Context, string, api.Selection) (*registry.List[*shop.Widget], error) {
			return &registry.List[*shop.Widget]{Items: items, ResourceVersion: "7"}, nil
		},
	})
	for _, c := range []struct {
		namespace string
		opts      verb.ListOptions
		want      []string
	}{
		{"", verb.ListOptions{}, []string{"w0", "w2", "w4", "w6", "w8", "w1", "w3", "w5", "w7", "w9"}},
		{"b", verb.ListOptions{}, []string{"w1", "w3", "w5", "w7", "w9"}},
		{"b", verb.ListOptions{Selection: api.Selection{Labels: labels.SelectorFromSet(labels.Set{"color": "red"})}},
			[]string{"w5", "w7", "w9"}},
		{"", verb.ListOptions{Selection: api.Selection{Fields: fields.OneTermEqualSelector("spec.color", "blue")}},
			[]string{"w0", "w2", "w4", "w1", "w3"}},
		{"", verb.ListOptions{Selection: api.Selection{Fields: fields.OneTermEqualSelector("metadata.name", "w3")}},
			[]string{"w3"}},
	} {
		for _, limit := range []int64{0, 1, 3, 100} {
			var got []string
			opts := c.opts
			for opts.Limit = limit; ; {
				page, err := h.List(t.Context(), c.namespace, opts, v1)
				if err != nil {
					t.Fatal(err)
				}
				if limit > 0 && page.Len > int(limit) || page.ResourceVersion != "7" {
					t.Errorf("a page of %d at %q", page.Len, page.ResourceVersion)
				}
				got = append(got, names(page)...)
				page.Close()
				if opts.Continue = page.Continue; opts.Continue == "" {
					break
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q %+v by %d: %v, want %v", c.namespace, c.opts, limit, got, c.want)
			}
		}
	}
	if _, err := h.List(t.Context(), "", verb.ListOptions{Continue: "x"}, v1); !apierrors.IsBadRequest(err) {
		t.Errorf("a forged token: %v", err)
	}
	for verb, err := range map[string]error{
		"get":    second(h.Get(t.Context(), "a", "w0", "", v1)),
		"watch":  second(h.Watch(t.Context(), "a", api.WatchOptions{}, v1)),
		"create": second(h.Create(t.Context(), "a", body(`{}`), verb.WriteOptions{})),
		"update": second(h.Update(t.Context(), "a", "w0", "", body(`{}`), verb.WriteOptions{})),
		"delete": second(h.Delete(t.Context(), "a", "w0", verb.DeleteOptions{})),
	} {
		if !apierrors.IsMethodNotSupported(err) {
			t.Errorf("%s: %v", verb, err)
		}
	}
	if info := h.Info(); !slices.Equal(info.Verbs, []string{"list"}) || info.Storage != "" ||
		len(info.Subresources) > 0 {
		t.Errorf("%+v", info)
	}
}

func second[V any](_ V, err error) error { return err }

func TestVirtualWatch(t *testing.T) {
	event := func(e api.EventType, w *shop.Widget) registry.WatchEvent[*shop.Widget] {
		return registry.WatchEvent[*shop.Widget]{Type: e, Object: w}
	}
	closed := false
	h := openVirtual(t, registry.Provider[*shop.Widget]{
		Watch: func(context.Context, string, api.WatchOptions) (registry.ObjectWatch[*shop.Widget], error) {
			return &script{closed: &closed, batches: [][]registry.WatchEvent[*shop.Widget]{
				{event(api.Added, view("a", "one", "red")), event(api.Added, view("a", "two", "blue"))},
				{event(api.Modified, view("a", "two", "green"))},
				{event(api.Modified, view("a", "two", "red")), event(api.Added, view("b", "far", "red"))},
				{event(api.Modified, view("a", "one", "blue")), event(api.Deleted, view("a", "two", "red"))},
			}}, nil
		},
	})
	w, err := h.Watch(t.Context(), "a",
		api.WatchOptions{Selection: api.Selection{Labels: labels.SelectorFromSet(labels.Set{"color": "red"})}}, v1)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for len(got) < 4 {
		events, err := w.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			page := verb.Page{Items: slices.Values([]verb.Rendition{e.Object})}
			got = append(got, string(e.Type)+" "+names(&page)[0])
		}
	}
	if want := []string{"ADDED one", "ADDED two", "DELETED one", "DELETED two"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Next(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("a watch of a closed handle: %v", err)
	}
	if w.Close(); !closed {
		t.Error("the provider's watch was not closed")
	}
}

func TestVirtualCreate(t *testing.T) {
	dry := false
	h := openVirtual(t, registry.Provider[*shop.Widget]{
		Create: func(_ context.Context, w *shop.Widget, dryRun bool) (*shop.Widget, error) {
			if dry = dryRun; w.Color == "teapot" {
				return nil, apierrors.NewResourceExpired("short and stout")
			}
			w.Phase = "seen"
			return w, nil
		},
		Get: func(context.Context, string, string) (*shop.Widget, error) { return nil, nil },
	})
	r, err := h.Create(t.Context(), "ns", verb.Body{Version: "v1beta1", Data: []byte(`{"spec":{"colour":"beige"}}`),
		Validation: metav1.FieldValidationWarn},
		verb.WriteOptions{Form: v1beta1, DryRun: true})
	if err != nil || !r.Created || !dry || len(r.Warnings) != 1 || !strings.Contains(whole(r.Object),
		`"colour":"beige"`) || !strings.Contains(whole(r.Object), `"phase":"seen"`) {
		t.Errorf("%v %+v %s", err, r, whole(r.Object))
	}
	for data, is := range map[string]func(error) bool{
		`{"spec":{"size":-1}}`:              apierrors.IsInvalid,
		`{"spec":{"x":1}}`:                  apierrors.IsBadRequest,
		`{"metadata":{"namespace":"else"}}`: apierrors.IsBadRequest,
		`{"spec":{"color":"teapot"}}`:       apierrors.IsResourceExpired,
	} {
		if _, err := h.Create(t.Context(), "ns", body(data), verb.WriteOptions{Form: v1}); !is(err) {
			t.Errorf("%s: %v", data, err)
		}
	}
	if _, err := h.Get(t.Context(), "ns", "a", "", v1); !apierrors.IsNotFound(err) {
		t.Errorf("a provider that returns nothing: %v", err)
	}
	if _, err := registry.NewProvided(shop.Definition(), registry.Provider[*shop.Widget]{}).Open(t.Context(),
		registry.Config{}); err == nil {
		t.Error("a kind without verbs was opened")
	}
}
