package cache

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// chunkOfAll is the number of changes in a chunk of the log of all changes, where each full chunk keeps a tree;
// chunkOfTopic is that of a topic's log.
const (
	chunkOfAll   = 64
	chunkOfTopic = 8
)

// generation is one unbroken line of history: the state with which the cache was filled, and the events since. When
// history is lost, the generation ends and another one begins. Readers see its last snapshot until then.
type generation struct {
	prefix string
	shared *shared
	// began is the beginning of the log's time, which steps of the wall clock don't change.
	began time.Time
	// ctx ends with the generation; its cause says why.
	ctx    context.Context
	cancel context.CancelCauseFunc
	// state is the state that readers see. The writer stores it after it has published the logs, and before it wakes
	// readers. So a reader loads the state first and then a log, and ignores changes in the log that are newer than the
	// state.
	state atomic.Pointer[state]

	mu      sync.Mutex // guards the following fields; the writer locks nothing else but the pool while it holds mu
	closed  bool
	tree    tree
	indexes []tree // in the order of Config.Indexed
	all     *topic
	topics  map[subject]*topic // apart from all
	// valued counts, for each place of a field, the topics of its values.
	valued  []int
	touched []*log
	window  window
	newest  newest
	// size is the sum of the entries' stored forms.
	size int64
	// followed: a watch has begun to deliver the events after the first state.
	followed bool
	batches  int
}

// state is a snapshot, and its place in the log.
type state struct {
	Snapshot
	end     uint64        // the place behind the last change that the snapshot holds
	size    int64         // of the stored forms of all entries
	changed chan struct{} // closed when the next state was published
}

// subject is the subject of a topic: the keys below a prefix or, without one, the entries with a value of a field.
type subject struct {
	prefix string
	value  Value
}

// topic is the log that a cursor follows: the changes of one subject since the first cursor asked for the topic.
type topic struct {
	subject subject
	since   int64
	log     *log
	cursors int
}

// write is a decoded event: a write of entry or, where entry is nil, a deletion of key.
type write struct {
	key      string
	revision int64
	entry    *Entry
}

func newGeneration(ctx context.Context, prefix string, s *shared, w Window) *generation {
	g := &generation{prefix: prefix, shared: s, began: time.Now(), topics: map[subject]*topic{}}
	g.ctx, g.cancel = context.WithCancelCause(ctx)
	g.window = window{Window: w, capacity: w.Min}
	return g
}

func (g *generation) begin(entries []*Entry, indexed []int, revision int64) {
	g.tree = buildTree(entries, byKey)
	for _, place := range indexed {
		g.indexes = append(g.indexes, buildTree(sorted(entries, order(place)), order(place)))
	}
	g.all = &topic{subject: subject{prefix: g.prefix}, since: revision, log: newLog(chunkOfAll, revision)}
	for _, e := range entries {
		g.newest.see(e.Key(), e.revision, false)
		g.size += e.Size()
	}
	g.state.Store(&state{Snapshot: g.snapshot(revision), size: g.size, changed: make(chan struct{})})
}

// sorted returns entries, which are in the order of their keys, in another order.
func sorted(entries []*Entry, o order) []*Entry {
	type valued struct {
		value string
		entry *Entry
	}
	all := make([]valued, len(entries))
	for i, e := range entries {
		all[i] = valued{o.position(e).value, e}
	}
	slices.SortStableFunc(all, func(a, b valued) int { return strings.Compare(a.value, b.value) })
	out := make([]*Entry, len(all))
	for i := range all {
		out[i] = all[i].entry
	}
	return out
}

func (g *generation) snapshot(revision int64) Snapshot {
	s := Snapshot{revision: revision, root: g.tree.Freeze()}
	if len(g.indexes) > 0 {
		s.indexes = make([]index, len(g.indexes))
		for i := range g.indexes {
			s.indexes[i] = index{g.indexes[i].order, g.indexes[i].Freeze()}
		}
	}
	return s
}

// apply makes the next state of a batch of writes and publishes it. Its cost doesn't depend on the number of cursors;
// it wakes only the cursors that a write concerns.
func (g *generation) apply(writes []write, revision int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return
	}
	now := time.Since(g.began).Nanoseconds()
	for i := range writes {
		g.record(&writes[i], now)
	}
	g.shrink(now)
	before := g.state.Load()
	after := &state{
		Snapshot: g.snapshot(revision), end: g.all.log.end, size: g.size, changed: make(chan struct{}),
	}
	if g.shared.verify {
		g.verify(before, after)
	}
	if g.all.log.dirty {
		g.touch(g.all.log)
	}
	for _, l := range g.touched {
		l.publish()
	}
	g.state.Store(after)
	close(before.changed)
	for _, l := range g.touched {
		l.wake()
	}
	clear(g.touched)
	g.touched = g.touched[:0]
}

func (g *generation) record(w *write, now int64) {
	g.newest.see(w.key, w.revision, w.entry == nil)
	c := &change{entry: w.entry, revision: w.revision, at: now}
	if w.entry != nil {
		c.previous = g.tree.set(w.entry)
	} else if c.previous = g.tree.remove(position{key: w.key}); c.previous == nil {
		return
	}
	g.size += c.entry.Size() - c.previous.Size()
	if c.previous != nil && c.entry != nil {
		c.entry.share(c.previous)
	}
	for i := range g.indexes {
		g.indexes[i].replace(c.previous, c.entry)
	}
	c.previous.check()
	g.window.bytes += c.cost()
	if g.all.log.append(c) {
		last := g.all.log.chunks[len(g.all.log.chunks)-1]
		last.root = g.tree.Freeze()
	}
	for t := range g.topicsOf(c) {
		g.touch(t.log)
		t.log.append(c)
	}
}

