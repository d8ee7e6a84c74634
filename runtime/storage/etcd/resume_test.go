package etcd_test

import (
	"errors"
	"testing"

	"apigen.dev/runtime/internal/etcdtest"
	"apigen.dev/runtime/storage"
)

// A watch goes on where its connection was lost and comes back, unless it was asked to end with it.
func TestWatchEndsWithItsConnectionWhereAsked(t *testing.T) {
	process, ctx := etcdtest.Start(t), patience(t)
	backend := open(t, process)
	start, err := putSurely(ctx, backend, "/watched/first")
	if err != nil {
		t.Fatal(err)
	}
	var streams [2]storage.Stream
	for i := range streams {
		if streams[i], err = backend.Watch(ctx, "/watched/", start); err != nil {
			t.Fatal(err)
		}
		defer streams[i].Close()
	}
	streams[1].(storage.Resumer).EndWithConnection()
	process.Restart()
	last, err := putSurely(ctx, backend, "/watched/last")
	if err != nil {
		t.Fatal(err)
	}
	for batch := (storage.Batch{}); batch.Revision < last; {
		if batch, err = streams[0].Next(ctx); err != nil {
			t.Fatalf("a watch that was not asked to end: %v", err)
		}
	}
	for err == nil {
		var batch storage.Batch
		if batch, err = streams[1].Next(ctx); len(batch.Events) > 0 {
			t.Fatalf("a watch that was asked to end was told %v", batch.Events)
		}
	}
	if !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("a watch that was asked to end: %v", err)
	}
}
