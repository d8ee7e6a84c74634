package cache

import (
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/internal/deflate"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
)

// compressedLeaf is the entries of one leaf of the tree in one form, joined and compressed. Lists that may be sent
// compressed make it and share it. A write that replaces the leaf drops it: the next such list compresses the new leaf.
type compressedLeaf struct {
	form verb.Form
	pool *pool
	next *compressedLeaf // the leaf's other forms; never changed

	making sync.Mutex // held while it is compressed
	made   atomic.Pointer[compressedBlock]
	used   atomic.Bool // since the pool's clock last passed it
	place  int         // in the pool's ring, as that of a form
}

// compressedBlock is what a compressedLeaf holds. It is immutable.
type compressedBlock struct {
	*deflate.Block
	// The ages in it are right from since until until; where until is zero, there are none.
	since, until time.Time
}

// right reports whether the ages in the block are those of a moment.
func (b *compressedBlock) right(now time.Time) bool {
	return b != nil && (b.until.IsZero() || !now.Before(b.since) && now.Before(b.until))
}

// Parts yields the first n entries, of those that Entries yields, in a form that the codec joins: the leaves of the
// present compressed, and the others as they are. Ages are those at now. Its error is that of an entry that is corrupt
// or can't be rendered; nothing follows it. Each call renders and compresses what is not kept.
func (s *Snapshot) Parts(prefix, from string, n int, form verb.Form, now time.Time) iter.Seq2[verb.Part, error] {
	return func(yield func(verb.Part, error) bool) {
		n := n
		end := storage.PrefixEnd(prefix)
		s.root.Leaves(position{key: max(prefix, from)}, position{key: end}, func(leaf *node, first, last int) bool {
			last = min(last, first+n)
			n -= last - first
			part, err := s.part(leaf, first, last, form, now)
			return yield(part, err) && err == nil && n > 0
		})
	}
}

// Missing returns roughly how many bytes must be rendered, in a form, for the first n entries of those that Entries
// yields: the sizes as stored of what neither a leaf nor an entry keeps in that form.
func (s *Snapshot) Missing(prefix, from string, n int, form verb.Form) (bytes int64) {
	if n <= 0 {
		return 0
	}
	end := storage.PrefixEnd(prefix)
	s.root.Leaves(position{key: max(prefix, from)}, position{key: end}, func(leaf *node, first, last int) bool {
		last = min(last, first+n)
		n -= last - first
		entries := leaf.Values()[first:last]
		if form == entries[0].entry.shared.stored || leaf.Attachment().keeps(form) {
			return n > 0
		}
		for _, slot := range entries {
			if KeepsJoined(form) || !slot.entry.Rendered(form) {
				bytes += slot.entry.Size()
			}
		}
		return n > 0
	})
	return bytes
}

// keeps reports whether a leaf's entries are kept in a form, joined or compressed.
func (l *leafBlocks) keeps(form verb.Form) bool {
	if l.joined(form) != nil {
		return true
	}
	for c := l.compressed.Load(); c != nil; c = c.next {
		if c.form == form {
			return c.kept()
		}
	}
	return false
}

// part returns some entries of a leaf. It compresses and keeps whole leaves of the present.
func (s *Snapshot) part(leaf *node, first, last int, form verb.Form, now time.Time) (verb.Part, error) {
	blocks, entries := leaf.Attachment(), leaf.Values()
	join := func() (verb.Block, error) {
		if KeepsJoined(form) {
			return partOf(leaf, first, last, form, s.latest)
		}
		j, err := join(entries[first:last], form, nil)
		if err != nil {
			return verb.Block{}, err
		}
		return j.part(0, last-first), nil
	}
	shared := entries[0].entry.shared
	if last-first < len(entries) || blocks.past || blocks.replaced.Load() {
		block, err := join()
		if err != nil {
			return verb.Part{}, err
		}
		plain, _ := shared.items(block, form, now)
		return verb.Part{Plain: plain}, nil
	}
	compressed, err := blocks.compressedLeaf(form, &shared.pool).get(blocks, shared, join, now)
	return verb.Part{Compressed: compressed}, err
}

// KeepsJoined reports whether the cache keeps the leaves of a form joined, as Blocks returns them: metadata and rows,
// which mostly lists read. Whole objects in other versions are also read by name and watched, and the cache would hold
// them twice.
func KeepsJoined(form verb.Form) bool { return form.Shape != verb.Whole && form.Encoding == verb.JSON }

// items returns the items of a block with their ages at now, without what the list has before the first. Where they
// have ages, until is when the first of them changes.
func (s *shared) items(block verb.Block, form verb.Form, now time.Time) (items []byte, until time.Time) {
	from := len(s.codec.Separator(form))
	if len(block.Holes) == 0 {
		return block.Data[from:], until
	}
	items = make([]byte, 0, len(block.Data)+8*len(block.Holes))
	for _, hole := range block.Holes {
		at := int(hole.At - block.At)
		items = append(items, block.Data[from:at]...)
		from = at
		var changes time.Time
		if items, changes = s.codec.AppendAge(items, hole.Since, now); until.IsZero() || changes.Before(until) {
			until = changes
		}
	}
	return append(items, block.Data[from:]...), until
}

// compressedLeaf finds or makes the place for the leaf's entries in a form.
func (l *leafBlocks) compressedLeaf(form verb.Form, p *pool) *compressedLeaf {
	for {
		all := l.compressed.Load()
		for c := all; c != nil; c = c.next {
			if c.form == form {
				return c
			}
		}
		c := &compressedLeaf{form: form, pool: p, next: all}
		if l.compressed.CompareAndSwap(all, c) {
			return c
		}
	}
}

// dropCompressed drops what is compressed of a leaf that leaves the tree.
func (l *leafBlocks) dropCompressed() {
	for c := l.compressed.Load(); c != nil; c = c.next {
		c.drop()
	}
}

// get returns the leaf's entries, which belong to leaf and which join joins. The first caller compresses them, and the
// others wait.
func (c *compressedLeaf) get(leaf *leafBlocks, shared *shared, join func() (verb.Block, error), now time.Time) (
	*deflate.Block, error) {
	if b := c.made.Load(); b.right(now) {
		if !c.used.Load() {
			c.used.Store(true)
		}
		return b.Block, nil
	}
	c.making.Lock()
	defer c.making.Unlock()
	if b := c.made.Load(); b.right(now) {
		return b.Block, nil
	}
	joined, err := join()
	if err != nil {
		return nil, err
	}
	data, until := shared.items(joined, c.form, now)
	b := &compressedBlock{deflate.Compress(data), now, until}
	c.keep(b)
	if leaf.replaced.Load() {
		c.drop() // the writer that replaced the leaf may not have seen the block
	}
	return b.Block, nil
}

// keep replaces the block, which may have another size than the one before.
func (c *compressedLeaf) keep(b *compressedBlock) {
	c.pool.drop(c)
	c.made.Store(b)
	c.pool.add(c)
}

func (c *compressedLeaf) drop() {
	c.made.Store(nil)
	c.pool.drop(c)
}

// compressedOverhead is roughly what a compressed leaf costs beside its bytes.
const compressedOverhead = 250

func (c *compressedLeaf) cost() int64 {
	b := c.made.Load()
	if b == nil {
		return 0
	}
	return int64(b.Size() + compressedOverhead)
}

func (c *compressedLeaf) kept() bool  { return c.made.Load() != nil }
func (c *compressedLeaf) spare() bool { return c.used.Swap(false) }
func (c *compressedLeaf) evict()      { c.made.Store(nil) }
func (c *compressedLeaf) at() *int    { return &c.place }
