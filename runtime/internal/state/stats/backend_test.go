package stats

import (
	"context"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	"github.com/prometheus/client_golang/prometheus"
)

// values gathers the counters, and the numbers of observations of histograms, by name and values of the labels.
func values(t *testing.T, c prometheus.Collector) map[string]float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			name := family.GetName()
			for _, label := range metric.GetLabel() {
				name += " " + label.GetValue()
			}
			found[name] = metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return found
}

// TestStorage: requests to storage are counted by their operation, failures apart, and so are the events of watches.
func TestStorage(t *testing.T) {
	measured := NewStorage()
	below := memory.New()
	defer below.Close()
	b := measured.Backend(below, &verb.Info{Group: "g", Names: api.Names{Plural: "things"}})
	ctx := t.Context()
	created, err := b.Put(ctx, "/things/a", []byte("1"), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := b.Watch(ctx, "/things/", created)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if _, err := b.Put(ctx, "/things/a", []byte("2"), created, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Put(ctx, "/things/a", []byte("3"), created, 0); err == nil {
		t.Fatal("no conflict")
	}
	if _, _, err := b.Get(ctx, "/things/a", storage.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	for events := 0; events < 1; {
		batch, err := stream.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		events += len(batch.Events)
	}
	below.Close()
	if _, err := b.Count(ctx, "/things/"); err == nil {
		t.Fatal("a closed backend counted")
	}
	got := values(t, measured)
	for name, want := range map[string]float64{
		"etcd_requests_total g create things":              1,
		"etcd_requests_total g update things":              2,
		"etcd_requests_total g get things":                 1,
		"etcd_requests_total g listCount things":           1,
		"etcd_request_errors_total g update things":        0,
		"etcd_request_errors_total g listCount things":     1,
		"etcd_request_duration_seconds g update things":    2,
		"apiserver_storage_events_received_total g things": 1,
	} {
		if value, found := got[name]; !found || value != want {
			t.Errorf("%s: %v (%t), want %v", name, value, found, want)
		}
	}
}

// script is a stream of given batches, which resumes by itself.
type script struct {
	storage.Stream
	batches []storage.Batch
	ends    bool
}

func (s *script) Next(context.Context) (storage.Batch, error) {
	if len(s.batches) == 0 {
		return storage.Batch{}, storage.ErrClosed
	}
	next := s.batches[0]
	s.batches = s.batches[1:]
	return next, nil
}

func (s *script) EndWithConnection() { s.ends = true }

type scripted struct {
	storage.Backend
	stream storage.Stream
}

func (s scripted) Watch(context.Context, string, int64) (storage.Stream, error) { return s.stream, nil }

// TestProgress: a batch without events is a bookmark, and a stream that resumes by itself can still be told not to.
func TestProgress(t *testing.T) {
	measured, below := NewStorage(), &script{batches: []storage.Batch{
		{Revision: 3}, {Revision: 5, Events: make([]storage.Event, 2)}, {Revision: 9},
	}}
	b := measured.Backend(scripted{stream: below}, &verb.Info{Group: "g", Names: api.Names{Plural: "things"}})
	stream, err := b.Watch(t.Context(), "/things/", 1)
	if err != nil {
		t.Fatal(err)
	}
	stream.(storage.Resumer).EndWithConnection()
	for err == nil {
		_, err = stream.Next(t.Context())
	}
	got := values(t, measured)
	if !below.ends || got["etcd_bookmark_total g things"] != 2 ||
		got["apiserver_storage_events_received_total g things"] != 2 {
		t.Errorf("ends %t, %v", below.ends, got)
	}
}

// TestForget: the series of a resource go with its last backend, and no other's do.
func TestForget(t *testing.T) {
	measured := NewStorage()
	below := memory.New()
	defer below.Close()
	things := &verb.Info{Group: "g", Names: api.Names{Plural: "things"}}
	others := &verb.Info{Group: "other", Names: api.Names{Plural: "things"}}
	for _, info := range []*verb.Info{things, others, things} {
		b := measured.Backend(below, info)
		if _, err := b.Revision(t.Context()); err != nil {
			t.Fatal(err)
		}
		stream, err := b.Watch(t.Context(), "/"+info.Group+"/", 0)
		if err != nil {
			t.Fatal(err)
		}
		stream.Close()
	}
	series := func(group string) (n int) {
		for name := range values(t, measured) {
			if slices.Contains(strings.Fields(name), group) {
				n++
			}
		}
		return n
	}
	all := series("g")
	if measured.Forget(things); all == 0 || series("g") != all {
		t.Errorf("of two backends, one is forgotten: %d series of %d are left", series("g"), all)
	}
	if measured.Forget(things); series("g") != 0 || series("other") != all {
		t.Errorf("both backends are forgotten: %d series are left, and %d of another resource, want %d", series("g"),
			series("other"), all)
	}
}
