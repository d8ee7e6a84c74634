package cache

import (
	"cmp"
	"slices"
	"sort"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/internal/btree"
)

// change is one write of one key in the log.
type change struct {
	entry    *Entry // nil for a deletion
	previous *Entry // nil for a creation
	revision int64
	at       int64 // time of the change, in nanoseconds since the generation began
	deleted  atomic.Pointer[Entry]
}

// changeOverhead is roughly what a change costs beside its payload: itself, and copied paths of the tree.
const changeOverhead = 1024

func (c *change) key() string {
	if c.entry != nil {
		return c.entry.Key()
	}
	return c.previous.Key()
}

// cost is roughly the memory that is freed when the change leaves the log.
func (c *change) cost() int64 {
	if c.previous == nil {
		return changeOverhead
	}
	return c.previous.Size() + changeOverhead
}

// deletedEntry returns the previous entry with the revision of this change. The first caller makes it.
func (c *change) deletedEntry() *Entry {
	if e := c.deleted.Load(); e != nil {
		return e
	}
	e := c.previous.restamped(c.revision)
	if !c.deleted.CompareAndSwap(nil, e) {
		return c.deleted.Load()
	}
	return e
}

// log is an append-only list of changes in a sliding window: the log of all changes, or that of one topic. One
// goroutine at a time writes. Readers take no lock, and see what the writer has published. Places in the log are
// numbers that only grow.
type log struct {
	view atomic.Pointer[view]

	// The following fields belong to the writer.
	span
	dirty    bool // publish has something to do
	appended bool // the changes wake readers
	stale    chan struct{}
}

type span struct {
	chunkLen   uint64
	chunks     []*chunk
	base       uint64 // place of the first change of chunks[0]; a multiple of chunkLen
	first, end uint64 // places in the window: first inclusive, end exclusive
	floor      int64  // the revision behind which the window begins: all later changes are in it
}

func (s *span) at(place uint64) *change {
	return s.chunks[(place-s.base)/s.chunkLen].changes[(place-s.base)%s.chunkLen]
}

// chunk holds a fixed number of changes. Readers see the changes before their view's end.
type chunk struct {
	changes []*change
	// root is the tree after the last change of the chunk. It is set in the log of all changes when the chunk is full.
	root *node
}

// view is a published state of a log. It is immutable.
type view struct {
	span
	// changed is closed after changes were appended behind end and the state with these changes was published.
	changed chan struct{}
}

func newLog(chunkLen int, floor int64) *log {
	l := &log{span: span{chunkLen: uint64(chunkLen), floor: floor}}
	l.view.Store(&view{span: l.span, changed: make(chan struct{})})
	return l
}

func (l *log) len() int { return int(l.end - l.first) }

// append adds a change, and reports whether it was the last of its chunk.
func (l *log) append(c *change) (full bool) {
	i := l.end - l.base
	if i == uint64(len(l.chunks))*l.chunkLen {
		l.chunks = append(l.chunks, &chunk{changes: make([]*change, l.chunkLen)})
	}
	l.chunks[i/l.chunkLen].changes[i%l.chunkLen] = c
	l.end++
	l.dirty, l.appended = true, true
	return l.end%l.chunkLen == 0
}

// trim drops the oldest change and returns it.
func (l *log) trim() *change {
	c := l.at(l.first)
	l.floor = c.revision
	l.first++
	l.dirty = true
	if gone := (l.first - l.base) / l.chunkLen; gone > 0 {
		l.chunks = slices.Clone(l.chunks[gone:]) // a new array, so that the old one is no longer kept alive
		l.base += gone * l.chunkLen
	}
	return c
}

// publish shows readers the appended and trimmed changes. The writer calls wake after it has published the state, too.
func (l *log) publish() {
	old := l.view.Load()
	v := &view{span: l.span, changed: old.changed}
	if l.appended {
		v.changed = make(chan struct{})
		l.stale = old.changed
	}
	l.dirty, l.appended = false, false
	l.view.Store(v)
}

// wake wakes the readers that wait for the published changes.
func (l *log) wake() {
	if l.stale != nil {
		close(l.stale)
		l.stale = nil
	}
}

// behind returns the place of the first change whose revision is above revision.
func (v *view) behind(revision int64) uint64 {
	n := int(v.end - v.first)
	return v.first + uint64(sort.Search(n, func(i int) bool { return v.at(v.first+uint64(i)).revision > revision }))
}

// rootAt returns the tree at place, which is before end: it undoes changes from the nearest tree that is kept. latest
// is the tree behind the place latestEnd.
func (v *view) rootAt(place uint64, latest *node, latestEnd uint64) *node {
	nearest, from := latest, latestEnd
	if i := (place - v.base) / v.chunkLen; v.base+(i+1)*v.chunkLen <= v.end && v.chunks[i].root != nil {
		nearest, from = v.chunks[i].root, v.base+(i+1)*v.chunkLen
	}
	// One reader uses this tree, and it doesn't concern the blocks of the present.
	t := tree{btree.Edit(nearest, byKey.treeOrder(), pastHooks), byKey}
	for ; from > place; from-- {
		c := v.at(from - 1)
		if c.previous == nil {
			t.remove(position{key: c.key()})
		} else {
			t.set(c.previous)
		}
	}
	return t.Freeze()
}

// roots returns how many trees of the past are kept: one for each full chunk.
func (v *view) roots() int64 { return int64((v.end - v.base) / v.chunkLen) }

// Window bounds the log. Its zero value means the defaults.
type Window struct {
	// Min and Max bound the number of changes for which the window has room: 100 and 102,400. The number doubles when
	// the window is full of changes that are younger than Fresh, and is halved when most of them are older.
	Min, Max int
	// Fresh is 75 s, as in kube-apiserver: a little more than the time in which clients ask for bookmarks.
	Fresh time.Duration
	// Bytes bounds the memory of past states that the window keeps alive, in payloads and trees: 256 MiB. The window
	// exceeds it only where Min demands it.
	Bytes int64
}

func (w Window) withDefaults() Window {
	w.Min = cmp.Or(w.Min, 100)
	w.Max = max(cmp.Or(w.Max, 102_400), w.Min)
	w.Fresh = cmp.Or(w.Fresh, 75*time.Second)
	w.Bytes = cmp.Or(w.Bytes, 256<<20)
	return w
}

// window decides how long the log is.
type window struct {
	Window
	capacity int
	bytes    int64
}

func (w *window) resize(l *log, now int64) {
	stale := now - w.Fresh.Nanoseconds()
	for l.len() > w.capacity && w.capacity < w.Max && l.at(l.first).at > stale {
		w.capacity = min(w.capacity*2, w.Max)
	}
	for l.len() >= w.capacity && w.capacity > w.Min && l.at(l.end-uint64(w.capacity/4)-1).at < stale {
		w.capacity = max(w.capacity/2, w.Min)
	}
}
