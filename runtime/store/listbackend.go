package store

import (
	"context"
	"errors"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/storage"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// A page with a selector reads chunks that grow up to maxChunk, until it is full.
const (
	maxChunk   = 10000
	firstChunk = 500
)

// listBackend reads a page from the backend, all of it at the revision of the first chunk.
func (r *reader) listBackend(ctx context.Context, l *listing) (*api.Page, error) {
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

func (r *reader) fillFromBackend(ctx context.Context, p *pageItems, l *listing) (*api.Page, error) {
	req := storage.RangeRequest{Prefix: l.prefix, From: l.from, Revision: l.exact, Limit: firstChunk}
	if l.limit > 0 {
		req.Limit = int64(min(l.limit, maxChunk))
	}
	last := ""
	var bad listFailures
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
				if bad.addCorrupt(kv.Key, readErr) {
					return nil, bad.err(l.gr)
				}
				continue
			}
			rendition, err := rec.rendition(l.form)
			if err != nil {
				if bad.addUnrendered(kv.Key, l.form, err) {
					return nil, bad.err(l.gr)
				}
				continue
			}
			p.items, last = append(p.items, rendition), kv.Key
		}
		if !result.More || len(result.Items) == 0 {
			return p.unless(&bad, l, result.Revision, last, false, -1)
		}
		if l.Empty() && l.limit > 0 && len(p.items) == l.limit {
			return p.unless(&bad, l, result.Revision, last, true, int(result.Remaining))
		}
		req.From = result.Items[len(result.Items)-1].Key + "\x00"
		req.Limit = min(req.Limit*2, maxChunk)
	}
}

// rangeError returns the error of a page that can't be read at a revision. The token of an expired page continues where
// the page began, because the client gets nothing of it.
func (r *reader) rangeError(ctx context.Context, err error, revision int64, l *listing) error {
	if errors.Is(err, storage.ErrFutureRevision) {
		return r.future(ctx, revision)
	}
	status := r.Status(err, "list", "")
	switch {
	case !apierrors.IsResourceExpired(status):
		return err
	case l.paging:
		status = expiredToken(l.prefix, l.from, err)
	}
	r.noticed(revision + 1)
	return status
}
