package cache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/storage"
)

// TestCheck: Check finds every kind of difference, and the cache is right again afterwards.
func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name    string
		corrupt func(history []storage.Event) []storage.Event // behind the cache's back
		want    string
	}{
		{"a value", func(h []storage.Event) []storage.Event { h[700].Value = []byte("|other"); return h },
			"toys/0700 hashes to "},
		{"a value that can't be decoded",
			func(h []storage.Event) []storage.Event { h[700].Value = []byte("bad"); return h },
			"toys/0700 can be decoded in one of them only"},
		{"a revision", func(h []storage.Event) []storage.Event { h[700].Revision--; return h },
			"the cache has /registry/toys/0700 at revision 702, the backend at 701"},
		{"a key that is not there", func(h []storage.Event) []storage.Event { h[700].Key = "/elsewhere"; return h },
			"the backend doesn't have /registry/toys/0700"},
		{"the last key", func(h []storage.Event) []storage.Event { h[1199].Key = "/elsewhere"; return h },
			"the backend doesn't have /registry/toys/1199"},
		{"one key more", func(h []storage.Event) []storage.Event { h[700].Key = toys + "0000x"; return h },
			"the cache doesn't have /registry/toys/0000x"},
		{"one key more at the end", func(h []storage.Event) []storage.Event { h[1199].Key = toys + "2"; return h },
			"the backend doesn't have /registry/toys/1199"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFake()
			for i := range 1200 {
				f.put(fmt.Sprintf("|%d", i), fmt.Sprintf("%s%04d", toys, i))
			}
			f.put("bad", toys+"1000")
			c := start(t, toyConfig(f))
			if err := c.Check(t.Context()); err != nil {
				t.Fatalf("without a difference: %v", err)
			}
			cursor, err := c.Watch(toys, nil, f.revision, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer cursor.Close()
			f.mu.Lock()
			f.history = test.corrupt(f.history)
			f.mu.Unlock()
			if err := c.Check(t.Context()); !errors.Is(err, ErrInconsistent) ||
				!strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want %q", err, test.want)
			}
			eventually(t, func() bool { return c.Ready() == nil && c.Stats().Fills == 2 })
			if _, err := cursor.Next(t.Context()); !errors.Is(err, ErrExpired) {
				t.Errorf("a cursor of the cache that was wrong: %v", err)
			}
			if err := c.Check(t.Context()); err != nil {
				t.Errorf("after a new beginning: %v", err)
			}
			if s := c.Stats(); s.Checks != 2 || s.Differences != 1 || s.FailedChecks != 0 {
				t.Errorf("counted %d checks, %d differences, %d failures", s.Checks, s.Differences, s.FailedChecks)
			}
		})
	}
}

// Where there is nothing to compare with, nothing is dropped.
func TestCheckFails(t *testing.T) {
	f := newFake()
	f.put("|1", toys+"a")
	c := start(t, toyConfig(f))
	last := f.put("|2", toys+"b")
	eventually(t, func() bool { s, _ := c.Current(); return s.Revision() >= last })
	f.compact(last + 1)
	var compacted *storage.CompactedError
	if err := c.Check(t.Context()); !errors.As(err, &compacted) || errors.Is(err, ErrInconsistent) {
		t.Errorf("error %v", err)
	}
	if s := c.Stats(); s.Fills != 1 || s.FailedChecks != 1 {
		t.Errorf("%d fillings, %d failures", s.Fills, s.FailedChecks)
	}
}

// compacting has compacted what is older than a revision, and doesn't end watches for it: they have all events.
type compacting struct {
	*fake
	oldest int64
}

func (b *compacting) Range(ctx context.Context, r storage.RangeRequest) (*storage.RangeResult, error) {
	if r.Revision != 0 && r.Revision < b.oldest {
		return nil, &storage.CompactedError{Revision: b.oldest}
	}
	return b.fake.Range(ctx, r)
}

// A cache whose keys nobody writes, and of which nobody asks for consistent reads, stays at the revision of its last
// event, which is compacted in time. It can be compared all the same.
func TestCheckOfQuietCache(t *testing.T) {
	f := newFake()
	f.put("|1", toys+"a")
	backend := &compacting{fake: f}
	config := toyConfig(f)
	config.Backend = backend
	c := start(t, config)
	backend.oldest = f.put("|2", "/elsewhere/a")
	if s, _ := c.Current(); s.Revision() >= backend.oldest {
		t.Fatalf("the cache is at revision %d, which is not compacted", s.Revision())
	}
	if err := c.Check(t.Context()); err != nil {
		t.Errorf("a comparison after the cache's revision was compacted: %v", err)
	}
	if s := c.Stats(); s.Fills != 1 || s.Checks != 1 || s.FailedChecks != 0 {
		t.Errorf("%d fillings, %d checks, %d failures", s.Fills, s.Checks, s.FailedChecks)
	}
}

// lines is a log that tests read.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// With Config.Check the comparison is made by itself, and what it finds is logged.
func TestCheckByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, log := newFake(), &lines{}
		f.put("|1", toys+"a")
		config := toyConfig(f)
		config.Check, config.Verify, config.Logger = time.Minute, false, slog.New(slog.NewTextHandler(log, nil))
		c := New(config)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			if err := c.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(90 * time.Second) // of the bubble
		synctest.Wait()
		if s := c.Stats(); s.Checks != 1 || s.Differences != 0 {
			t.Errorf("%d checks, %d differences", s.Checks, s.Differences)
		}
		f.mu.Lock()
		f.history[0].Value = []byte("|2")
		f.mu.Unlock()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if s := c.Stats(); s.Checks != 2 || s.Differences != 1 || s.Fills != 2 {
			t.Errorf("%d checks, %d differences, %d fillings", s.Checks, s.Differences, s.Fills)
		}
		if !strings.Contains(log.text.String(),
			"level=ERROR msg=\"the cache differed from the backend, and was dropped\" resource=toys") {
			t.Errorf("logged:\n%s", log.text.String())
		}
		cancel()
		running.Wait()
	})
}
