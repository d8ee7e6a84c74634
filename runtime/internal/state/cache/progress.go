package cache

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/storage"
)

var (
	errStopped    = errors.New("the cache was stopped")
	errRolledBack = errors.New("the backend was rolled back")
)

// Consistent returns a snapshot that has every write acknowledged before the call. Concurrent calls share questions to
// the backend, but no call joins a question that was asked before the call. Consistent fails with ErrLagging where the
// cache doesn't catch up within its bound, and with ErrNotReady if it doesn't follow the backend. The caller then
// reads from the backend.
func (c *Cache) Consistent(ctx context.Context) (*Snapshot, error) {
	if err := c.Ready(); err != nil {
		return nil, err
	}
	c.counts.consistent.Add(1)
	defer c.waited(ctx, time.Now())
	bound := time.NewTimer(c.config.Wait)
	defer bound.Stop()
	q := c.asker.join()
	select {
	case <-q.done:
	case <-bound.C:
		return nil, c.lags(errors.New("storage doesn't answer with its revision"))
	case <-ctx.Done():
		c.counts.abandoned.Add(1)
		return nil, ctx.Err()
	}
	if q.err != nil {
		return nil, c.lags(q.err)
	}
	s, err := c.reach(ctx, q.generation, q.revision, bound.C)
	switch {
	case err == nil:
		return s, nil
	case ctx.Err() != nil:
		c.counts.abandoned.Add(1)
		return nil, err
	}
	return nil, c.lags(err)
}

// Latest waits for the cache at most latestWait. After it has waited in vain, it doesn't wait again for behindFor.
const (
	latestWait = 5 * time.Millisecond
	behindFor  = 10 * time.Millisecond
)

// Latest is Consistent for reads that have another way than to wait. It returns a snapshot that has every write
// acknowledged before the call where the cache has it already or gets it soon, else nil. Concurrent calls share
// questions.
func (c *Cache) Latest(ctx context.Context) *Snapshot {
	if c.Ready() != nil || time.Since(c.began) < time.Duration(c.behind.Load()) {
		return nil
	}
	defer c.waited(ctx, time.Now())
	q := c.asker.join()
	select {
	case <-q.done:
	case <-ctx.Done():
		return nil
	}
	if q.err != nil {
		return nil
	}
	// A write to another prefix puts the cache behind until the backend reports progress.
	bound := time.NewTimer(latestWait)
	defer bound.Stop()
	s, err := c.reach(ctx, q.generation, q.revision, bound.C)
	if err != nil {
		c.behind.Store(int64(time.Since(c.began) + behindFor))
		return nil
	}
	c.counts.consistent.Add(1)
	return s
}

func (c *Cache) lags(why error) error {
	c.counts.lagging.Add(1)
	return fmt.Errorf("%w: %s: %w", ErrLagging, c.config.Name, why)
}

var errTooSlow = errors.New("the revision has not come in time")

func (c *Cache) reach(ctx context.Context, g *generation, revision int64, bound <-chan time.Time) (*Snapshot, error) {
	s := g.state.Load()
	if s.revision >= revision {
		return &s.Snapshot, nil
	}
	c.progress.enter()
	defer c.progress.leave()
	for ; s.revision < revision; s = g.state.Load() {
		select {
		case <-s.changed:
		case <-bound:
			return nil, fmt.Errorf("%w: %d was asked for, the cache is at %d", errTooSlow, revision, s.revision)
		case <-g.ctx.Done():
			return nil, context.Cause(g.ctx)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return &s.Snapshot, nil
}

// asker asks the backend for its revision on behalf of all readers that wait. One question is under way at a time;
// readers that arrive meanwhile share the next one.
type asker struct {
	kick chan struct{}

	mu      sync.Mutex // guards the following fields
	next    *question
	stopped bool
}

// question is a question with its answer, which readers may read once done is closed.
type question struct {
	done       chan struct{}
	generation *generation // whose state the answer was compared to
	revision   int64
	err        error
}

func (a *asker) join() *question {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.next != nil {
		return a.next
	}
	q := &question{done: make(chan struct{})}
	if a.stopped {
		q.err = errStopped
		close(q.done)
		return q
	}
	a.next = q
	select {
	case a.kick <- struct{}{}:
	default:
	}
	return q
}

func (a *asker) run(ctx context.Context, ask func(context.Context, *question)) {
	for ctx.Err() == nil {
		select {
		case <-a.kick:
			a.mu.Lock()
			q := a.next
			a.next = nil
			a.mu.Unlock()
			ask(ctx, q)
			close(q.done)
		case <-ctx.Done():
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopped = true
	if a.next != nil {
		a.next.err = errStopped
		close(a.next.done)
		a.next = nil
	}
}

// ask asks the backend. An answer below the cache's revision at that time ends the generation.
func (c *Cache) ask(ctx context.Context, q *question) {
	c.counts.questions.Add(1)
	ctx, cancel := context.WithTimeout(ctx, c.config.Wait)
	defer cancel()
	q.generation = c.generation.Load()
	have := q.generation.state.Load().revision
	q.revision, q.err = c.config.Backend.Revision(ctx)
	if q.err == nil && q.revision < have {
		q.err = c.rolledBack(q.generation, have, q.revision)
	}
}

func (c *Cache) rolledBack(g *generation, have, found int64) error {
	return c.otherHistory(g, fmt.Errorf("%w: from revision %d or later to %d", errRolledBack, have, found))
}

// progress requests progress from the watch while a reader waits for a revision: writes to other prefixes move the
// backend's revision, but bring no event.
type progress struct {
	waiting atomic.Int64
	kick    chan struct{}
}

func (p *progress) enter() {
	p.waiting.Add(1)
	select {
	case p.kick <- struct{}{}:
	default:
	}
}

func (p *progress) leave() { p.waiting.Add(-1) }

// run requests progress from the stream until ctx ends: when a reader begins to wait, and repeatedly while one waits,
// since requests may be lost.
func (p *progress) run(ctx context.Context, stream storage.Stream, every time.Duration) {
	again := time.NewTimer(every)
	defer again.Stop()
	for ctx.Err() == nil {
		if p.waiting.Load() > 0 {
			// An error means that the stream has ended. Its reader gets the same error.
			_ = stream.RequestProgress(ctx)
			again.Reset(every)
			select {
			case <-again.C:
			case <-p.kick:
			case <-ctx.Done():
			}
			continue
		}
		select {
		case <-p.kick:
		case <-ctx.Done():
		}
	}
}
