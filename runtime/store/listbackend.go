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
	req := storage.RangeRequest{Prefix: l.prefix, From: l.from, Revision: l.exact, Limit: firstChunk}
	if l.limit > 0 {
		req.Limit = int64(min(l.limit, maxChunk))
	}
	p := newPage()
	for {
		result, err := r.backend.Range(ctx, req)
		if err != nil {
			p.close()
			return nil, r.rangeError(ctx, err, req.Revision, l)
		}
		req.Revision = result.Revision
		for i := range result.Items {
			if p.add(r.decode(&result.Items[i]), l) {
				return p.page(l, result.Revision, -1)
			}
		}
		if !result.More || len(result.Items) == 0 {
			return p.page(l, result.Revision, -1)
		}
		if p.more = l.Empty() && l.limit > 0 && len(p.items) == l.limit; p.more {
			return p.page(l, result.Revision, int(result.Remaining))
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
