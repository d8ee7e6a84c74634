package store

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"apigen.dev/runtime/internal/deflate"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/state/cache"
	"apigen.dev/runtime/internal/verb"
)

func (r *reader) listCached(ctx context.Context, s *cache.Snapshot, l *listing) (*verb.Page, error) {
	revision := s.Revision()
	if l.exact > 0 {
		revision = l.exact
	}
	if l.Empty() && !l.together && s.Corrupt(l.prefix) == nil {
		if page, err := l.prepared(s, r.Stored, revision); page != nil || err != nil {
			return page, err
		}
	}
	p := newPage()
	for e := range s.Select(l.prefix, l.from, l.lookup) {
		if p.add(e, l) {
			break
		}
	}
	left := -1
	if p.more && l.Empty() {
		left = s.Count(l.prefix, p.last+"\x00")
	}
	return r.page(ctx, p, l, revision, left)
}

// prepared returns a page of all objects, of compressed parts, of joined blocks, or of renditions that the cache keeps.
// It returns nil if an object can't be rendered, because add names such an object, or where many must be rendered
// first.
func (l *listing) prepared(s *cache.Snapshot, stored verb.Form, revision int64) (*verb.Page, error) {
	n, left := s.Count(l.prefix, l.from), 0
	if l.limit > 0 && l.limit < n {
		n, left = l.limit, n-l.limit
	}
	entries := firstOf(n, s.Entries(l.prefix, l.from))
	page := &verb.Page{ResourceVersion: strconv.FormatInt(revision, 10), Len: n,
		Items: preparedItems(entries, l.form), Close: func() {}}
	if l.memory != nil {
		if err := l.promise(s.Missing(l.prefix, l.from, n, l.form)); err != nil {
			return nil, err
		}
	}
	if !l.compressed(s, page, stored) && !l.join(s, page) && !l.prepare(entries, n, stored) {
		return nil, nil
	}
	if left == 0 {
		return page, nil
	}
	if err := continueFrom(page, l, s.Nth(l.prefix, l.from, n-1).Key(), revision, left); err != nil {
		page.Close()
		return nil, err
	}
	return page, nil
}

// fewest is how many objects a page must have to be read from joined blocks or compressed parts.
const fewest = 64

// compressed adds compressed parts to a page for a reader who takes them, and reports whether it could: not where the
// page is small or one of its objects can't be rendered. What is stored in the page's form is compressed while the page
// is written, and everything else before, because rendering may fail.
func (l *listing) compressed(s *cache.Snapshot, page *verb.Page, stored verb.Form) bool {
	if !l.compress || page.Len < fewest || !rendition.Joins(l.form) {
		return false
	}
	parts := s.Parts(l.prefix, l.from, page.Len, l.form, time.Now())
	if l.form == stored {
		if !l.large(s, page.Len) {
			return false
		}
		page.Parts = withoutErrors(parts)
		return true
	}
	var all []verb.Part
	size := 0
	for part, err := range parts {
		if err != nil {
			return false
		}
		all, size = append(all, part), size+part.Len()
	}
	if size > deflate.Threshold {
		page.Parts = slices.Values(all)
	}
	return page.Parts != nil
}

// large reports whether the first n objects of the list, as they are stored, are worth compressing.
func (l *listing) large(s *cache.Snapshot, n int) bool {
	size := int64(0)
	for e := range firstOf(n, s.Entries(l.prefix, l.from)) {
		if size += e.Size(); size > deflate.Threshold {
			return true
		}
	}
	return false
}

// withoutErrors returns parts of objects none of which is corrupt, in the form in which they are stored.
func withoutErrors(parts iter.Seq2[verb.Part, error]) iter.Seq[verb.Part] {
	return func(yield func(verb.Part) bool) {
		for part, err := range parts {
			if err != nil {
				panic(fmt.Sprintf("the form in which objects are stored can't be read: %v", err))
			}
			if !yield(part) {
				return
			}
		}
	}
}

// join adds joined blocks to a page, and reports whether it could.
func (l *listing) join(s *cache.Snapshot, page *verb.Page) bool {
	if page.Len < fewest || !cache.KeepsJoined(l.form) {
		return false
	}
	p := newPage()
	var err error
	if p.blocks, err = s.Blocks(p.blocks, l.prefix, l.from, page.Len, l.form); err != nil {
		p.close()
		return false
	}
	page.Blocks, page.Close = p.blocks, p.closeOnce()
	return true
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

// prepare renders those of n entries that are not rendered, and reports whether all of them are. It gives up where many
// are missing, because the cache may drop them again and the page must keep them itself, and where an entry can't be
// rendered; add then names all such entries.
func (l *listing) prepare(entries iter.Seq[*cache.Entry], n int, stored verb.Form) bool {
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

// preparedItems returns the renditions of entries that were rendered before. Where the cache dropped one since, it is
// rendered again from the same bytes, which can't fail.
func preparedItems(entries iter.Seq[*cache.Entry], form verb.Form) iter.Seq[verb.Rendition] {
	return func(yield func(verb.Rendition) bool) {
		var next [ahead]verb.Rendition
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
