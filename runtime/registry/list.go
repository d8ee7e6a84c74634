package registry

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/cache"
	"apigen.dev/runtime/storage"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	listvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// A page that is filled through a selector reads on with chunks that grow up to this.
	maxChunk   = 10000
	firstChunk = 500
	// Slices larger than this are not kept for the next list.
	maxPooled = 1 << 16
)

// listing is a list whose options were understood.
type listing struct {
	selector
	prefix string // of the keys asked for
	only   string // the one key asked for, where a selector names it
	from   string // the first key of the page
	limit  int
	form   api.Form
	gr     schema.GroupResource
	// exact is the revision to read at; 0 where wanted decides.
	exact int64
	// wanted is "", "0" or a number that the state must not be older than; revision is that number.
	wanted   string
	revision int64
	paging   bool
}

// list returns one page of the objects whose keys begin with prefix.
func (r *reader) list(ctx context.Context, prefix string, opts ListOptions, form api.Form) (*Page, error) {
	l, err := r.listing(prefix, opts, form)
	if err != nil {
		return nil, err
	}
	if l.only != "" {
		return r.listOne(ctx, l)
	}
	snapshot, err := r.listSnapshot(ctx, l)
	if err != nil {
		return nil, err
	}
	if snapshot != nil {
		return r.listCached(snapshot, l)
	}
	return r.listBackend(ctx, l)
}

func (r *reader) listing(prefix string, opts ListOptions, form api.Form) (*listing, error) {
	if err := validateList(opts); err != nil {
		return nil, err
	}
	sel, err := newSelector(opts.Selection, r.selectable)
	if err != nil {
		return nil, err
	}
	l := &listing{selector: sel, prefix: r.narrow(prefix, &sel), limit: int(max(opts.Limit, 0)), form: form, gr: r.gr, wanted: opts.ResourceVersion}
	if opts.Continue != "" {
		return l, l.resume(opts)
	}
	if l.revision, err = parseVersion(opts.ResourceVersion); err != nil {
		return nil, err
	}
	legacy := opts.ResourceVersionMatch == "" && l.limit > 0
	if l.revision > 0 && (legacy || opts.ResourceVersionMatch == metav1.ResourceVersionMatchExact) {
		l.exact = l.revision
	}
	if l.exact == 0 && (!r.namespaced || l.prefix != r.prefix) {
		l.only = keyBelow(l.prefix, sel.name)
	}
	return l, nil
}

func (l *listing) resume(opts ListOptions) error {
	if opts.ResourceVersion != "" && opts.ResourceVersion != "0" {
		return apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
	}
	from, revision, err := decodeToken(opts.Continue, l.prefix)
	if err != nil {
		return err
	}
	l.from, l.wanted, l.paging = from, "", true
	l.exact = max(revision, 0)
	return nil
}

func validateList(opts ListOptions) error {
	if opts.ResourceVersionMatch == "" {
		return nil
	}
	errs := listvalidation.ValidateListOptions(&internalversion.ListOptions{
		ResourceVersion: opts.ResourceVersion, ResourceVersionMatch: opts.ResourceVersionMatch, Continue: opts.Continue,
	}, true)
	if len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", errs)
	}
	return nil
}

// listSnapshot is nil where the backend must answer.
func (r *reader) listSnapshot(ctx context.Context, l *listing) (*cache.Snapshot, error) {
	if l.exact == 0 || r.cache == nil {
		return r.snapshot(ctx, l.wanted, l.revision)
	}
	s, err := r.cache.At(ctx, l.exact)
	return s, r.fallBack(ctx, err, l.exact)
}

