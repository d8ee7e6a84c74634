package cache

import (
	"fmt"
	"hash/crc32"
	"slices"
	"sync"
	"sync/atomic"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/storage"
)

// sheet is the entries of one leaf of the tree in one form, joined as a list has them: a list reads memory from end to
// end, where the renditions of single entries are several steps apart each. It is made at the first list, and again when
// a write replaced the leaf: of what is new, and the bytes of the sheet before.
type sheet struct {
	form api.Form
	pool *pool
	next *sheet // the leaf's other forms; never changed

	joining sync.Mutex // held while it is joined
	joined  atomic.Pointer[joined]
	used    atomic.Bool // since the pool's hand came by
	place   int         // in the pool's ring, as that of a form
}

// joined is what a sheet holds. It is immutable.
type joined struct {
	entries  []slot
	ends     []uint32 // where each entry's bytes end in data
	data     []byte
	holes    []api.Hole
	checksum uint32 // of data, with verify
	verify   bool   // Config.Verify
}

// Sheets appends to sheets the first n entries, of those that Entries yields, in a form that the codec joins. It fails where
// one of them can't be read or shown.
func (s *Snapshot) Sheets(sheets []api.Sheet, prefix, from string, n int, form api.Form) ([]api.Sheet, error) {
	var err error
	end, from := storage.PrefixEnd(prefix), max(prefix, from)
	s.root.leaves(position{key: from}, position{key: end}, func(leaf *node, first, last int) bool {
		last = min(last, first+n)
		n -= last - first
		var part api.Sheet
		if part, err = leaf.part(first, last, form, s.latest); err == nil {
			sheets = append(sheets, part)
		}
		return err == nil && n > 0
	})
	return sheets, err
}

// part returns some entries of a leaf, joined. All of a leaf of the present is joined for them, and kept. latest is the root
// of the present where that is another one: what it has joined needn't be rendered for a state of the past.
func (n *node) part(first, last int, form api.Form, latest *node) (api.Sheet, error) {
	if j := n.sheetIfJoined(form); j != nil {
		return j.part(first, last), nil
	}
	older := n.before
	if n.owner.past || n.replaced.Load() {
		older = slices.Concat(older, latest.leafOf(n.entries[first].entry).lineage())
	} else if j, err := n.sheet(form).join(n); err == nil {
		return j.part(first, last), nil
	}
	j, err := join(n.entries[first:last], form, older)
	if err != nil {
		return api.Sheet{}, err
	}
	return j.part(0, last-first), nil
}

// leafOf returns the leaf where an entry is or would be, or nil.
func (n *node) leafOf(e *Entry) *node {
	for n != nil && !n.leaf() {
		n = n.children[n.childOf(n.order.position(e))]
	}
	return n
}

func (n *node) sheetIfJoined(form api.Form) *joined {
	s := n.sheets.Load().find(form)
	if s == nil {
		return nil
	}
	j := s.joined.Load()
	if j != nil && !s.used.Load() {
		s.used.Store(true)
	}
	return j
}

// sheet finds or makes the leaf's sheet of a form.
func (n *node) sheet(form api.Form) *sheet {
	for {
		all := n.sheets.Load()
		if s := all.find(form); s != nil {
			return s
		}
		s := &sheet{form: form, pool: &n.entries[0].entry.shared.pool, next: all}
		if n.sheets.CompareAndSwap(all, s) {
			return s
		}
	}
}

// find returns the sheet of a form among those of a leaf, or nil.
func (s *sheet) find(form api.Form) *sheet {
	for ; s != nil && s.form != form; s = s.next {
	}
	return s
}

// inherit returns the sheets that a leaf hands on to the one that takes its place.
func (t *tree) inherit(n *node) []*sheet {
	if !t.owner.past {
		n.replaced.Store(true)
	}
	return n.lineage()
}

// lineage is the sheets that have most of what a leaf's would.
func (n *node) lineage() []*sheet {
	if n == nil {
		return nil
	}
	var all []*sheet
	for s := n.sheets.Load(); s != nil; s = s.next {
		if s.kept() {
			all = append(all, s)
		}
	}
	for _, s := range n.before {
		if s.kept() {
			all = append(all, s)
		}
	}
	return all
}

// abandon drops the sheets of a leaf that is no more.
func (t *tree) abandon(n *node) {
	if t.owner.past {
		return
	}
	n.replaced.Store(true)
	for _, s := range n.lineage() {
		s.drop()
	}
}

