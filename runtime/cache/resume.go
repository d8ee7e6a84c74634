package cache

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"apigen.dev/runtime/storage"
)

// A watch that is resumed may have another history before it: that of a backend which was restored from a snapshot, and
// written beyond the revision that the cache had. Revisions alone don't tell. So the watch begins with the newest change
// that the cache has seen: it must be told again, as it was, and nothing else up to the revision of the cache. A history
// that parted before that change can't repeat it, with its revision, key and content; one that parted later tells what
// the cache doesn't know. It costs one event.
//
// Where that change was compacted, which is so of what is quiet for longer than the history is kept, the object and the
// number of objects are compared at the cache's revision; and since a change of another object would escape that, all are
// compared afterwards, in the background and not too often.

// newest is the latest change that a generation has seen; a revision of 0 is none.
type newest struct {
	key      string
	revision int64
	deleted  bool
}

// see notes a change, where it is the latest.
func (n *newest) see(key string, revision int64, deleted bool) {
	if revision >= n.revision {
		*n = newest{key, revision, deleted}
	}
}

// proof holds what a resumed watch tells against what is known. It is used by the goroutine that follows.
type proof struct {
	newest newest
	have   int64
	told   map[string]storage.Event // the last one of each key, up to have
}

// proof is nil where there is nothing to prove: the generation has not been followed yet, or has seen no change.
func (g *generation) proof(have int64) *proof {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.followed || g.newest.revision < 2 { // after 0 is "from now"
		return nil
	}
	return &proof{newest: g.newest, have: have, told: map[string]storage.Event{}}
}

// take looks at a batch and returns what of it is new, once all is proven.
func (p *proof) take(g *generation, batch storage.Batch) (rest storage.Batch, proven bool, err error) {
	rest.Revision = batch.Revision
	for _, e := range batch.Events {
		if e.Revision <= p.have {
			p.told[e.Key] = e
		} else {
			rest.Events = append(rest.Events, e)
		}
	}
	if batch.Revision < p.have {
		return rest, false, nil
	}
	if p.told[p.newest.key].Revision != p.newest.revision {
		return rest, false, fmt.Errorf("%w: it no longer has the change of %s at revision %d", errRolledBack, p.newest.key, p.newest.revision)
	}
	state := g.state.Load()
	for key := range p.told {
		if why := g.shared.contradicts(state.Get(key), p.told[key]); why != "" {
			return rest, false, fmt.Errorf("%w: %s", errRolledBack, why)
		}
	}
	return rest, true, nil
}

// contradicts tells how the last event of a key differs from what is known of it; "" is not at all.
func (s *shared) contradicts(known *Entry, told storage.Event) string {
	switch {
	case told.Deleted && known == nil:
		return ""
	case told.Deleted:
		return fmt.Sprintf("%s, known at revision %d, was deleted at %d", told.Key, known.revision, told.Revision)
	case known == nil:
		return fmt.Sprintf("%s, which is not known, was written at revision %d", told.Key, told.Revision)
	}
	return s.differs(known, &told.KeyValue)
}

// follow applies what the backend's watch delivers after the state of g, until that or g ends. Its error is never nil.
func (c *Cache) follow(g *generation) error {
	ctx, cancel := context.WithCancel(g.ctx)
	defer cancel()
	have := g.state.Load().revision
	found, err := c.config.Backend.Revision(ctx)
	if err != nil {
		return err
	}
	if found < have {
		return c.rolledBack(g, have, found)
	}
	p := g.proof(have)
	if p == nil {
		return c.followAfter(ctx, g, have, nil)
	}
	err = c.followAfter(ctx, g, p.newest.revision-1, p)
	var compacted *storage.CompactedError
	if !errors.As(err, &compacted) || g.state.Load().revision > have || g.ctx.Err() != nil {
		return err
	}
	if err := c.spotCheck(ctx, g, p.newest); err != nil {
		return err
	}
	c.suspect()
	return c.followAfter(ctx, g, have, nil)
}

var errFirstWrites = errors.New("the backend's first writes came while the cache was filled")

// followAfter is follow with a watch after a revision, that of the state or, with a proof, an earlier one.
func (c *Cache) followAfter(ctx context.Context, g *generation, after int64, p *proof) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.config.Backend.Watch(ctx, c.config.Prefix, after)
	if err != nil {
		return err
	}
	defer stream.Close()
	if s, ok := stream.(storage.Resumer); ok {
		s.EndWithConnection()
	}
	if after == 0 { // to the backend that means "from now": has anything happened since the filling?
		now, err := c.config.Backend.Revision(ctx)
		if err != nil {
			return err
		}
		if now > 0 {
			g.cancel(errFirstWrites)
			return errFirstWrites
		}
	}
	var requesting sync.WaitGroup
	requesting.Go(func() { c.progress.run(ctx, stream, c.config.Progress) })
	defer requesting.Wait()
	defer cancel()
	c.counts.resumes.Add(1)
	if p != nil {
		if err := c.prove(ctx, g, stream, p); err != nil {
			return err
		}
	}
	g.follows()
	c.trouble.Store(nil)
	for {
		batch, err := stream.Next(ctx)
		if err != nil {
			return err
		}
		if err := c.apply(g, batch); err != nil {
			g.cancel(err)
			return err
		}
	}
}

