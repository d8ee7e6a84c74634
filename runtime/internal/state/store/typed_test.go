package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// gadgets is a store without definition, HTTP or server: a type and two functions. Its methods are those of the Store
// with objects in the place of renditions and outcomes.
type gadgets struct{ *store.Store[*shop.Gadget] }

type (
	options = store.CommitOptions[*shop.Gadget]
	state   = store.State[*shop.Gadget]
	plan    = store.Plan[*shop.Gadget]
	gadgetT = shop.Gadget
)

func (s *gadgets) object(out store.Outcome, err error) (*gadgetT, error) {
	if err != nil {
		return nil, err
	}
	return s.Decode(out.Data, out.Revision)
}

func (s *gadgets) Create(ctx context.Context, key string, obj *gadgetT, ttl time.Duration) (*gadgetT, error) {
	return s.object(s.Store.Create(ctx, key, obj, store.CreateOptions{TTL: ttl}))
}

func (s *gadgets) Get(ctx context.Context, key string, opts store.GetOptions) (*gadgetT, error) {
	rendition, err := s.Store.Get(ctx, key, opts, s.Form())
	if err != nil {
		return nil, err
	}
	return s.Object(rendition)
}

// gadgetList is a page of objects.
type gadgetList struct {
	Items           []*gadgetT
	ResourceVersion string
}

func (s *gadgets) List(ctx context.Context, prefix string, opts verb.ListOptions) (*gadgetList, error) {
	page, err := s.Store.List(ctx, prefix, opts, s.Form())
	if err != nil {
		return nil, err
	}
	defer page.Close()
	list := &gadgetList{ResourceVersion: page.ResourceVersion}
	for rendition := range page.Items {
		obj, err := s.Object(rendition)
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, obj)
	}
	if len(list.Items) != page.Len {
		return nil, errors.New("the page has another length than it says")
	}
	return list, nil
}

func (s *gadgets) Update(ctx context.Context, key string, opts options,
	change func(*gadgetT) (*gadgetT, time.Duration, error),
) (*gadgetT, error) {
	return s.object(s.Store.Update(ctx, key, opts, func(current *state) (p plan, err error) {
		p.Object, p.TTL, err = change(current.Object)
		return p, err
	}))
}

func (s *gadgets) Delete(ctx context.Context, key string, opts options,
	validate func(*gadgetT) error,
) (*gadgetT, error) {
	if validate == nil {
		return s.object(s.Store.Delete(ctx, key, opts, nil))
	}
	return s.object(s.Store.Delete(ctx, key, opts, func(current *state) (plan, error) {
		return plan{Verb: store.Remove}, validate(current.Object)
	}))
}

// gadgetEvent is an event with its object.
type gadgetEvent struct {
	Type   api.EventType
	Object *gadgetT
}

type gadgetWatch struct {
	verb.Watch
	s *gadgets
}

func (s *gadgets) Watch(ctx context.Context, prefix string, opts api.WatchOptions) (*gadgetWatch, error) {
	w, err := s.Store.Watch(ctx, prefix, opts, s.Form())
	if err != nil {
		return nil, err
	}
	return &gadgetWatch{w, s}, nil
}

func (w *gadgetWatch) Next(ctx context.Context) ([]gadgetEvent, error) {
	events, err := w.Watch.Next(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]gadgetEvent, len(events))
	for i, e := range events {
		obj, err := w.s.Object(e.Object)
		if err != nil {
			return nil, err
		}
		out[i] = gadgetEvent{e.Type, obj}
	}
	return out, nil
}

func openStore(t *testing.T, backend storage.Backend, cached bool, patience time.Duration) *gadgets {
	t.Helper()
	return openSealed(t, backend, nil, cached, patience)
}

func openSealed(t *testing.T, backend storage.Backend, transformer store.Transformer, cached bool,
	patience time.Duration,
) *gadgets {
	t.Helper()
	config := gadgetConfig(backend)
	config.Transformer, config.DisableCache, config.Patience = transformer, !cached, patience
	s, err := store.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &gadgets{s}
}

// gadgetConfig configures a store of gadgets with the cache in front.
func gadgetConfig(backend storage.Backend) store.Config[*gadgetT] {
	return store.Config[*gadgetT]{
		Reading: store.Reading{
			Backend: backend, KeyPrefix: "/registry/", ResourcePrefix: "gadgets/", Namespaced: true,
			Resource: schema.GroupResource{Resource: "gadgets"}, BookmarkEvery: 20 * time.Millisecond,
		},
		New:    func() *gadgetT { return &gadgetT{} },
		Encode: func(g *gadgetT) ([]byte, error) { return json.Marshal(g) },
		Decode: func(_ context.Context, data []byte) (*gadgetT, error) {
			var g gadgetT
			return &g, json.Unmarshal(data, &g)
		},
	}
}

// contract runs one property of the store's contract with the cache in front and over the bare backend, with values as
// they are and transformed.
func contract(t *testing.T, property func(t *testing.T, s *gadgets, backend storage.Backend)) {
	t.Helper()
	for name, transformer := range map[string]store.Transformer{"": nil, " transformed": flipped{}} {
		for kind, cached := range map[string]bool{"cache": true, "bare": false} {
			t.Run(kind+name, func(t *testing.T) {
				backend := openBackend(t)
				s := openSealed(t, backend, transformer, cached, 0)
				waitFor(t, s.Ready)
				property(t, s, backend)
			})
		}
	}
}

// flipped is a Transformer that stores each byte with its bits flipped, behind a mark. Values without the mark are
// stale.
type flipped struct{}

const mark = "flipped:"

func (flipped) Open(_ string, stored []byte) (plain []byte, stale bool, err error) {
	rest, ok := bytes.CutPrefix(stored, []byte(mark))
	if !ok {
		return stored, true, nil
	}
	return flip(rest), false, nil
}

func (flipped) Seal(_ string, plain []byte) ([]byte, error) {
	return append([]byte(mark), flip(plain)...), nil
}

func flip(data []byte) []byte {
	out := make([]byte, len(data))
	for i, b := range data {
		out[i] = ^b
	}
	return out
}

func openBackend(t testing.TB) storage.Backend {
	t.Helper()
	b := memory.New()
	t.Cleanup(func() { b.Close() })
	return b
}

// waitFor waits until ready is nil.
func waitFor(t testing.TB, ready func() error) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(2 * time.Minute); ready() != nil; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal(ready())
		}
	}
}

// wantStatus checks code, reason and a part of the message.
func wantStatus(t testing.TB, err error, code int32, reason metav1.StatusReason, message string) *metav1.Status {
	t.Helper()
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		t.Fatalf("got %v, want a status %d %s", err, code, reason)
	}
	s := status.Status()
	if s.Code != code || s.Reason != reason || !strings.Contains(s.Message, message) {
		t.Fatalf("got %d %s %q\nwant %d %s %q", s.Code, s.Reason, s.Message, code, reason, message)
	}
	return &s
}
