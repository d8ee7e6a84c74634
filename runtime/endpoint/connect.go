package endpoint

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// pathOption is the option of a connection that holds the path below it.
const pathOption = "path"

// credentials are the headers that say who a client is, or wants to be taken for: what serves a connection may pass a
// request on, and must not pass these on.
var credentials = []string{"Authorization", "Impersonate-User", "Impersonate-Group", "Impersonate-Uid"}

const (
	impersonateExtra = "Impersonate-Extra-"
	protocolHeader   = "Sec-Websocket-Protocol"
	bearerProtocol   = "base64url.bearer.authorization.k8s.io." //nolint:gosec // G101: what credentials begin with is none
)

// connect hands a request to the author's handler, which sees the path behind the subresource.
func (c *call) connect() error {
	below := ""
	if c.extension.Subpath {
		below, _ = c.info.subpath(c.r.URL) // it was looked at when the request was routed
		if plain, err := url.PathUnescape(below); err == nil {
			c.query.Set(pathOption, plain)
		}
	}
	ctx, cancel := context.WithCancel(c.r.Context())
	defer cancel()
	handler, err := c.extension.handle.Connect(ctx, c.namespace, c.info.Name, c.query)
	if err != nil {
		return err
	}
	w := &connector{ResponseWriter: c.w}
	// An upgraded connection is the handler's, and ends with the request all the same.
	defer context.AfterFunc(ctx, w.drop)()
	handler.ServeHTTP(w, connectionRequest(ctx, c.r, below))
	return nil
}

// connectionRequest is the request as an author's handler sees it.
func connectionRequest(ctx context.Context, r *http.Request, below string) *http.Request {
	out := r.Clone(ctx)
	for name := range out.Header {
		if slices.Contains(credentials, name) || strings.HasPrefix(name, impersonateExtra) {
			delete(out.Header, name)
		}
	}
	if offered := out.Header.Values(protocolHeader); len(offered) > 0 {
		out.Header[protocolHeader] = withoutBearer(offered)
	}
	out.TLS = nil
	out.URL.Path, out.URL.RawPath = "/"+below, ""
	if plain, err := url.PathUnescape(below); err == nil && plain != below {
		out.URL.Path, out.URL.RawPath = "/"+plain, "/"+below
	}
	out.RequestURI = out.URL.RequestURI()
	return out
}

// withoutBearer drops the protocols in which browsers carry tokens.
func withoutBearer(offered []string) []string {
	var kept []string
	for _, header := range offered {
		for protocol := range strings.SplitSeq(header, ",") {
			if protocol = strings.TrimSpace(protocol); protocol != "" && !strings.HasPrefix(protocol, bearerProtocol) {
				kept = append(kept, protocol)
			}
		}
	}
	return []string{strings.Join(kept, ", ")}
}

// connector is the writer of a connection: what upgrades connections asks for an http.Hijacker and an http.Flusher, and
// doesn't look behind the writers of filters.
type connector struct {
	http.ResponseWriter
	mu      sync.Mutex // guards what follows
	conn    net.Conn
	dropped bool
}

// Hijack implements http.Hijacker.
func (w *connector) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffer, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conn = conn
	if w.dropped {
		_ = conn.Close() // the request is over
	}
	return conn, buffer, nil
}

// Flush implements http.Flusher.
func (w *connector) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// Unwrap lets http.ResponseController reach the connection's writer.
func (w *connector) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// drop closes a connection that was upgraded.
func (w *connector) drop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dropped = true
	if w.conn != nil {
		_ = w.conn.Close() // its handler sees the error
	}
}