// shrink drops the changes for which the window has no room.
func (g *generation) shrink(now int64) {
	g.window.resize(g.all.log, now)
	for l, w := g.all.log, &g.window; l.len() > w.capacity || w.bytes > w.Bytes && l.len() > w.Min; {
		c := l.trim()
		w.bytes -= c.cost()
		for t := range g.topicsOf(c) {
			for t.log.len() > 0 && t.log.at(t.log.first).revision <= c.revision {
				g.touch(t.log)
				t.log.trim()
			}
		}
		c.previous.retire()
		c.deleted.Load().retire()
	}
}

func (g *generation) touch(l *log) {
	if !l.dirty || l == g.all.log {
		l.dirty = true
		g.touched = append(g.touched, l)
	}
}

// topicsOf yields the topics to which a change belongs, apart from that of all changes: among the topics that a cursor
// follows, one for each "/" in the key, and one for each value that a field has or had.
func (g *generation) topicsOf(c *change) func(func(*topic) bool) {
	return func(yield func(*topic) bool) {
		if len(g.topics) == 0 {
			return
		}
		key := c.key()
		for i := len(g.prefix); i < len(key); i++ {
			if key[i] != '/' {
				continue
			}
			if t := g.topics[subject{prefix: key[:i+1]}]; t != nil && !yield(t) {
				return
			}
		}
		for place, topics := range g.valued {
			if topics > 0 && !g.topicsByValue(c, place, yield) {
				return
			}
		}
	}
}

// topicsByValue is topicsOf for the values of one field. A change from or to a corrupt value concerns all cursors that
// follow the field, since nobody knows the field's value.
func (g *generation) topicsByValue(c *change, place int, yield func(*topic) bool) bool {
	if c.entry.corrupt() || c.previous.corrupt() {
		for s, t := range g.topics {
			if s.prefix == "" && s.value.Place == place && !yield(t) {
				return false
			}
		}
		return true
	}
	for i, e := range [...]*Entry{c.previous, c.entry} {
		if e == nil || i == 1 && c.previous != nil && c.previous.Field(place) == e.Field(place) {
			continue
		}
		if t := g.topics[subject{value: Value{place, e.Field(place)}}]; t != nil && !yield(t) {
			return false
		}
	}
	return true
}

// topicOf returns the narrowest topic that has everything below prefix, or everything below it that a lookup selects.
// It makes the topic where no cursor follows it yet.
func (g *generation) topicOf(prefix string, l *Lookup) *topic {
	s := subject{prefix: prefix[:strings.LastIndexByte(prefix, '/')+1]}
	switch {
	case l != nil && len(l.values) > 0:
		s = subject{value: l.values[0]}
	case s.prefix == g.prefix:
		return g.all
	}
	t := g.topics[s]
	if t == nil {
		now := g.state.Load().revision
		s.prefix, s.value.Value = strings.Clone(s.prefix), strings.Clone(s.value.Value)
		t = &topic{subject: s, since: now, log: newLog(chunkOfTopic, now)}
		g.topics[s] = t
		g.countValue(s, 1)
	}
	return t
}

// countValue adds to the number of topics of a field, where the subject is a value.
func (g *generation) countValue(s subject, by int) {
	if s.prefix != "" {
		return
	}
	for len(g.valued) <= s.value.Place {
		g.valued = append(g.valued, 0)
	}
	g.valued[s.value.Place] += by
}

func (g *generation) watch(prefix string, l *Lookup, after int64, match Match) (*Cursor, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, fmt.Errorf("%w: %w", ErrExpired, context.Cause(g.ctx))
	}
	if floor := g.all.log.floor; after < floor {
		g.shared.counts.expired.Add(1)
		return nil, fmt.Errorf("%w: %d lies before the window, which begins at %d", ErrExpired, after, floor)
	}
	t := g.topicOf(prefix, l)
	w := &Cursor{generation: g, topic: t, log: t.log, prefix: prefix, match: match, after: after, revision: after}
	if after < t.since {
		w.log = g.all.log // until the topic's beginning
	}
	w.place = w.log.view.Load().behind(after)
	t.cursors++
	g.shared.counts.cursors.Add(1)
	return w, nil
}

// release forgets a cursor, and its topic where no other cursor follows it.
func (g *generation) release(t *topic) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t.cursors--
	g.shared.counts.cursors.Add(-1)
	if t.cursors == 0 && t != g.all {
		delete(g.topics, t.subject)
		g.countValue(t.subject, -1)
	}
}

// close ends the generation. Cursors expire; the last snapshot stays.
func (g *generation) close(cause error) {
	g.cancel(cause)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return
	}
	g.closed = true
	close(g.all.log.view.Load().changed)
	for _, t := range g.topics {
		close(t.log.view.Load().changed)
	}
}

// at returns the snapshot at a revision of the past, nil if the window doesn't have the revision.
func (g *generation) at(revision int64) *Snapshot {
	s, v := g.state.Load(), g.all.log.view.Load()
	switch {
	case revision == s.revision:
		return &s.Snapshot
	case revision < v.floor || revision > s.revision:
		return nil
	}
	place := v.behind(revision)
	if place >= s.end {
		return &Snapshot{revision: revision, root: s.root}
	}
	return &Snapshot{revision: revision, root: v.rootAt(place, s.root, s.end), latest: s.root}
}

func (g *generation) verify(before, after *state) {
	err := verifyStep(before, after)
	if g.batches++; err == nil && (after.root.Len() <= verifyTreeSize || g.batches%verifyTreeEvery == 0) {
		if err = verifyTree(after.root); err == nil {
			err = after.verifyIndexes()
		}
	}
	if err != nil {
		panic(fmt.Sprintf("cache: %v", err))
	}
}
