package cache

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"apigen.dev/runtime/storage"
)

// The backend may have another history when the cache resumes a watch: an operator may have restored it from a
// snapshot, and clients may have written beyond the revision that the cache had. Revisions alone don't show that. So
// the resumed watch begins with the newest change that the cache has seen: the backend must deliver it again,
// unchanged, and nothing else up to the revision of the cache. A history that parted before that change can't repeat it
// with its revision, key and content; a history that parted later delivers changes that the cache doesn't know. The
// proof costs one event.
//
// Where that change was compacted, as it is in a resource that is quiet for longer than the history is kept, the cache
// compares the object and the number of objects at its revision. That doesn't find a change of another object, so the
// cache compares all objects afterwards, in the background and not too often.

// newest is the latest change that a generation has seen; the revision 0 means that there is none.
type newest struct {
	key      string
	revision int64
	deleted  bool
}

func (n *newest) see(key string, revision int64, deleted bool) {
	if revision >= n.revision {
		*n = newest{key, revision, deleted}
	}
}

// proof compares the events of a resumed watch with the cache. The goroutine that follows the backend uses it.
type proof struct {
	newest newest
	have   int64
	known  map[string]storage.Event // the last event of each key, up to have
}

// proof returns nil if no watch has followed the generation yet, or the generation has seen no change.
func (g *generation) proof(have int64) *proof {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.followed || g.newest.revision < 2 { // after 0 is "from now"
		return nil
	}
	return &proof{newest: g.newest, have: have, known: map[string]storage.Event{}}
}

// take looks at a batch. Once the history is proven, it returns the new part of the batch.
func (p *proof) take(g *generation, batch storage.Batch) (rest storage.Batch, proven bool, err error) {
	rest.Revision = batch.Revision
	for _, e := range batch.Events {
		if e.Revision <= p.have {
			p.known[e.Key] = e
		} else {
			rest.Events = append(rest.Events, e)
		}
	}
	if batch.Revision < p.have {
		return rest, false, nil
	}
	if p.known[p.newest.key].Revision != p.newest.revision {
		return rest, false, fmt.Errorf("%w: it no longer has the change of %s at revision %d", errRolledBack,
			p.newest.key, p.newest.revision)
	}
	state := g.state.Load()
	for key := range p.known {
		if why := g.shared.contradicts(state.Get(key), p.known[key]); why != "" {
			return rest, false, fmt.Errorf("%w: %s", errRolledBack, why)
		}
	}
	return rest, true, nil
}

// contradicts describes how the last event of a key differs from the cache's entry; "" means no difference.
func (s *shared) contradicts(known *Entry, event storage.Event) string {
	switch {
	case event.Deleted && known == nil:
		return ""
	case event.Deleted:
		return fmt.Sprintf("%s, known at revision %d, was deleted at %d", event.Key, known.revision, event.Revision)
	case known == nil:
		return fmt.Sprintf("%s, which is not known, was written at revision %d", event.Key, event.Revision)
	}
	return s.differs(known, &event.KeyValue)
}

// follow applies the events of the watch after the state of g, until the watch or g ends. Its error is never nil.
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

// followAfter is follow with a watch that begins after a revision: that of the state or, with a proof, an earlier one.
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
	if after == 0 { // to the backend, 0 means "from now": the cache may have missed a write
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
	g.mu.Lock()
	g.followed = true
	g.mu.Unlock()
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

// proofTimeout bounds how long a resumed watch may take to deliver the known changes. Then the cache asks the backend
// for its revision again: the backend may have been replaced a second time.
const proofTimeout = time.Minute

// prove reads the stream up to the cache's revision, and ends a generation that the stream contradicts.
func (c *Cache) prove(ctx context.Context, g *generation, stream storage.Stream, p *proof) error {
	c.progress.enter() // progress alone may show the end of the known changes
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

// Unbroken returns nil if the backend's present account of the events after a revision is the history of a client that
// has seen that revision, as far as the cache can know. The caller has begun a watch of the backend that ends with its
// connection, and asks afterwards. Unbroken fails with ErrExpired where history was lost since that revision, and with
// ErrLagging where the cache doesn't follow the backend, so that history may have been lost. A cache that was never
// filled knows nothing, and returns nil.
func (c *Cache) Unbroken(ctx context.Context, after int64) error {
	if c.generation.Load() == nil {
		return nil
	}
	_, err := c.Consistent(ctx) // its answer comes from a watch that has proven its history
	switch {
	case after <= c.endedRevision.Load():
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
		return c.otherHistory(g, fmt.Errorf("%w: at revision %d it has %d objects, and had %d", errRolledBack,
			s.revision, found, want))
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

func (c *Cache) otherHistory(g *generation, why error) error {
	if g.ctx.Err() == nil {
		c.counts.rollBacks.Add(1)
	}
	g.cancel(why)
	return why
}
