package proxy

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"time"

	"apigen.dev/runtime/auth"
)

const (
	// fetchTimeout bounds Fetch. It is kube-aggregator's for OpenAPI documents.
	fetchTimeout = time.Minute
	// maxDocument is the largest body that Fetch reads.
	maxDocument = 32 << 20
)

// Document is an answer to Fetch.
type Document struct {
	Code   int
	Header http.Header
	Body   []byte
}

// Fetch reads a document of the backend, such as one of discovery or OpenAPI, as a user. The path may have a query.
// accept is the header Accept, unless it is empty; header, which may be nil, has further ones, such as If-None-Match.
// Fetch returns the answer whatever its code is, and doesn't follow redirects. It takes a minute at most; the caller
// bounds documents of discovery with ctx. A body beyond 32 MiB is an error.
func (b *Backend) Fetch(
	ctx context.Context, user *auth.User, path, accept string, header http.Header,
) (*Document, error) {
	ctx, cancel := context.WithTimeout(ctx, b.fetch)
	defer cancel()
	r, err := b.newRequest(ctx, user, path)
	if err != nil {
		return nil, err
	}
	further := header.Clone()
	removeIdentity(further)
	maps.Copy(r.Header, further)
	if accept != "" {
		r.Header["Accept"] = []string{accept}
	}
	t, err := b.transports()
	if err != nil {
		return nil, failing(r.URL, err)
	}
	addVia(r.Header, t.mark)
	response, err := t.requests.RoundTrip(r)
	b.report(response, err)
	if err != nil {
		return nil, failing(r.URL, err)
	}
	defer func() { _ = response.Body.Close() }() // it was opened for reading
	body, err := readDocument(response)
	if err != nil {
		return nil, failing(r.URL, err)
	}
	return &Document{Code: response.StatusCode, Header: response.Header, Body: body}, nil
}

func readDocument(response *http.Response) ([]byte, error) {
	if response.StatusCode == http.StatusSwitchingProtocols {
		return nil, fmt.Errorf("bad status: %d", response.StatusCode)
	}
	if response.ContentLength > maxDocument {
		return nil, fmt.Errorf("the body has %d bytes, more than %d", response.ContentLength, maxDocument)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("reading the body: %w", err)
	}
	if len(body) > maxDocument {
		return nil, fmt.Errorf("the body has more than %d bytes", maxDocument)
	}
	return body, nil
}
