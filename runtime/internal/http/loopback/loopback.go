// Package loopback sends HTTP requests to a handler in the same process: its Transport is an http.RoundTripper that
// needs neither a port nor TLS. It knows nothing of API servers, and imports nothing of ours.
package loopback

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// Transport is an http.RoundTripper that calls Handler for each request, in a goroutine of its own. The handler sees an
// HTTP/2 request from 127.0.0.1, without TLS, and can't take over the connection.
//
// The client gets the response when the handler writes its status, its first bytes, or flushes. The body is not
// buffered: a write of the handler returns when the client has read the bytes. A client that cancels its request, or
// closes the body of the response, ends the context of the handler's request. A Transport is safe for concurrent use.
type Transport struct {
	Handler http.Handler
	// Context has the values that the contexts of the handler's requests have. The values of the context of a client's
	// request don't reach the handler.
	Context context.Context
}

// RoundTrip implements http.RoundTripper.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(t.Context)
	a := newAnswer(r, cancel)
	in, err := received(ctx, r)
	if err != nil {
		cancel(err)
		closeBody(r)
		return nil, err
	}
	stop := context.AfterFunc(r.Context(), func() {
		a.fail(context.Cause(r.Context()))
		closeBody(r) // ends a read of the handler
	})
	go func() {
		defer closeBody(r)
		defer stop()
		a.serve(t.Handler, in)
	}()
	select {
	case <-a.begun:
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	}
	if a.response == nil {
		return nil, context.Cause(ctx)
	}
	return a.response, nil
}

// received is the request as the handler of a server receives it.
func received(ctx context.Context, r *http.Request) (*http.Request, error) {
	target := r.URL.RequestURI()
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return nil, fmt.Errorf("loopback: %w", err)
	}
	in := &http.Request{
		Method: cmp.Or(r.Method, http.MethodGet), URL: u, RequestURI: target, Host: cmp.Or(r.Host, r.URL.Host),
		Proto: "HTTP/2.0", ProtoMajor: 2, RemoteAddr: "127.0.0.1:0",
		Header: http.Header{}, Body: r.Body, ContentLength: r.ContentLength,
	}
	for name, values := range r.Header {
		name = http.CanonicalHeaderKey(name)
		in.Header[name] = append(in.Header[name], values...)
	}
	if in.Body == nil {
		in.Body = http.NoBody
	} else if in.ContentLength == 0 && in.Body != http.NoBody {
		in.ContentLength = -1 // the client doesn't know
	}
	return in.WithContext(ctx), nil
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close() // the answer doesn't depend on it
	}
}

// body is the body of a response. Closing it ends the handler's request.
type body struct {
	*io.PipeReader
	end func()
}

// Close implements io.Closer.
func (b body) Close() error {
	b.end()
	return b.PipeReader.Close()
}
