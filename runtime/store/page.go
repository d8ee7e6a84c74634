package store

import (
	"slices"
	"strconv"
	"sync"

	"apigen.dev/runtime/api"
)

// maxPooled is the size up to which slices are kept for the next page.
const maxPooled = 1 << 16

// pageItems are the items of a page that were collected, in slices that are used again.
type pageItems struct {
	items  []api.Rendition
	blocks []api.Block
}

var pages = sync.Pool{New: func() any { return &pageItems{} }}

func newPage() *pageItems { return pages.Get().(*pageItems) }

func (p *pageItems) close() {
	if cap(p.items) > maxPooled || cap(p.blocks) > maxPooled {
		return
	}
	clear(p.items)
	clear(p.blocks)
	p.items, p.blocks = p.items[:0], p.blocks[:0]
	pages.Put(p)
}

// unless is page, or the error of what could not be read.
func (p *pageItems) unless(bad *listFailures, l *listing, revision int64, last string, more bool,
	left int,
) (*api.Page, error) {
	if err := bad.err(l.gr); err != nil {
		return nil, err
	}
	return p.page(l, revision, last, more, left)
}

// page hands the items over. left is how many follow; -1 is unknown.
func (p *pageItems) page(l *listing, revision int64, last string, more bool, left int) (*api.Page, error) {
	page := &api.Page{ResourceVersion: strconv.FormatInt(revision, 10), Len: len(p.items), Items: p.all,
		Close: sync.OnceFunc(p.close)}
	if !more {
		return page, nil
	}
	return page, continueFrom(page, l, last, revision, left)
}

// continueFrom says that more follows behind the key last; left is how much, -1 is unknown.
func continueFrom(page *api.Page, l *listing, last string, revision int64, left int) (err error) {
	if l.Empty() && left >= 0 {
		remaining := int64(left)
		page.Remaining = &remaining
	}
	page.Continue, err = EncodeToken(l.prefix, last+"\x00", revision)
	return err
}

func (p *pageItems) all(yield func(api.Rendition) bool) {
	for next := range slices.Chunk(p.items, ahead) {
		if !yieldAll(next, yield) {
			return
		}
	}
}

// ahead is how many renditions are looked up before the first of them is written. Finding one is a few steps through
// memory that no cache holds, each of which waits for the one before. The processor takes the steps of several at a
// time where they stand close together, and not where a copy of the whole object lies between.
const ahead = 16

// yieldAll yields a few renditions.
func yieldAll(next []api.Rendition, yield func(api.Rendition) bool) bool {
	fetch(next)
	for i := range next {
		if !yield(next[i]) {
			return false
		}
	}
	return true
}

// fetch reads the first byte of every payload, so that all of them are on their way before one is copied. What it
// returns is of no use but to have them read.
//
//go:noinline
func fetch(next []api.Rendition) (sum byte) {
	for i := range next {
		if len(next[i].Payload) > 0 {
			sum += next[i].Payload[0]
		}
	}
	return sum
}
