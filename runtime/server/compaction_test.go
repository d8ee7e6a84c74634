package server

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
)

// A server drops old revisions by itself.
func TestCompacts(t *testing.T) {
	backend := memory.New()
	defer backend.Close()
	p := program()
	p.Embedded = opens(func(context.Context, string) (storage.Backend, error) { return kept{backend}, nil })
	s := startProgram(t, p, filepath.Join(t.TempDir(), "data"), "--etcd-compaction-interval=10ms")
	first, err := backend.Put(t.Context(), "/x", nil, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := backend.Put(t.Context(), "/x", nil, first, 0); err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(2 * time.Minute); ; {
		var compacted *storage.CompactedError
		if _, err := backend.Range(t.Context(), storage.RangeRequest{Prefix: "/x", Revision: first}); errors.As(err,
			&compacted) {
			break
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("nothing was compacted")
		}
	}
	s.end(t)
}

// kept is a backend that outlives the server.
type kept struct{ storage.Backend }

func (kept) Close() error { return nil }