// listCached serves a page from a snapshot.
func (r *reader) listCached(s *cache.Snapshot, l *listing) (*Page, error) {
	revision := s.Revision()
	if l.exact > 0 {
		revision = l.exact
	}
	if l.empty() {
		if page, err := l.joined(s, r.stored, revision); page != nil || err != nil {
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
	if more && l.empty() {
		left = s.Count(l.prefix, last+"\x00")
	}
	return p.page(l, revision, last, more, left)
}

// fewest is how many objects a page must have for sheets to pay.
const fewest = 64

// joined is a page of what the cache keeps joined: a form in JSON beside the stored one. It is nil where something can't be
// read or shown: who collects the page names it.
func (l *listing) joined(s *cache.Snapshot, stored api.Form, revision int64) (*Page, error) {
	n, left := l.extent(s)
	if n < fewest || l.form == stored || l.form.Encoding != api.JSON || s.Poisoned(l.prefix) != nil {
		return nil, nil
	}
	p := newPage()
	var err error
	if p.sheets, err = s.Sheets(p.sheets, l.prefix, l.from, n, l.form); err != nil {
		p.close()
		return nil, nil //nolint:nilerr // it will be met again
	}
	page := &Page{
		ResourceVersion: strconv.FormatInt(revision, 10), Len: n, Sheets: p.sheets, Close: sync.OnceFunc(p.close),
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
func (l *listing) toBeContinued(page *Page, s *cache.Snapshot, revision int64, left int) error {
	if left == 0 {
		return nil
	}
	return page.goesOn(l, s.Nth(l.prefix, l.from, page.Len-1).Key(), revision, left)
}

// atHand is a page of the common case, everything in a form that is at hand: it keeps nothing but the snapshot. It is nil
// where something can't be read or shown, or must be rendered first.
func (l *listing) atHand(s *cache.Snapshot, stored api.Form, revision int64) (*Page, error) {
	if s.Poisoned(l.prefix) != nil {
		return nil, nil
	}
	n, left := l.extent(s)
	entries := firstOf(n, s.Entries(l.prefix, l.from))
	if !l.prepare(entries, n, stored) {
		return nil, nil
	}
	page := &Page{
		ResourceVersion: strconv.FormatInt(revision, 10), Len: n, Items: preparedItems(entries, l.form), Close: func() {},
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

// ahead is how many renditions are looked up before the first of them is written. Finding one is a few steps through
// memory that no cache holds, each of which waits for the one before. The processor takes the steps of several at a time
// where they stand close together, and not where a copy of the whole object lies between.
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

// fill takes matching entries until the page is full, and tells the last key taken and whether a matching one follows.
func (p *pageItems) fill(entries iter.Seq[*cache.Entry], l *listing) (last string, more bool, err error) {
	var bad unlisted
	for e := range entries {
		readErr := e.Err()
		if readErr == nil && !l.empty() && !l.entry(e) {
			continue
		}
		if l.limit > 0 && len(p.items) == l.limit {
			more = true
			break
		}
		if readErr != nil {
			if bad.add(e.Key(), readErr) {
				break
			}
			continue
		}
		rendition, err := e.Rendition(l.form)
		if err != nil {
			if bad.unshown(e.Key(), l.form, err) {
				break
			}
			continue
		}
		p.items, last = append(p.items, rendition), e.Key()
	}
	return last, more, bad.err(l.gr)
}

// listBackend serves a page from the backend, all of it at the revision of the first chunk.
func (r *reader) listBackend(ctx context.Context, l *listing) (*Page, error) {
	if wait := max(l.exact, l.revision); wait > 0 && !l.paging {
		if err := r.await(ctx, wait); err != nil {
			return nil, err
		}
	}
	p := newPage()
	page, err := r.fillFromBackend(ctx, p, l)
	if err != nil {
		p.close()
	}
	return page, err
}

func (r *reader) fillFromBackend(ctx context.Context, p *pageItems, l *listing) (*Page, error) {
	req := storage.RangeRequest{Prefix: l.prefix, From: l.from, Revision: l.exact, Limit: firstChunk}
	if l.limit > 0 {
		req.Limit = int64(min(l.limit, maxChunk))
	}
	last := ""
	var bad unlisted
	for {
		result, err := r.backend.Range(ctx, req)
		if err != nil {
			return nil, r.rangeError(ctx, err, req.Revision, l)
		}
		req.Revision = result.Revision
		for i := range result.Items {
			kv := &result.Items[i]
			rec, readErr := r.decode(kv)
			if readErr == nil && !l.record(rec) {
				continue
			}
			if l.limit > 0 && len(p.items) == l.limit {
				return p.unless(&bad, l, result.Revision, last, true, -1)
			}
			if readErr != nil {
				if bad.add(kv.Key, readErr) {
					return nil, bad.err(l.gr)
				}
				continue
			}
			rendition, err := rec.rendition(l.form)
			if err != nil {
				if bad.unshown(kv.Key, l.form, err) {
					return nil, bad.err(l.gr)
				}
				continue
			}
			p.items, last = append(p.items, rendition), kv.Key
		}
		if !result.More || len(result.Items) == 0 {
			return p.unless(&bad, l, result.Revision, last, false, -1)
		}
		if l.empty() && l.limit > 0 && len(p.items) == l.limit {
			return p.unless(&bad, l, result.Revision, last, true, int(result.Remaining))
		}
		req.From = result.Items[len(result.Items)-1].Key + "\x00"
		req.Limit = min(req.Limit*2, maxChunk)
	}
}

// rangeError is what a page ends with that can't be read at a revision. What was read of it is lost with it, so the token
// of one that expired goes on where the page began.
func (r *reader) rangeError(ctx context.Context, err error, revision int64, l *listing) error {
	if errors.Is(err, storage.ErrFutureRevision) {
		return r.future(ctx, revision)
	}
	status := r.status(err, "list", "")
	switch {
	case !apierrors.IsResourceExpired(status):
		return err
	case l.paging:
		status = expiredToken(l.prefix, l.from, err)
	}
	r.noticed(revision + 1)
	return status
}

// listOne is a list whose field selector names the one object that can match: a read of that key.
func (r *reader) listOne(ctx context.Context, l *listing) (*Page, error) {
	o, revision, err := r.get(ctx, l.only, l.wanted)
	if errors.Is(err, cache.ErrCorrupt) {
		var bad unlisted
		bad.add(l.only, err)
		return nil, bad.err(r.gr)
	}
	if err != nil {
		return nil, err
	}
	p := newPage()
	if !o.absent() && o.selected(&l.selector) {
		rendition, err := o.rendition(l.form)
		if err != nil {
			p.close()
			var bad unlisted
			bad.unshown(l.only, l.form, err)
			return nil, bad.err(r.gr)
		}
		p.items = append(p.items, rendition)
	}
	return p.page(l, revision, "", false, -1)
}

// pageItems are the items of a page that were collected, in slices that are used again.
type pageItems struct {
	items  []api.Rendition
	sheets []api.Sheet
}

var pages = sync.Pool{New: func() any { return &pageItems{} }}

func newPage() *pageItems { return pages.Get().(*pageItems) }

func (p *pageItems) close() {
	if cap(p.items) > maxPooled || cap(p.sheets) > maxPooled {
		return
	}
	clear(p.items)
	clear(p.sheets)
	p.items, p.sheets = p.items[:0], p.sheets[:0]
	pages.Put(p)
}

// unless is page, or the error of what could not be read.
func (p *pageItems) unless(bad *unlisted, l *listing, revision int64, last string, more bool, left int) (*Page, error) {
	if err := bad.err(l.gr); err != nil {
		return nil, err
	}
	return p.page(l, revision, last, more, left)
}

// page hands the items over. left is how many follow; -1 is unknown.
func (p *pageItems) page(l *listing, revision int64, last string, more bool, left int) (*Page, error) {
	page := &Page{ResourceVersion: strconv.FormatInt(revision, 10), Len: len(p.items), Items: p.all, Close: sync.OnceFunc(p.close)}
	if !more {
		return page, nil
	}
	return page, page.goesOn(l, last, revision, left)
}

// goesOn says that more follows behind the key last; left is how much, -1 is unknown.
func (page *Page) goesOn(l *listing, last string, revision int64, left int) (err error) {
	if l.empty() && left >= 0 {
		remaining := int64(left)
		page.Remaining = &remaining
	}
	page.Continue, err = encodeToken(l.prefix, last+"\x00", revision)
	return err
}

func (p *pageItems) all(yield func(api.Rendition) bool) {
	for next := range slices.Chunk(p.items, ahead) {
		if !yieldAll(next, yield) {
			return
		}
	}
}

// keyBelow is the key of a name directly below prefix; "" where there can be none.
func keyBelow(prefix, name string) string {
	if name == "" || strings.ContainsAny(name, "/%") || name == "." || name == ".." {
		return ""
	}
	return prefix + name
}