// join returns what the sheet of a leaf holds; the first caller joins it, and all wait for it.
func (s *sheet) join(leaf *node) (*joined, error) {
	s.joining.Lock()
	defer s.joining.Unlock()
	if j := s.joined.Load(); j != nil {
		return j, nil
	}
	j, err := join(leaf.entries, s.form, leaf.before)
	if err != nil {
		return nil, err
	}
	s.joined.Store(j)
	for _, old := range leaf.before {
		if old.form == s.form {
			old.drop()
		}
	}
	s.pool.add(s)
	if leaf.replaced.Load() {
		s.drop() // who replaced the leaf may not know of it
	}
	return j, nil
}

// drop gives back what the sheet holds.
func (s *sheet) drop() {
	s.joined.Store(nil)
	s.pool.drop(s)
}

// join joins entries. What sheets from before have of them is copied, and nothing that is rendered is kept beside.
func join(entries []slot, form api.Form, before []*sheet) (*joined, error) {
	var items [fanout]item
	size, holes := 0, 0
	old := olderOf(before, form)
	for i := range entries {
		it := &items[i]
		if err := it.find(entries[i].entry, form, old); err != nil {
			return nil, err
		}
		size += it.size()
		holes += len(it.sheet.Holes) + len(it.rendition.Holes)
	}
	j := &joined{entries: entries, ends: make([]uint32, len(entries)), data: make([]byte, 0, size)}
	if holes > 0 {
		j.holes = make([]api.Hole, 0, holes)
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

// olderOf returns what the sheets of a form still hold.
func olderOf(before []*sheet, form api.Form) []*joined {
	var older []*joined
	for _, s := range before {
		if s.form != form {
			continue
		}
		if j := s.joined.Load(); j != nil {
			older = append(older, j)
		}
	}
	return older
}

// item is an entry on its way into a sheet: as a part of an older one, or else a rendition.
type item struct {
	sheet     api.Sheet
	rendition api.Rendition
}

// find takes an entry's bytes from where they are, or renders them.
func (it *item) find(e *Entry, form api.Form, older []*joined) (err error) {
	for _, j := range older {
		if i := j.index(e); i >= 0 {
			it.sheet = j.part(i, i+1)
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

// size is at least what the item takes.
func (it *item) size() int {
	if it.sheet.Data != nil {
		return len(it.sheet.Data)
	}
	return len(it.rendition.Head) + len(it.rendition.Payload) + 2
}

func (j *joined) append(it *item, codec Codec, form api.Form) {
	holes, shift := it.sheet.Holes, len(j.data)-int(it.sheet.At)
	if it.sheet.Data != nil {
		j.data = append(j.data, it.sheet.Data...)
	} else {
		j.data = codec.Join(j.data, &it.rendition, form)
		holes, shift = it.rendition.Holes, len(j.data)-len(it.rendition.Payload)
	}
	for _, h := range holes {
		j.holes = append(j.holes, api.Hole{At: uint32(int(h.At) + shift), Since: h.Since})
	}
}

// index is where an entry stands, -1 where it doesn't.
func (j *joined) index(e *Entry) int {
	for i := range j.entries {
		if j.entries[i].entry == e {
			return i
		}
	}
	return -1
}

// part returns some of the entries.
func (j *joined) part(first, last int) api.Sheet {
	j.check()
	var from, to uint32
	if first > 0 {
		from = j.ends[first-1]
	}
	if last > 0 {
		to = j.ends[last-1]
	}
	part := api.Sheet{Data: j.data[from:to:to], At: from}
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

// check notices that somebody wrote to bytes that were handed out, with Config.Verify.
func (j *joined) check() {
	if j.verify && crc32.ChecksumIEEE(j.data) != j.checksum {
		panic(fmt.Sprintf("cache: somebody wrote to a sheet that begins with %s, which is shared", j.entries[0].entry.Key()))
	}
}

// sheetOverhead is what a sheet costs beside its bytes, roughly: itself, and what a list of entries takes.
const sheetOverhead = 200 + 24*fanout

func (s *sheet) cost() int64 {
	j := s.joined.Load()
	if j == nil {
		return 0
	}
	return int64(len(j.data) + 40*len(j.holes) + sheetOverhead)
}

func (s *sheet) kept() bool  { return s.joined.Load() != nil }
func (s *sheet) spare() bool { return s.used.Swap(false) }
func (s *sheet) evict()      { s.joined.Store(nil) }
func (s *sheet) at() *int    { return &s.place }
