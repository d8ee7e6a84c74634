package store

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// maxPooled is the size up to which slices are kept for the next page.
const maxPooled = 1 << 16

// pageItems are the items of a page, in slices of a pool.
type pageItems struct {
	items  []verb.Rendition
	blocks []verb.Block
	// last is the key of the last item, and more tells that an object follows it.
	last string
	more bool
	bad  listFailures
	// waiting are objects that are rendered together, behind the items.
	waiting []object
}

var pages = sync.Pool{New: func() any { return &pageItems{} }}

func newPage() *pageItems { return pages.Get().(*pageItems) }

// closeOnce returns close for a page, whose reader may call it twice: by then the slices may belong to another page.
func (p *pageItems) closeOnce() func() {
	var closed atomic.Bool
	return func() {
		if !closed.Swap(true) {
			p.close()
		}
	}
}

func (p *pageItems) close() {
	if cap(p.items) > maxPooled || cap(p.blocks) > maxPooled {
		return
	}
	clear(p.items)
	clear(p.blocks)
	*p = pageItems{items: p.items[:0], blocks: p.blocks[:0]}
	pages.Put(p)
}

// add appends an object that the list covers, or notes why it can't be shown. It reports whether the page is full, or
// the list was refused memory.
func (p *pageItems) add(o object, l *listing) (full bool) {
	if !l.covers(o) {
		return false
	}
	if p.more = p.full(l); p.more {
		return true
	}
	if l.together {
		p.waiting, p.last = append(p.waiting, o), o.Key()
		if l.memory != nil {
			l.take(takesWhole(o))
		}
		return l.refused != nil
	}
	fresh := l.memory != nil && isFresh(o, l.form)
	r, ok := p.bad.render(o, l.form)
	if ok {
		p.items, p.last = append(p.items, r), o.Key()
	}
	if fresh {
		l.take(itemBytes + recordBytes + int64(len(r.Payload)))
	}
	return p.bad.enough() || l.refused != nil
}

// full reports whether the page has as many items as the list may have.
func (p *pageItems) full(l *listing) bool {
	return l.limit > 0 && len(p.items)+len(p.waiting) == l.limit
}

// renderWaiting makes items of the objects that wait, or notes why they can't be shown. Its error is that of ctx.
func (p *pageItems) renderWaiting(ctx context.Context, r *reader, l *listing) error {
	rendered, errs, err := r.renderTogether(ctx, p.waiting, l.form)
	if err != nil {
		return err
	}
	for i, err := range errs {
		switch {
		case err == nil:
			p.items = append(p.items, rendered[i])
		case !p.bad.enough():
			p.bad.note(p.waiting[i], l.form, err)
		}
	}
	p.waiting = nil
	return nil
}

// page makes the page of the items. left is how many objects follow; -1 is unknown.
func (r *reader) page(ctx context.Context, p *pageItems, l *listing, revision int64, left int) (*verb.Page, error) {
	if l.refused != nil {
		p.close()
		return nil, l.refused
	}
	if len(p.waiting) > 0 {
		if err := p.renderWaiting(ctx, r, l); err != nil {
			p.close()
			return nil, err
		}
	}
	page := &verb.Page{ResourceVersion: strconv.FormatInt(revision, 10), Len: len(p.items), Items: p.all,
		Close: p.closeOnce()}
	err := p.bad.err(l.gr)
	if err == nil && p.more {
		err = continueFrom(page, l, p.last, revision, left)
	}
	if err != nil {
		page.Close()
		return nil, err
	}
	return page, nil
}

// continueFrom sets the token that continues after the key last. left is how many objects follow; -1 is unknown.
func continueFrom(page *verb.Page, l *listing, last string, revision int64, left int) (err error) {
	if l.Empty() && left >= 0 {
		remaining := int64(left)
		page.Remaining = &remaining
	}
	page.Continue, err = EncodeToken(l.prefix, last+"\x00", revision)
	return err
}

func (p *pageItems) all(yield func(verb.Rendition) bool) {
	for next := range slices.Chunk(p.items, ahead) {
		if !yieldAll(next, yield) {
			return
		}
	}
}

// ahead is how many renditions a page looks up before it yields the first one. A lookup misses the processor's caches a
// few times, each time waiting for the one before. The processor overlaps the misses of several lookups only where no
// copy of a whole object is between them.
const ahead = 16

func yieldAll(next []verb.Rendition, yield func(verb.Rendition) bool) bool {
	fetch(next)
	for i := range next {
		if !yield(next[i]) {
			return false
		}
	}
	return true
}

// fetch reads the first byte of every payload, so that the processor loads all of them before one is copied. Its result
// only keeps the compiler from removing the reads.
//
//go:noinline
func fetch(next []verb.Rendition) (sum byte) {
	for i := range next {
		if len(next[i].Payload) > 0 {
			sum += next[i].Payload[0]
		}
	}
	return sum
}

// token is the content of a continue parameter, as in kube-apiserver.
type token struct {
	Version  string `json:"v"`
	Revision int64  `json:"rv"`
	Start    string `json:"start,omitempty"`
	// Raw replaces a Start that JSON can't represent: such keys exist where another program wrote them.
	Raw []byte `json:"raw,omitempty"`
}

const tokenVersion = "meta.k8s.io/v1" //nolint:gosec // G101: a continue token is no credential

// EncodeToken returns the parameter that continues a list below prefix at the key from. A revision of -1 is the current
// one at that time.
func EncodeToken(prefix, from string, revision int64) (string, error) {
	start, ok := strings.CutPrefix(from, prefix)
	if !ok || start == "" {
		return "", fmt.Errorf("key %q is not below %q", from, prefix)
	}
	t := token{Version: tokenVersion, Revision: revision, Start: start}
	if !encodable(start) {
		t.Start, t.Raw = "", []byte(start)
	}
	data, err := json.Marshal(t)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(data), nil
}

// DecodeToken returns the key that a list continues at, which is always below prefix, whatever the client sent.
func DecodeToken(parameter, prefix string) (from string, revision int64, err error) {
	bad := func(format string, args ...any) (string, int64, error) {
		return "", 0, apierrors.NewBadRequest("invalid continue token: continue key is not valid: " +
			fmt.Sprintf(format, args...))
	}
	data, err := base64.RawURLEncoding.DecodeString(parameter)
	if err != nil {
		return bad("%v", err)
	}
	var t token
	if err := json.Unmarshal(data, &t); err != nil {
		return bad("%v", err)
	}
	switch {
	case t.Version != tokenVersion:
		return bad("server does not recognize this encoded version %v", t.Version)
	case t.Revision == 0 || t.Revision < -1:
		return bad("incorrect encoded start resourceVersion (version %s)", tokenVersion)
	case t.Start == "" && len(t.Raw) > 0 && !encodable(string(t.Raw)):
		return prefix + string(t.Raw), t.Revision, nil
	case t.Start == "":
		return bad("encoded start key empty (version %s)", tokenVersion)
	}
	start := strings.TrimPrefix(t.Start, "/")
	if !encodable(start) {
		return bad("%s", t.Start)
	}
	return prefix + start, t.Revision, nil
}

// encodable reports whether a token can have a start as it is: it must be valid UTF-8, and path.Clean must not change
// it.
func encodable(start string) bool {
	rooted := "/" + start
	return path.Clean(rooted) == rooted && rooted != "/" && utf8.ValidString(start)
}
