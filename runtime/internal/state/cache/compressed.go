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

// compressedForm is what is compressed of one leaf of the tree in one form: all of its entries, and the first and the
// last of them, as many as the last page had that ended or began within the leaf. Pages of 500, and lists of a
// namespace, end there each time.
type compressedForm struct {
	form         verb.Form
	next         *compressedForm // the leaf's other forms; never changed
	all          compressedPart
	begun, ended atomic.Pointer[compressedPart]
}

// compressedPart is entries of a leaf, joined and compressed. Lists that may be sent compressed make it and share it. A
// write that replaces the leaf drops it: the next such list compresses the new leaf.
type compressedPart struct {
	of          *compressedForm
	first, last int // the entries from first on, and before last
	pool        *pool

	making sync.Mutex // held while it is compressed
	made   atomic.Pointer[compressedBlock]
	gone   atomic.Bool // another part of the leaf has its place
	used   atomic.Bool // since the pool's clock last passed it
	place  int         // in the pool's ring, as that of a form
}

// compressedBlock is what a compressedPart holds. It is immutable.
type compressedBlock struct {
	*deflate.Block
	// The ages in it are right from since until until; where until is zero, there are none.
	since, until time.Time
}

// right reports whether the ages in the block are those of a moment.
func (b *compressedBlock) right(now time.Time) bool {
	return b != nil && (b.until.IsZero() || !now.Before(b.since) && now.Before(b.until))
}

// Parts yields the first n entries, of those that Entries yields, in a form that the codec joins: those in leaves of
// the present compressed, and the others as they are. Ages are those at now. Its error is that of an entry that is
// corrupt or can't be rendered; nothing follows it. Each call renders and compresses what is not kept.
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

// Missing returns roughly how many bytes must be rendered or expanded, in a form, for the first n entries of those that
// Entries yields: the sizes as stored of what neither a leaf nor an entry keeps in that form.
func (s *Snapshot) Missing(prefix, from string, n int, form verb.Form) (bytes int64) {
	if n <= 0 {
		return 0
	}
	end := storage.PrefixEnd(prefix)
	s.root.Leaves(position{key: max(prefix, from)}, position{key: end}, func(leaf *node, first, last int) bool {
		last = min(last, first+n)
		n -= last - first
		entries := leaf.Values()[first:last]
		if leaf.Attachment().keeps(form) {
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
	for f := l.compressed.Load(); f != nil; f = f.next {
		if f.form == form {
			return f.all.kept()
		}
	}
	return false
}

// part returns some entries of a leaf. It compresses and keeps those of leaves of the present, but for some that are in
// the middle of a leaf, which a few pages have.
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
	if blocks.past || blocks.replaced.Load() || first > 0 && last < len(entries) {
		block, err := join()
		if err != nil {
			return verb.Part{}, err
		}
		plain, _ := shared.items(block, form, now)
		return verb.Part{Plain: plain}, nil
	}
	of := blocks.compressedForm(form, len(entries), &shared.pool)
	compressed, err := of.part(first, last).get(blocks, shared, join, now)
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

// compressedForm finds or makes what is compressed in a form of a leaf that has n entries.
func (l *leafBlocks) compressedForm(form verb.Form, n int, p *pool) *compressedForm {
	for {
		forms := l.compressed.Load()
		for f := forms; f != nil; f = f.next {
			if f.form == form {
				return f
			}
		}
		f := &compressedForm{form: form, next: forms}
		f.all.of, f.all.last, f.all.pool = f, n, p
		if l.compressed.CompareAndSwap(forms, f) {
			return f
		}
	}
}

// part finds or makes a part. A part that is not all entries takes the place of the one before at that end of the leaf.
func (f *compressedForm) part(first, last int) *compressedPart {
	at := &f.ended
	switch {
	case first == 0 && last == f.all.last:
		return &f.all
	case first == 0:
		at = &f.begun
	}
	for {
		there := at.Load()
		if there != nil && there.first == first && there.last == last {
			return there
		}
		c := &compressedPart{of: f, first: first, last: last, pool: f.all.pool}
		if at.CompareAndSwap(there, c) {
			if there != nil {
				there.gone.Store(true)
				there.drop()
			}
			return c
		}
	}
}

// parts yields all compressed parts of a leaf.
func (l *leafBlocks) parts(yield func(*compressedPart) bool) {
	for f := l.compressed.Load(); f != nil; f = f.next {
		for _, c := range []*compressedPart{&f.all, f.begun.Load(), f.ended.Load()} {
			if c != nil && !yield(c) {
				return
			}
		}
	}
}

// dropCompressed drops what is compressed of a leaf that leaves the tree.
func (l *leafBlocks) dropCompressed() {
	for c := range l.parts {
		c.drop()
	}
}

// get returns the entries, which belong to leaf and which join joins. The first caller compresses them, and the others
// wait.
func (c *compressedPart) get(leaf *leafBlocks, shared *shared, join func() (verb.Block, error), now time.Time) (
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
	data, until := shared.items(joined, c.of.form, now)
	b := &compressedBlock{deflate.Compress(data), now, until}
	c.keep(b)
	if leaf.replaced.Load() || c.gone.Load() {
		c.drop() // who replaced the leaf, or the part, may not have seen the block
	}
	return b.Block, nil
}

// keep replaces the block, which may have another size than the one before.
func (c *compressedPart) keep(b *compressedBlock) {
	c.pool.drop(c)
	c.made.Store(b)
	c.pool.add(c)
}

func (c *compressedPart) drop() {
	c.made.Store(nil)
	c.pool.drop(c)
}

// compressedOverhead is roughly what a compressed part costs beside its bytes.
const compressedOverhead = 250

func (c *compressedPart) cost() int64 {
	b := c.made.Load()
	if b == nil {
		return 0
	}
	return int64(b.Size() + compressedOverhead)
}

func (c *compressedPart) kept() bool  { return c.made.Load() != nil }
func (c *compressedPart) spare() bool { return c.used.Swap(false) }
func (c *compressedPart) evict()      { c.made.Store(nil) }
func (c *compressedPart) at() *int    { return &c.place }
