package store

import (
	"fmt"
	"iter"
	"strconv"
	"sync"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/cache"
)

// listCached serves a page from a snapshot.
func (r *reader) listCached(s *cache.Snapshot, l *listing) (*api.Page, error) {
	revision := s.Revision()
	if l.exact > 0 {
		revision = l.exact
	}
	if l.Empty() {
		if page, err := l.joined(s, revision); page != nil || err != nil {
			return page, err
		}
		if page, err := l.atHand(s, r.stored, revision); page != nil || err != nil {
			return page, err
		}
	}
	p := newPage()
	last, more, err := p.fill(s.Select(l.prefix, l.from, l.lookup), l)
	if err != nil {
		p.close()
		return nil, err
	}
	left := -1
	if more && l.Empty() {
		left = s.Count(l.prefix, last+"\x00")
	}
	return p.page(l, revision, last, more, left)
}

// fewest is how many objects a page must have for blocks to pay.
const fewest = 64

// joined is a page of what the cache keeps joined: metadata, and rows, which hardly anybody asks for but lists. Whole
// objects in other versions are read by name and watched, too, and would be kept twice. It is nil where something can't
// be read or shown: who collects the page names it.
func (l *listing) joined(s *cache.Snapshot, revision int64) (*api.Page, error) {
	n, left := l.extent(s)
	if n < fewest || l.form.Shape == api.Whole || l.form.Encoding != api.JSON || s.Corrupt(l.prefix) != nil {
		return nil, nil
	}
	p := newPage()
	var err error
	if p.blocks, err = s.Blocks(p.blocks, l.prefix, l.from, n, l.form); err != nil {
		p.close()
		return nil, nil //nolint:nilerr // it will be met again
	}
	page := &api.Page{
		ResourceVersion: strconv.FormatInt(revision, 10), Len: n, Blocks: p.blocks, Close: sync.OnceFunc(p.close),
		Items: preparedItems(firstOf(n, s.Entries(l.prefix, l.from)), l.form),
	}
	if err := l.toBeContinued(page, s, revision, left); err != nil {
		p.close()
		return nil, err
	}
	return page, nil
}

// extent is how many objects the page has that is asked for, and how many follow it.
func (l *listing) extent(s *cache.Snapshot) (n, left int) {
	n = s.Count(l.prefix, l.from)
	if l.limit > 0 && l.limit < n {
		n, left = l.limit, n-l.limit
	}
	return n, left
}

// toBeContinued says what follows a page of a snapshot, if anything does.
func (l *listing) toBeContinued(page *api.Page, s *cache.Snapshot, revision int64, left int) error {
	if left == 0 {
		return nil
	}
	return continueFrom(page, l, s.Nth(l.prefix, l.from, page.Len-1).Key(), revision, left)
}

// atHand is a page of the common case, everything in a form that is at hand: it keeps nothing but the snapshot. It is
// nil where something can't be read or shown, or must be rendered first.
func (l *listing) atHand(s *cache.Snapshot, stored api.Form, revision int64) (*api.Page, error) {
	if s.Corrupt(l.prefix) != nil {
		return nil, nil
	}
	n, left := l.extent(s)
	entries := firstOf(n, s.Entries(l.prefix, l.from))
	if !l.prepare(entries, n, stored) {
		return nil, nil
	}
	page := &api.Page{
		ResourceVersion: strconv.FormatInt(revision, 10), Len: n, Items: preparedItems(entries,
			l.form), Close: func() {},
	}
	return page, l.toBeContinued(page, s, revision, left)
}

func firstOf(n int, entries iter.Seq[*cache.Entry]) iter.Seq[*cache.Entry] {
	return func(yield func(*cache.Entry) bool) {
		left := n
		for e := range entries {
			if left--; left < 0 || !yield(e) {
				return
			}
		}
	}
}

// prepare renders what of n entries is not at hand, and tells whether all of it now is. Where much is missing it gives
// up: the page had better keep what it renders, since the cache may not. So it does where something can't be shown: who
// collects the page names all that can't.
func (l *listing) prepare(entries iter.Seq[*cache.Entry], n int, stored api.Form) bool {
	if l.form == stored {
		return true
	}
	missing := 0
	for e := range entries {
		if e.Rendered(l.form) {
			continue
		}
		if missing++; missing > n/8 {
			return false
		}
		if _, err := e.Rendition(l.form); err != nil {
			return false
		}
	}
	return true
}

// preparedItems are the renditions of entries that had them before. One that the cache dropped since is made again of
// the same bytes: it can't fail, and an object must not be left out.
func preparedItems(entries iter.Seq[*cache.Entry], form api.Form) iter.Seq[api.Rendition] {
	return func(yield func(api.Rendition) bool) {
		var next [ahead]api.Rendition
		n := 0
		for e := range entries {
			r, err := e.Rendition(form)
			if err != nil {
				panic(fmt.Sprintf("%s was rendered as %v, and can't be again: %v", e.Key(), form, err))
			}
			next[n] = r
			if n++; n < ahead {
				continue
			}
			if n = 0; !yieldAll(next[:], yield) {
				return
			}
		}
		yieldAll(next[:n], yield)
	}
}

// fill takes matching entries until the page is full, and tells the last key taken and whether a matching one follows.
func (p *pageItems) fill(entries iter.Seq[*cache.Entry], l *listing) (last string, more bool, err error) {
	var bad listFailures
	for e := range entries {
		readErr := e.Err()
		if readErr == nil && !l.Empty() && !l.entry(e) {
			continue
		}
		if l.limit > 0 && len(p.items) == l.limit {
			more = true
			break
		}
		if readErr != nil {
			if bad.addCorrupt(e.Key(), readErr) {
				break
			}
			continue
		}
		rendition, err := e.Rendition(l.form)
		if err != nil {
			if bad.addUnrendered(e.Key(), l.form, err) {
				break
			}
			continue
		}
		p.items, last = append(p.items, rendition), e.Key()
	}
	return last, more, bad.err(l.gr)
}
