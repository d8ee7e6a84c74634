package registry_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
)

// united is a backend whose watches tell all that happened up to a revision as one change, as etcd does of the keys of
// a
// lease that ended.
type united struct {
	storage.Backend
	until int64
}

type unitedStream struct {
	storage.Stream
	until int64
}

func (u *united) Watch(ctx context.Context, prefix string, after int64) (storage.Stream, error) {
	stream, err := u.Backend.Watch(ctx, prefix, after)
	return &unitedStream{stream, u.until}, err
}

func (s *unitedStream) Next(ctx context.Context) (storage.Batch, error) {
	all, err := s.Stream.Next(ctx)
	for err == nil && all.Revision < s.until {
		var more storage.Batch
		more, err = s.Stream.Next(ctx)
		all.Events, all.Revision = append(all.Events, more.Events...), more.Revision
	}
	for i := range all.Events {
		all.Events[i].Revision = all.Revision
	}
	return all, err
}

// What happened at one revision is told at once, however much: who resumes from there is told none of it again.
func TestEventsOfOneRevisionAreToldAtOnce(t *testing.T) {
	backend := &united{Backend: openBackend(t)}
	b := openOver(t, backend, registry.New(shop.Definition()), registry.Config{DisableCache: true})
	first := b.create(`{"metadata":{"name":"first"}}`)
	const objects = 600
	for i := range objects {
		last := b.create(fmt.Sprintf(`{"metadata":{"name":"w%03d"}}`, i))
		backend.until, _ = strconv.ParseInt(last.ResourceVersion, 10, 64)
	}
	w := b.watch(api.WatchOptions{ResourceVersion: first.ResourceVersion})
	events, err := w.w.Next(t.Context())
	if err != nil || len(events) != objects {
		t.Errorf("%d events of one revision at once, want %d: %v", len(events), objects, err)
	}
}