// proofTimeout bounds how long a resumed watch may take to tell what is known. Then the backend is asked for its revision
// again: it may have been replaced a second time.
const proofTimeout = time.Minute

// prove reads the stream until it has told all that the cache knows, and ends a generation that it contradicts.
func (c *Cache) prove(ctx context.Context, g *generation, stream storage.Stream, p *proof) error {
	c.progress.enter() // the end of what is known may be no event
	defer c.progress.leave()
	ctx, cancel := context.WithTimeout(ctx, proofTimeout)
	defer cancel()
	for {
		batch, err := stream.Next(ctx)
		if err != nil {
			return err
		}
		rest, proven, err := p.take(g, batch)
		if err != nil {
			return c.otherHistory(g, err)
		}
		if !proven {
			continue
		}
		if err := c.apply(g, rest); err != nil {
			g.cancel(err)
			return err
		}
		return nil
	}
}

// Unbroken tells, by nil, that what the backend says now of what happened after a revision is the history that a client
// knows who has seen that revision, as far as the cache can know. It is asked after a watch of the backend began which ends
// with its connection. Where history was lost since then it fails with ErrExpired, where the cache doesn't follow the
// backend, so that history may have been lost, with ErrLagging. A cache that was never filled knows nothing, and says nil.
func (c *Cache) Unbroken(ctx context.Context, after int64) error {
	if c.generation.Load() == nil {
		return nil
	}
	_, err := c.Consistent(ctx) // it is told by the watch which has proven that it goes on
	switch {
	case after <= c.severed.Load():
		return fmt.Errorf("%w: %d is of a history that has ended", ErrExpired, after)
	case errors.Is(err, ErrNotReady):
		return c.lags(err)
	}
	return err
}

// spotCheck compares the newest object, or its absence, and the number of objects at the revision of the state.
func (c *Cache) spotCheck(ctx context.Context, g *generation, n newest) error {
	s := &g.state.Load().Snapshot
	request := storage.RangeRequest{Prefix: c.config.Prefix, Limit: 1, Revision: s.revision}
	all, err := c.config.Backend.Range(ctx, request)
	if err != nil {
		return err
	}
	if found, want := all.Remaining+int64(len(all.Items)), s.Count(c.config.Prefix, ""); found != int64(want) {
		return c.otherHistory(g, fmt.Errorf("%w: at revision %d it has %d objects, and had %d", errRolledBack, s.revision, found, want))
	}
	request.From = n.key
	page, err := c.config.Backend.Range(ctx, request)
	if err != nil {
		return err
	}
	there := len(page.Items) > 0 && page.Items[0].Key == n.key
	why := ""
	switch known := s.Get(n.key); {
	case there != (known != nil):
		why = fmt.Sprintf("at revision %d, that it has %s is %t, and was %t", s.revision, n.key, there, !there)
	case there:
		why = g.shared.differs(known, &page.Items[0])
	}
	if why != "" {
		return c.otherHistory(g, fmt.Errorf("%w: %s", errRolledBack, why))
	}
	return nil
}

// otherHistory ends a generation whose history is not the backend's.
func (c *Cache) otherHistory(g *generation, why error) error {
	if g.ctx.Err() == nil {
		c.counts.rollBacks.Add(1)
	}
	g.cancel(why)
	return why
}

// suspectPause is how often, at most, a cache is compared because its watch could not prove all.
const suspectPause = 10 * time.Minute

// suspect asks for a comparison in the background.
func (c *Cache) suspect() {
	select {
	case c.suspected <- struct{}{}:
	default: // one is due already
	}
}

// checkSuspects compares the cache where suspect asked for it, until ctx ends.
func (c *Cache) checkSuspects(ctx context.Context) {
	for {
		select {
		case <-c.suspected:
		case <-ctx.Done():
			return
		}
		err := c.Check(ctx)
		c.reportCheck(ctx, err)
		if err != nil && !errors.Is(err, ErrInconsistent) {
			c.suspect() // nothing was compared
		}
		select {
		case <-time.After(c.config.SuspectPause):
		case <-ctx.Done():
			return
		}
	}
}
