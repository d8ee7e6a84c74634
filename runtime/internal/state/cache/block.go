package cache

import (
	"fmt"
	"hash/crc32"
	"slices"
	"sync"
	"sync/atomic"

	"apigen.dev/runtime/internal/btree"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
)

// leafBlock is the entries of one leaf of the tree in one form, joined as a list has them: a list reads memory from end
// to end, where the renditions of single entries are several steps apart each. The first list that needs a block joins
// it. When a write replaces the leaf, the next list joins a new block from what is new and the bytes of the block
// before.
type leafBlock struct {
	form verb.Form
	pool *pool
	next *leafBlock // the leaf's other forms; never changed

	joining sync.Mutex // held while it is joined
	joined  atomic.Pointer[joinedBlock]
	used    atomic.Bool // since the pool's clock last passed it
	place   int         // in the pool's ring, as that of a form
}

// joinedBlock is what a leafBlock holds. It is immutable.
type joinedBlock struct {
	entries  []slot
	ends     []uint32 // where each entry's bytes end in data
	data     []byte
	holes    []verb.Hole
	checksum uint32 // of data, with verify
	verify   bool   // Config.Verify
}

// leafBlocks is what a leaf of the tree carries: the blocks that lists asked for, one for each form.
type leafBlocks struct {
	first atomic.Pointer[leafBlock]
	// compressed are the leaf's entries, compressed, one for each form.
	compressed atomic.Pointer[compressedForm]
	// before are the blocks of the leaf from which this one took its entries.
	before []*leafBlock
	// replaced: another leaf took its place, so that a block that is joined for this one is of no use to others.
	replaced atomic.Bool
	// past: the leaf is of a state of the past, which was made again for one reader.
	past bool
}

// presentHooks keep the blocks of the cache's state. A leaf hands its blocks on to the leaf that replaces it, but for
// the compressed ones.
var presentHooks = btree.Hooks[leafBlocks]{
	Made: func(leaf, from *leafBlocks) { leaf.before = from.lineage() },
	Replaced: func(leaf *leafBlocks) {
		leaf.replaced.Store(true)
		leaf.dropCompressed()
	},
	Dropped: func(leaf *leafBlocks) {
		leaf.replaced.Store(true)
		leaf.dropCompressed()
		for _, b := range leaf.lineage() {
			b.drop()
		}
	},
}

// pastHooks mark the leaves of a state of the past.
var pastHooks = btree.Hooks[leafBlocks]{
	Made: func(leaf, from *leafBlocks) { leaf.past, leaf.before = true, from.lineage() },
}

// Blocks appends to blocks the first n entries, of those that Entries yields, in a form that the codec joins. It fails
// where one of them is corrupt or can't be rendered.
func (s *Snapshot) Blocks(blocks []verb.Block, prefix, from string, n int, form verb.Form) ([]verb.Block, error) {
	var err error
	end, from := storage.PrefixEnd(prefix), max(prefix, from)
	s.root.Leaves(position{key: from}, position{key: end}, func(leaf *node, first, last int) bool {
		last = min(last, first+n)
		n -= last - first
		var part verb.Block
		if part, err = partOf(leaf, first, last, form, s.latest); err == nil {
			blocks = append(blocks, part)
		}
		return err == nil && n > 0
	})
	return blocks, err
}

// partOf returns some entries of a leaf, joined. Where the leaf is of the present, all of it is joined and kept. latest
// is the root of the present where that is another one: what is joined there needn't be rendered for a state of the
// past.
func partOf(leaf *node, first, last int, form verb.Form, latest *node) (verb.Block, error) {
	blocks, entries := leaf.Attachment(), leaf.Values()
	if j := blocks.joined(form); j != nil {
		return j.part(first, last), nil
	}
	older := blocks.before
	if blocks.past || blocks.replaced.Load() {
		if present := latest.LeafOf(byKey.position(entries[first].entry)); present != nil {
			older = slices.Concat(older, present.Attachment().lineage())
		}
	} else if j, err := blocks.block(form, entries).join(blocks, entries); err == nil {
		return j.part(first, last), nil
	}
	j, err := join(entries[first:last], form, older)
	if err != nil {
		return verb.Block{}, err
	}
	return j.part(0, last-first), nil
}

func (l *leafBlocks) joined(form verb.Form) *joinedBlock {
	b := l.first.Load().find(form)
	if b == nil {
		return nil
	}
	j := b.joined.Load()
	if j != nil && !b.used.Load() {
		b.used.Store(true)
	}
	return j
}

// block finds or makes the block of a form for a leaf that has these entries.
func (l *leafBlocks) block(form verb.Form, entries []slot) *leafBlock {
	for {
		all := l.first.Load()
		if b := all.find(form); b != nil {
			return b
		}
		b := &leafBlock{form: form, pool: &entries[0].entry.shared.pool, next: all}
		if l.first.CompareAndSwap(all, b) {
			return b
		}
	}
}

func (b *leafBlock) find(form verb.Form) *leafBlock {
	for ; b != nil && b.form != form; b = b.next {
	}
	return b
}

// lineage returns the blocks that hold bytes of the leaf's entries: its own, and those of the leaf before.
func (l *leafBlocks) lineage() []*leafBlock {
	if l == nil {
		return nil
	}
	var all []*leafBlock
	for b := l.first.Load(); b != nil; b = b.next {
		if b.kept() {
			all = append(all, b)
		}
	}
	for _, b := range l.before {
		if b.kept() {
			all = append(all, b)
		}
	}
	return all
}

