package endpoint

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// pathOption is the option of a connection that holds the subpath.
const pathOption = "path"

// credentials are the headers that authenticate or impersonate a user. The handler of a connection doesn't get them,
// because it may forward the request.
var credentials = []string{"Authorization", "Impersonate-User", "Impersonate-Group", "Impersonate-Uid"}

const (
	impersonateExtra = "Impersonate-Extra-"
	protocolHeader   = "Sec-Websocket-Protocol"
	bearerProtocol   = "base64url.bearer.authorization.k8s.io." //nolint:gosec // G101: a prefix isn't a credential
)

// connect passes a request to the author's handler, with the path that follows the subresource.
func (req *resourceRequest) connect() error {
	subpath := ""
	if req.extension.Subpath {
		subpath, _ = req.requestInfo.Subpath(req.r.URL) // extension.accepts has checked it
		if plain, err := url.PathUnescape(subpath); err == nil {
			req.query.Set(pathOption, plain)
		}
	}
	ctx, cancel := context.WithCancel(req.r.Context())
	defer cancel()
	name, address, err := req.address()
	if err != nil {
		return err
	}
	handler, err := req.extension.handle.Connect(ctx, req.namespace, name, req.query)
	if err != nil {
		return err
	}
	w := &connectionWriter{ResponseWriter: req.w}
	// The handler owns an upgraded connection, but it ends with the request.
	defer context.AfterFunc(ctx, w.drop)()
	to := connectionRequest(ctx, req.r, subpath)
	to.URL.Scheme, to.URL.Host = address.Scheme, address.Host
	handler.ServeHTTP(w, to)
	return nil
}

// address returns the name of the object. Where the extension lets requests name it by an address, https:name:port, it
// returns the scheme and name:port, too.
func (req *resourceRequest) address() (string, url.URL, error) {
	name := req.requestInfo.Name
	if !req.extension.Address {
		return name, url.URL{}, nil
	}
	scheme, object, port, ok := utilnet.SplitSchemeNamePort(name)
	if !ok {
		return "", url.URL{}, apierrors.NewBadRequest(fmt.Sprintf("invalid %s request %q",
			req.resourceInfo.Names.Singular, name))
	}
	return object, url.URL{Scheme: scheme, Host: utilnet.JoinSchemeNamePort("", object, port)}, nil
}

// connectionRequest returns the request for the author's handler: without credentials, with the subpath as path.
func connectionRequest(ctx context.Context, r *http.Request, subpath string) *http.Request {
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
	out.URL.Path, out.URL.RawPath = "/"+subpath, ""
	if plain, err := url.PathUnescape(subpath); err == nil && plain != subpath {
		out.URL.Path, out.URL.RawPath = "/"+plain, "/"+subpath
	}
	out.RequestURI = out.URL.RequestURI()
	return out
}

// withoutBearer drops the WebSocket protocols in which browsers send tokens.
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

// connectionWriter is the writer of a connection. Libraries that upgrade connections need an http.Hijacker and an
// http.Flusher, and don't unwrap the writers of filters.
type connectionWriter struct {
	http.ResponseWriter
	mu      sync.Mutex // guards the fields below
	conn    net.Conn
	dropped bool
}

func (w *connectionWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
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

func (w *connectionWriter) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// Unwrap lets http.ResponseController reach the connection's writer.
func (w *connectionWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// drop closes the connection, if it was upgraded.
func (w *connectionWriter) drop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dropped = true
	if w.conn != nil {
		_ = w.conn.Close() // the handler that uses the connection gets the error
	}
}
