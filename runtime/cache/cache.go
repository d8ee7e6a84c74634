// Package cache is the cacher of one resource: an immutable, ordered snapshot of every object's renditions and a sliding
// log of events, both fed by one watch on the backend, so that GET, LIST and WATCH write bytes and ask nobody.
//
// It knows storage and the vocabulary, no Go type of a user and no format: a Codec, given by the registry, decodes what
// the backend holds and renders forms.
//
// One goroutine, in Run, applies what the backend's watch delivers: it decodes, makes the next tree, appends to the log
// and publishes both with one atomic pointer. Readers take that pointer and no lock. A watcher is a Cursor, a place in
// the log; it is woken by changes of its topic (the narrowest folder of keys that has all that it covers) alone.
package cache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/storage"
)

// Codec turns stored values into renditions. Its methods are safe for concurrent use.
type Codec interface {
	// Decode reads a stored value. Where it fails or panics the entry is corrupt: reads that cover it fail, and name it.
	Decode(key string, value []byte, revision int64) (Record, error)
	// Render makes another form of an object from the rendition that Decode returned.
	Render(key string, stored api.Rendition, form api.Form) (api.Rendition, error)
	// Join appends an object to others, all as they stand in a list in a form that Snapshot.Blocks is asked for. What it
	// appends ends with the payload, and doesn't depend on what stands before.
	Join(list []byte, r *api.Rendition, form api.Form) []byte
	// Restamp returns the same object with another resourceVersion.
	Restamp(r api.Rendition, revision int64) api.Rendition
}

// Record is what the cache keeps of one stored value.
type Record struct {
	// Rendition is the object in the storage version, whole.
	Rendition api.Rendition
	Labels    map[string]string
	// Fields are the values of metadata.name, metadata.namespace and then of api.Info.SelectableFields, in that order.
	Fields []string
	// Stale says that what is stored is not what would be stored today.
	Stale bool
}

// Config is what New needs: the fields down to Name. The zero values of the others mean their defaults.
type Config struct {
	Backend storage.Backend
	// Prefix of the resource's keys; it ends in "/".
	Prefix string
	Codec  Codec
	// Stored is the form of Record.Rendition.
	Stored api.Form
	// Name is used in messages and metrics: widgets.shop.example.com.
	Name string
	// Indexed are the places in Record.Fields of fields whose values are looked up in an index; others are found by
	// passing over everything.
	Indexed []int

	// Logger hears of trouble with the backend; nil is silence.
	Logger *slog.Logger
	Window Window
	// RenditionBytes bounds the forms kept beside the stored ones: 128 MiB.
	RenditionBytes int64
	// PageSize is the number of keys in a page of a filling: 500.
	PageSize int64
	// Wait bounds the waiting of Consistent, NotOlderThan and At: 3 s.
	Wait time.Duration
	// Progress is the time after which an unanswered request for progress is repeated: 100 ms.
	Progress time.Duration
	// Backoff is the pause before trying again, after so many failures in a row (beginning with 0) since anything
	// came from the backend: by default from 50 ms, doubling, to 10 s, with jitter.
	Backoff func(failures int) time.Duration
	// Verify turns on expensive checks of invariants, which panic.
	Verify bool
	// Check is how often the whole cache is compared with the backend, see Cache.Check; 0 is never.
	Check time.Duration
	// SuspectPause is how often, at most, that is done where a resumed watch could not prove that the backend's history is
	// what it was: 10 minutes.
	SuspectPause time.Duration
}

// Match decides whether a selection takes an entry; nil takes all. It must be fast and without side effects. It is not
// asked about entries that could not be decoded.
type Match func(*Entry) bool

// Cache is the cacher. All methods are safe for concurrent use.
type Cache struct {
	config   Config
	counts   counters
	asker    asker
	progress progress
	running  atomic.Bool
	// began is where its time begins, which steps of the wall clock don't touch.
	began time.Time
	// behind is until when Latest needn't be tried, in nanoseconds since began.
	behind atomic.Int64
	// suspected asks for a Check.
	suspected chan struct{}
	// trouble is why the cache doesn't follow the backend; nil while it does.
	trouble atomic.Pointer[error]
	// generation is the latest that was filled; nil before the first.
	generation atomic.Pointer[generation]
	// severed is the highest revision of the generations that ended: what came behind it or an older one, in a history
	// that may have been another, the cache doesn't know.
	severed atomic.Int64
}