// join returns the joined entries of a leaf, to whose blocks b belongs. The first caller joins them, the others wait.
func (b *leafBlock) join(leaf *leafBlocks, entries []slot) (*joinedBlock, error) {
	b.joining.Lock()
	defer b.joining.Unlock()
	if j := b.joined.Load(); j != nil {
		return j, nil
	}
	j, err := join(entries, b.form, leaf.before)
	if err != nil {
		return nil, err
	}
	b.joined.Store(j)
	for _, old := range leaf.before {
		if old.form == b.form {
			old.drop()
		}
	}
	b.pool.add(b)
	if leaf.replaced.Load() {
		b.drop() // the writer that replaced the leaf may not have seen the block
	}
	return j, nil
}

func (b *leafBlock) drop() {
	b.joined.Store(nil)
	b.pool.drop(b)
}

// join joins entries. It copies their bytes from blocks of before, and renders the others without keeping the
// renditions.
func join(entries []slot, form verb.Form, before []*leafBlock) (*joinedBlock, error) {
	var items [btree.Fanout]item
	size, holes := 0, 0
	var old []*joinedBlock
	for _, b := range before {
		if j := b.joined.Load(); j != nil && b.form == form {
			old = append(old, j)
		}
	}
	for i := range entries {
		it := &items[i]
		if err := it.find(entries[i].entry, form, old); err != nil {
			return nil, err
		}
		size += it.size()
		holes += len(it.block.Holes) + len(it.rendition.Holes)
	}
	j := &joinedBlock{entries: entries, ends: make([]uint32, len(entries)), data: make([]byte, 0, size)}
	if holes > 0 {
		j.holes = make([]verb.Hole, 0, holes)
	}
	for i := range entries {
		j.append(&items[i], entries[i].entry.shared.codec, form)
		j.ends[i] = uint32(len(j.data))
	}
	if j.verify = len(entries) > 0 && entries[0].entry.shared.verify; j.verify {
		j.checksum = crc32.ChecksumIEEE(j.data)
	}
	return j, nil
}

// item is an entry on its way into a block: a part of an older block, or else a rendition.
type item struct {
	block     verb.Block
	rendition verb.Rendition
}

// find takes an entry's bytes from an older block or from a form that is kept, or renders them.
func (it *item) find(e *Entry, form verb.Form, older []*joinedBlock) (err error) {
	for _, j := range older {
		if i := j.index(e); i >= 0 {
			it.block = j.part(i, i+1)
			return nil
		}
	}
	if err := e.Err(); err != nil {
		return err
	}
	e.check()
	if form == e.shared.stored {
		it.rendition = e.stored()
		return nil
	}
	if f := e.forms.Load().find(form); f != nil {
		it.rendition, err = f.get()
		return err
	}
	e.shared.counts.rendered.Add(1)
	it.rendition, err = e.shared.codec.Render(e.Key(), e.stored(), form)
	return err
}

// size is an upper bound of the bytes that the item takes.
func (it *item) size() int {
	if it.block.Data != nil {
		return len(it.block.Data)
	}
	return len(it.rendition.Head) + len(it.rendition.Payload) + 2
}

func (j *joinedBlock) append(it *item, codec Codec, form verb.Form) {
	holes, shift := it.block.Holes, len(j.data)-int(it.block.At)
	if it.block.Data != nil {
		j.data = append(j.data, it.block.Data...)
	} else {
		j.data = codec.Join(j.data, &it.rendition, form)
		holes, shift = it.rendition.Holes, len(j.data)-len(it.rendition.Payload)
	}
	for _, h := range holes {
		h.At = uint32(int(h.At) + shift)
		j.holes = append(j.holes, h)
	}
}

// index returns the index of an entry, -1 where the block doesn't have it.
func (j *joinedBlock) index(e *Entry) int {
	for i := range j.entries {
		if j.entries[i].entry == e {
			return i
		}
	}
	return -1
}

// part returns the entries from first to last, exclusively.
func (j *joinedBlock) part(first, last int) verb.Block {
	j.check()
	var from, to uint32
	if first > 0 {
		from = j.ends[first-1]
	}
	if last > 0 {
		to = j.ends[last-1]
	}
	part := verb.Block{Data: j.data[from:to:to], At: from}
	for i := range j.holes {
		switch at := j.holes[i].At; {
		case at < from:
			continue
		case at >= to:
			return part
		case part.Holes == nil:
			part.Holes = j.holes[i:i:len(j.holes)]
		}
		part.Holes = part.Holes[:len(part.Holes)+1]
	}
	return part
}

// check panics where a reader changed bytes that it shares with others; with Config.Verify alone.
func (j *joinedBlock) check() {
	if j.verify && crc32.ChecksumIEEE(j.data) != j.checksum {
		panic(fmt.Sprintf("cache: a reader changed the block that begins with %s, which is shared",
			j.entries[0].entry.Key()))
	}
}

// blockOverhead is roughly what a block costs beside its bytes: itself, and its list of entries.
const blockOverhead = 200 + 24*btree.Fanout

func (b *leafBlock) cost() int64 {
	j := b.joined.Load()
	if j == nil {
		return 0
	}
	return int64(len(j.data) + 40*len(j.holes) + blockOverhead)
}

func (b *leafBlock) kept() bool  { return b.joined.Load() != nil }
func (b *leafBlock) spare() bool { return b.used.Swap(false) }
func (b *leafBlock) evict()      { b.joined.Store(nil) }
func (b *leafBlock) at() *int    { return &b.place }
