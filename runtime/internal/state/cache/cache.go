// Package cache is the watch cache of one resource: an immutable, ordered snapshot of the renditions of all objects,
// and a sliding log of events. One watch on the backend feeds both, so that GET, LIST and WATCH write bytes and ask
// nobody.
//
// The package knows storage and the vocabulary, but no Go type of a user and no format: a Codec, which the registry
// provides, decodes stored values and renders forms.
//
// One goroutine, in Run, applies the events of the backend's watch: it decodes them, makes the next tree, appends to
// the log, and publishes both with one atomic pointer. Readers take that pointer and no lock. A watcher is a Cursor, a
// place in the log. Only changes of its topic (the narrowest prefix of keys that has everything that it covers) wake
// it.
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

	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
)

// Codec turns stored values into renditions. Its methods are safe for concurrent use.
type Codec interface {
	// Decode reads a stored value. Where it fails or panics the entry is corrupt: reads that cover it fail, and name
	// it.
	Decode(key string, value []byte, revision int64) (Record, error)
	// Render makes another form of an object from the rendition that Decode returned.
	Render(key string, stored verb.Rendition, form verb.Form) (verb.Rendition, error)
	// Join appends an object to others, as a list has them, in a form that a caller of Snapshot.Blocks or
	// Snapshot.Parts asks for. The appended bytes begin with the Separator, end with the payload, and don't depend on
	// the bytes before.
	Join(list []byte, r *verb.Rendition, form verb.Form) []byte
	// Separator is what stands between the objects of a list.
	Separator(form verb.Form) string
	// AppendAge appends an age to what stands before it in a row, and returns when the age will be another one.
	AppendAge(row []byte, since, now time.Time) (extended []byte, changes time.Time)
	// Restamp returns the same object with another resourceVersion.
	Restamp(r verb.Rendition, revision int64) verb.Rendition
}

// Record is what the cache keeps of one stored value.
type Record struct {
	// Rendition is the object in the storage version, whole.
	Rendition verb.Rendition
	Labels    map[string]string
	// Fields are the values of metadata.name, metadata.namespace and then of verb.Info.SelectableFields, in that order.
	Fields []string
	// Stale says that the value would be stored with other bytes today: in another version, or with another key.
	Stale bool
}

// Config configures a Cache. The fields down to Name are required; the zero values of the others mean their defaults.
type Config struct {
	Backend storage.Backend
	// Prefix of the resource's keys; it ends in "/".
	Prefix string
	Codec  Codec
	// Stored is the form of Record.Rendition.
	Stored verb.Form
	// Name is used in messages and metrics: widgets.shop.example.com.
	Name string
	// Indexed are the places in Record.Fields of the fields that have an index. The cache finds values of other fields
	// by looking at all signatures.
	Indexed []int

	// Logger logs trouble with the backend; nil logs nothing.
	Logger *slog.Logger
	Window Window
	// RenditionBytes bounds the memory for forms other than the stored ones: 128 MiB.
	RenditionBytes int64
	// PageSize is the number of keys in a page while the cache is filled: 500.
	PageSize int64
	// Wait bounds how long Consistent, NotOlderThan and At wait: 3 s.
	Wait time.Duration
	// Progress is the time after which the cache repeats an unanswered request for progress: 100 ms.
	Progress time.Duration
	// Backoff returns the pause before the next attempt, after a number of failures in a row (beginning with 0) since
	// the backend last delivered something. The default goes from 50 ms, doubling, to 10 s, with jitter.
	Backoff func(failures int) time.Duration
	// Cold is after how long, up to twice that, an object that nobody read as it is stored is kept compressed; 0 is
	// never. Caches of less than 1 MiB keep all as they are, unless Verify is on.
	Cold time.Duration
	// Verify turns on expensive checks of invariants. A failed check panics.
	Verify bool
	// Check is the interval at which the cache compares itself with the backend, see Cache.Check; 0 is never.
	Check time.Duration
	// SuspectPause is the shortest time between two such comparisons where a resumed watch can't prove that the
	// backend's history is unchanged: 10 minutes.
	SuspectPause time.Duration
}

// Match decides whether a selection takes an entry; nil takes all. It must be fast and without side effects. The cache
// doesn't ask it about corrupt entries.
type Match func(*Entry) bool

// Cache is the watch cache of one resource. All methods are safe for concurrent use.
type Cache struct {
	config   Config
	counts   counters
	asker    asker
	progress progress
	running  atomic.Bool
	// began is the beginning of the cache's time, which steps of the wall clock don't change.
	began time.Time
	// behind is the time until which Latest doesn't wait for the cache, in nanoseconds since began.
	behind atomic.Int64
	// suspected requests a Check.
	suspected chan struct{}
	// trouble is the reason why the cache doesn't follow the backend; nil while it does.
	trouble atomic.Pointer[error]
	// generation is the latest one that was filled; nil before the first.
	generation atomic.Pointer[generation]
	// endedRevision is the highest revision of the generations that ended. The cache doesn't know the events between an
	// older revision and the present generation: they may be of another history.
	endedRevision atomic.Int64
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
	c.setTrouble(errors.New("it has not been filled yet"))
	return c
}

