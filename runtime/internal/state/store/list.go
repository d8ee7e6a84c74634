package store

import (
	"context"
	"errors"
	"strings"

	"apigen.dev/runtime/internal/state/cache"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	listvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type listing struct {
	Selector
	holding
	prefix string // of the keys asked for
	only   string // the one key asked for, where a selector names it
	from   string // the first key of the page
	limit  int
	form   verb.Form
	// together reports whether the objects are rendered together.
	together bool
	// compress reports whether the reader takes compressed parts.
	compress bool
	gr       schema.GroupResource
	// exact is the revision to read at; 0 where wanted decides.
	exact int64
	// wanted is "", "0" or a number that the state must not be older than; revision is that number.
	wanted   string
	revision int64
	paging   bool
}

// List reads one page of the objects below prefix, in a form.
func (s *Store[T]) List(ctx context.Context, prefix string, opts verb.ListOptions, form verb.Form) (*verb.Page, error) {
	full, err := s.key(prefix)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(full, "/") {
		full += "/"
	}
	page, err := s.list(ctx, full, opts, form)
	if err != nil {
		return nil, s.Status(err, "list", "")
	}
	return page, nil
}

func (r *reader) list(ctx context.Context, prefix string, opts verb.ListOptions, form verb.Form) (*verb.Page, error) {
	l, err := r.listing(prefix, opts, form)
	if err != nil {
		return nil, err
	}
	if l.only != "" {
		return r.listOne(ctx, l)
	}
	var snapshot *cache.Snapshot
	if l.exact == 0 || r.cache == nil {
		snapshot, err = r.snapshot(ctx, l.wanted, l.revision)
	} else {
		snapshot, err = r.cache.At(ctx, l.exact)
		err = r.fallBack(ctx, err, l.exact)
	}
	if err != nil {
		return nil, err
	}
	if snapshot != nil {
		if opts.ResourceVersion == "0" {
			l.limit = 0 // kube-apiserver ignores a limit of what its watch cache has at hand
		}
		return r.listCached(ctx, snapshot, l)
	}
	return r.listBackend(ctx, l)
}

func (r *reader) listing(prefix string, opts verb.ListOptions, form verb.Form) (*listing, error) {
	if err := ValidateListOptions(opts); err != nil {
		return nil, err
	}
	sel, err := NewSelector(opts.Selection, r.selectable)
	if err != nil {
		return nil, err
	}
	l := &listing{Selector: sel, prefix: r.narrow(prefix, &sel), limit: int(max(opts.Limit, 0)), form: form, gr: r.gr,
		holding:  holding{memory: opts.Memory},
		together: r.rendersTogether(form), compress: opts.Compress, wanted: opts.ResourceVersion}
	if opts.Continue != "" {
		return l, l.resume(opts)
	}
	if l.revision, err = ParseVersion(opts.ResourceVersion); err != nil {
		return nil, err
	}
	legacy := opts.ResourceVersionMatch == "" && l.limit > 0
	if l.revision > 0 && (legacy || opts.ResourceVersionMatch == metav1.ResourceVersionMatchExact) {
		l.exact = l.revision
	}
	if l.exact == 0 && (!r.Namespaced || l.prefix != r.prefix) {
		l.only = keyBelow(l.prefix, sel.name)
	}
	return l, nil
}

func (l *listing) resume(opts verb.ListOptions) error {
	if opts.ResourceVersion != "" && opts.ResourceVersion != "0" {
		return apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
	}
	from, revision, err := DecodeToken(opts.Continue, l.prefix)
	if err != nil {
		return err
	}
	l.from, l.wanted, l.paging = from, "", true
	l.exact = max(revision, 0)
	return nil
}

// ValidateListOptions refuses contradictions in the options of a list.
func ValidateListOptions(opts verb.ListOptions) error {
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

// listOne lists by reading one key, where a field selector names the only object that can match.
func (r *reader) listOne(ctx context.Context, l *listing) (*verb.Page, error) {
	o, revision, err := r.get(ctx, l.only, l.wanted)
	if err != nil {
		return nil, err
	}
	p := newPage()
	if o != nil {
		p.add(o, l)
	}
	return r.page(ctx, p, l, revision, -1)
}

// keyBelow returns the key of a name directly below prefix, or "" for a name that no object can have.
func keyBelow(prefix, name string) string {
	if name == "" || strings.ContainsAny(name, "/%") || name == "." || name == ".." {
		return ""
	}
	return prefix + name
}

// A page with a selector reads chunks that grow up to maxChunk, until it is full.
const (
	maxChunk   = 10000
	firstChunk = 500
)

// listBackend reads a page from the backend, all of it at the revision of the first chunk.
func (r *reader) listBackend(ctx context.Context, l *listing) (*verb.Page, error) {
	if wait := max(l.exact, l.revision); wait > 0 && !l.paging {
		if err := r.await(ctx, wait); err != nil {
			return nil, err
		}
	}
	req := storage.RangeRequest{Prefix: l.prefix, From: l.from, Revision: l.exact, Limit: firstChunk}
	if l.limit > 0 {
		req.Limit = int64(min(l.limit, maxChunk))
	}
	if err := l.promise(r.expected(req.Limit, l)); err != nil {
		return nil, err
	}
	p := newPage()
	for {
		result, err := r.Backend.Range(ctx, req)
		if err != nil {
			p.close()
			return nil, r.rangeError(ctx, err, req.Revision, l)
		}
		req.Revision = result.Revision
		for i := range result.Items {
			if p.add(r.decode(&result.Items[i]), l) {
				return r.page(ctx, p, l, result.Revision, -1)
			}
		}
		if !result.More || len(result.Items) == 0 {
			return r.page(ctx, p, l, result.Revision, -1)
		}
		if p.more = l.Empty() && p.full(l); p.more {
			return r.page(ctx, p, l, result.Revision, int(result.Remaining))
		}
		req.From = result.Items[len(result.Items)-1].Key + "\x00"
		req.Limit = min(req.Limit*2, maxChunk)
	}
}

// expected returns how many bytes a list from the backend will probably take, by what the cache has of the resource: at
// least a chunk, of which a selector may leave little. It returns 0 if there is no cache.
func (r *reader) expected(chunk int64, l *listing) int64 {
	if r.cache == nil || l.memory == nil {
		return 0
	}
	objects, bytes, _ := r.cache.Size()
	if objects == 0 {
		return 0
	}
	n := objects
	if l.limit > 0 || !l.Empty() {
		n = min(n, max(int64(l.limit), chunk))
	}
	return n * (bytes/objects + recordBytes + itemBytes)
}

// rangeError returns the error of a page that can't be read at a revision. An expired page has a token that continues
// at the current revision, where the page began, because the client gets nothing of it.
func (r *reader) rangeError(ctx context.Context, err error, revision int64, l *listing) error {
	if errors.Is(err, storage.ErrFutureRevision) {
		return r.future(ctx, revision)
	}
	status := r.Status(err, "list", "")
	switch {
	case !apierrors.IsResourceExpired(status):
		return err
	case l.paging:
		expired := apierrors.NewResourceExpired(expiredContinue)
		if next, tokenErr := EncodeToken(l.prefix, l.from, -1); tokenErr == nil {
			expired = apierrors.NewResourceExpired(resumeContinue)
			expired.ErrStatus.ListMeta.Continue = next
		}
		status = WithCause(expired, err)
	}
	r.noticed(revision + 1)
	return status
}