// New returns a cache that is empty and not ready until Run fills it.
func New(config Config) *Cache {
	config.Window = config.Window.withDefaults()
	config.RenditionBytes = cmp.Or(config.RenditionBytes, 128<<20)
	config.PageSize = cmp.Or(config.PageSize, 500)
	config.Wait = cmp.Or(config.Wait, 3*time.Second)
	config.Progress = cmp.Or(config.Progress, 100*time.Millisecond)
	config.SuspectPause = cmp.Or(config.SuspectPause, suspectPause)
	if config.Backoff == nil {
		config.Backoff = backoff
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Cache{config: config, began: time.Now()}
	c.asker.kick = make(chan struct{}, 1)
	c.suspected = make(chan struct{}, 1)
	c.progress.kick = make(chan struct{}, 1)
	c.stumble(errors.New("it has not been filled yet"))
	return c
}

// Run fills the cache and follows the backend until ctx ends, and then returns nil. Whatever goes wrong with the
// backend, it tries again; a lost watch is resumed, a compacted one or a backend that was rolled back makes it start
// anew with a new snapshot. A cache runs once.
func (c *Cache) Run(ctx context.Context) error {
	if !c.running.CompareAndSwap(false, true) {
		return fmt.Errorf("the cache of %s was run already", c.config.Name)
	}
	var asking sync.WaitGroup
	asking.Go(func() { c.asker.run(ctx, c.ask) })
	if c.config.Check > 0 {
		asking.Go(func() { c.checkFrom(ctx) })
	}
	asking.Go(func() { c.checkSuspects(ctx) })
	defer asking.Wait()
	for failures := 0; ctx.Err() == nil; failures++ {
		before := c.counts.batches.Load() + c.counts.fills.Load()
		err := c.keepUp(ctx)
		if ctx.Err() != nil {
			break
		}
		if c.counts.batches.Load()+c.counts.fills.Load() != before {
			failures = 0
		}
		c.stumble(err)
		c.config.Logger.Warn("the cache lost the backend", "resource", c.config.Name, "error", err)
		select {
		case <-time.After(c.config.Backoff(failures)):
		case <-ctx.Done():
		}
	}
	c.stumble(errStopped)
	if g := c.generation.Load(); g != nil {
		g.close(errStopped)
	}
	return nil
}

// Restart makes a cache that was filled begin anew, as if history had been lost for the reason why: cursors expire, all
// is decoded again, and the last snapshot can be read until then.
func (c *Cache) Restart(why error) {
	if g := c.generation.Load(); g != nil {
		g.cancel(why)
	}
}

// backoff is the default of Config.Backoff.
func backoff(failures int) time.Duration {
	d := 50 * time.Millisecond << min(failures, 8)
	return min(d, 10*time.Second)/2 + rand.N(d/2)
}

// stumble says why the cache doesn't follow the backend.
func (c *Cache) stumble(why error) {
	err := fmt.Errorf("%w: %s: %w", ErrNotReady, c.config.Name, why)
	c.trouble.Store(&err)
}

// Ready is nil while the cache follows the backend, else the reason why not; it wraps ErrNotReady.
func (c *Cache) Ready() error {
	if trouble := c.trouble.Load(); trouble != nil {
		return *trouble
	}
	return nil
}

// Current returns the latest snapshot at once: what resourceVersion=0 reads. It fails with ErrNotReady before the first
// filling. While the cache starts anew, it is the last one from before.
func (c *Cache) Current() (*Snapshot, error) {
	g := c.generation.Load()
	if g == nil {
		return nil, c.unfilled()
	}
	return &g.state.Load().Snapshot, nil
}

func (c *Cache) unfilled() error {
	if err := c.Ready(); err != nil {
		return err
	}
	return ErrNotReady
}

// NotOlderThan returns a snapshot at revision or later, waiting a bounded time (Config.Wait) for it; then ErrFuture. Where
// the cache has not been filled it fails with ErrNotReady; where it starts anew, too, unless the last snapshot from before
// is late enough.
func (c *Cache) NotOlderThan(ctx context.Context, revision int64) (*Snapshot, error) {
	g := c.generation.Load()
	if g == nil {
		return nil, c.unfilled()
	}
	if s := g.state.Load(); s.revision >= revision {
		return &s.Snapshot, nil
	}
	bound := time.NewTimer(c.config.Wait)
	defer bound.Stop()
	s, err := c.reach(ctx, g, revision, bound.C)
	switch {
	case err == nil:
		return s, nil
	case errors.Is(err, errTooSlow):
		return nil, fmt.Errorf("%w: %w", ErrFuture, err)
	case g.ctx.Err() != nil:
		return nil, fmt.Errorf("%w: %s: %w", ErrNotReady, c.config.Name, context.Cause(g.ctx))
	}
	return nil, err
}

// At returns the snapshot at exactly this revision; ErrExpired where the window no longer has it, ErrFuture where it has
// not come after the bounded wait.
func (c *Cache) At(ctx context.Context, revision int64) (*Snapshot, error) {
	if _, err := c.NotOlderThan(ctx, revision); err != nil {
		return nil, err
	}
	g := c.generation.Load()
	if err := context.Cause(g.ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrExpired, err)
	}
	s := g.at(revision)
	if s == nil {
		return nil, fmt.Errorf("%w: %d", ErrExpired, revision)
	}
	return s, nil
}

// Watch returns a cursor that yields what happens after revision to entries whose key begins with prefix (which begins
// with the cache's). ErrExpired where the window begins later; whether the backend may be asked for what happened instead,
// Unbroken tells. ErrNotReady before the first filling. A revision of the future is waited for.
func (c *Cache) Watch(prefix string, after int64, match Match) (*Cursor, error) {
	return c.Follow(prefix, nil, after, match)
}

// Follow is Watch for a match that takes only what the lookup lets pass. Where the lookup asks for the value of a field,
// the cursor is woken by changes of entries alone that have or had that value.
func (c *Cache) Follow(prefix string, l *Lookup, after int64, match Match) (*Cursor, error) {
	if !strings.HasPrefix(prefix, c.config.Prefix) {
		return nil, fmt.Errorf("the prefix %q of a watch doesn't begin with %q, that of the cache", prefix, c.config.Prefix)
	}
	g := c.generation.Load()
	if g == nil {
		return nil, c.unfilled()
	}
	if after <= c.severed.Load() && after > g.state.Load().revision {
		return nil, fmt.Errorf("%w: %d is of a history that has ended", ErrExpired, after)
	}
	return g.watch(prefix, l, after, match)
}