// Run fills the cache and follows the backend until ctx ends, and then returns nil. After any failure of the backend it
// tries again: it resumes a lost watch, and starts anew with a new snapshot where history was compacted or the backend
// was rolled back. A cache runs once.
func (c *Cache) Run(ctx context.Context) error {
	if !c.running.CompareAndSwap(false, true) {
		return fmt.Errorf("the cache of %s was run already", c.config.Name)
	}
	var asking sync.WaitGroup
	asking.Go(func() { c.asker.run(ctx, c.ask) })
	asking.Go(func() { c.runChecks(ctx) })
	asking.Go(func() { c.runCooler(ctx) })
	defer asking.Wait()
	for failures := 0; ctx.Err() == nil; failures++ {
		before := c.counts.batches.Load() + c.counts.fills.Load()
		err := c.fillAndFollow(ctx)
		if ctx.Err() != nil {
			break
		}
		if c.counts.batches.Load()+c.counts.fills.Load() != before {
			failures = 0
		}
		c.setTrouble(err)
		c.config.Logger.Warn("the cache lost the backend", "resource", c.config.Name, "error", err)
		select {
		case <-time.After(c.config.Backoff(failures)):
		case <-ctx.Done():
		}
	}
	c.setTrouble(errStopped)
	if g := c.generation.Load(); g != nil {
		g.close(errStopped)
	}
	return nil
}

// Restart makes a filled cache start anew, as if history had been lost for the given reason: cursors expire, and the
// cache decodes all values again. Readers see the last snapshot until then.
func (c *Cache) Restart(why error) {
	if g := c.generation.Load(); g != nil {
		g.cancel(why)
	}
}

func backoff(failures int) time.Duration {
	d := 50 * time.Millisecond << min(failures, 8)
	return min(d, 10*time.Second)/2 + rand.N(d/2)
}

func (c *Cache) setTrouble(why error) {
	err := fmt.Errorf("%w: %s: %w", ErrNotReady, c.config.Name, why)
	c.trouble.Store(&err)
}

// Ready returns nil while the cache follows the backend, else the reason why it doesn't, which wraps ErrNotReady.
func (c *Cache) Ready() error {
	if trouble := c.trouble.Load(); trouble != nil {
		return *trouble
	}
	return nil
}

// Current returns the latest snapshot without waiting, as a read at resourceVersion=0 does. It fails with ErrNotReady
// before the cache is filled for the first time. While the cache starts anew, it returns the last snapshot from before.
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

// NotOlderThan returns a snapshot at a revision or later. It waits for the revision up to Config.Wait and then fails
// with ErrFuture. It fails with ErrNotReady where the cache has not been filled, or starts anew and its last snapshot
// is too old.
func (c *Cache) NotOlderThan(ctx context.Context, revision int64) (*Snapshot, error) {
	g := c.generation.Load()
	if g == nil {
		return nil, c.unfilled()
	}
	if s := g.state.Load(); s.revision >= revision {
		return &s.Snapshot, nil
	}
	defer c.waited(ctx, time.Now())
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

// At returns the snapshot at exactly this revision. It fails with ErrExpired where the window no longer has the
// revision, and with ErrFuture where the revision doesn't come within Config.Wait.
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

// Watch returns a cursor over the changes after a revision to entries whose key begins with prefix, which begins with
// the cache's. It fails with ErrExpired where the window begins later; Unbroken then says whether the caller may ask
// the backend instead. It fails with ErrNotReady before the cache is filled for the first time. The cursor waits for a
// revision of the future. match takes no entry that the lookup excludes; a nil lookup excludes none. Where the lookup
// asks for the value of a field, only changes of entries that have or had that value wake the cursor.
func (c *Cache) Watch(prefix string, l *Lookup, after int64, match Match) (*Cursor, error) {
	if !strings.HasPrefix(prefix, c.config.Prefix) {
		return nil, fmt.Errorf("the prefix %q of a watch doesn't begin with %q, that of the cache", prefix,
			c.config.Prefix)
	}
	g := c.generation.Load()
	if g == nil {
		return nil, c.unfilled()
	}
	if after <= c.endedRevision.Load() && after > g.state.Load().revision {
		return nil, fmt.Errorf("%w: %d is of a history that has ended", ErrExpired, after)
	}
	return g.watch(prefix, l, after, match)
}

var (
	// ErrNotReady means that the cache has not been filled yet, or doesn't follow the backend.
	ErrNotReady = errors.New("the cache is not ready")
	// ErrLagging means that the cache did not catch up with the backend in time.
	ErrLagging = errors.New("the cache lags behind storage")
	// ErrFuture means that the requested revision did not come within the bounded wait.
	ErrFuture = errors.New("the revision is in the future")
	// ErrExpired means that the window no longer has the requested revision.
	ErrExpired = errors.New("the revision is no longer in the window")
	// ErrCorrupt means that a stored value can't be decoded.
	ErrCorrupt = errors.New("the stored value can't be decoded")
	// ErrInconsistent means that the cache differed from the backend, and was dropped.
	ErrInconsistent = errors.New("the cache differs from the backend")
)
