package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/timing"
)

// flushInterval is how long a piece of a body of known length may wait for the next one. Bodies of unknown length, such
// as watches, are flushed at once. It is kube-aggregator's.
const flushInterval = 200 * time.Millisecond

const auditIDHeader = "Audit-Id"

// ServeHTTP passes a request on, as the user in its context. It panics with http.ErrAbortHandler if the answer breaks
// off.
func (b *Backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user := auth.UserFrom(r.Context())
	if user == nil || user.Name == "" {
		http.Error(w, "missing user", http.StatusInternalServerError)
		return
	}
	if err := checkIdentity(user); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	ctx := r.Context()
	if isDiscovery(request.InfoFrom(ctx)) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, b.discovery)
		defer cancel()
		r = r.WithContext(ctx)
	}
	address, err := b.resolve(ctx)
	if err != nil {
		b.log.WarnContext(ctx, "the address of a service was not found", "namespace", b.config.Namespace,
			"name", b.config.Name, "port", b.config.Port, "err", err)
		http.Error(w, "service unavailable", http.StatusServiceUnavailable)
		return
	}
	x := &exchange{backend: b, ctx: ctx, user: user, address: address, upgrade: upgradeOf(r.Header)}
	if ids := w.Header()[auditIDHeader]; len(ids) > 0 {
		x.auditID = ids[:1:1]
	}
	x.serve(w, r)
}

// isDiscovery reports whether a request is for the discovery document of a version, /apis/g/v.
func isDiscovery(info *request.Info) bool {
	const slashes = 2
	return info != nil && !info.IsResource && strings.Count(strings.Trim(info.Path, "/"), "/") == slashes
}

// upgradeOf returns the protocol that a header wants to switch to, or "".
func upgradeOf(header http.Header) string {
	for _, line := range header["Connection"] {
		for token := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.Trim(token, " \t"), "Upgrade") {
				return header.Get("Upgrade")
			}
		}
	}
	return ""
}

// exchange is one request and its answer.
type exchange struct {
	backend *Backend
	ctx     context.Context
	user    *auth.User
	address string
	upgrade string   // the protocol that the client wants to switch to, or ""
	auditID []string // one, or none
	body    watchedBody
}

func (x *exchange) serve(w http.ResponseWriter, r *http.Request) {
	p := httputil.ReverseProxy{
		Rewrite: x.rewrite, Transport: x, ModifyResponse: x.modify, ErrorHandler: answerError,
		FlushInterval: flushInterval, BufferPool: buffers{}, ErrorLog: silent,
	}
	defer func() {
		// ReverseProxy leaves the connection of an upgrade open if the client's can't be taken over.
		if x.upgrade != "" && x.body.ReadCloser != nil {
			_ = x.body.Close() // a second close does nothing
		}
	}()
	request.Begun(x.ctx) // what a watch begins with is the backend's to bound, even if it hangs
	p.ServeHTTP(w, r)
	if x.body.err != nil {
		// ReverseProxy panics under an http.Server alone, and ends the body in good order elsewhere.
		panic(http.ErrAbortHandler)
	}
}

// rewrite makes the backend's request of the client's. ReverseProxy has removed the headers of the client's connection,
// so that a client can't name headers there that rewrite sets.
func (x *exchange) rewrite(p *httputil.ProxyRequest) {
	out := p.Out
	// The path has one spelling, so that the backend reads what this server authorized.
	out.URL = &url.URL{Scheme: "https", Host: x.address, Path: p.In.URL.Path, RawQuery: out.URL.RawQuery}
	out.Host = x.address
	out.Trailer = nil // no API has trailers in requests; a header of identity could be among them

	removeIdentity(out.Header)
	setIdentity(out.Header, x.user)
	if x.auditID != nil {
		out.Header[auditIDHeader] = x.auditID
	}
	x.setForwarded(out, p.In)
	timing.Propagate(x.ctx, out.Header)
}

// setForwarded sets the headers X-Forwarded-* as kube-aggregator does, whose X-Forwarded-Host is the backend.
func (x *exchange) setForwarded(out, in *http.Request) {
	if prior := in.Header["Forwarded"]; prior != nil {
		out.Header["Forwarded"] = prior
	}
	prior := in.Header["X-Forwarded-For"]
	if client, _, err := net.SplitHostPort(in.RemoteAddr); err == nil {
		if len(prior) > 0 {
			client = strings.Join(prior, ", ") + ", " + client
		}
		prior = []string{client}
	}
	if len(prior) > 0 {
		out.Header["X-Forwarded-For"] = prior
	}
	uri := path.Clean(out.URL.EscapedPath())
	if strings.HasSuffix(out.URL.Path, "/") && uri != "/" {
		uri += "/"
	}
	out.Header["X-Forwarded-Uri"] = []string{uri}
	out.Header["X-Forwarded-Host"] = []string{x.address}
	out.Header["X-Forwarded-Proto"] = []string{"https"}
}

// RoundTrip implements http.RoundTripper for ReverseProxy. It takes the trace from the request's context by which
// ReverseProxy passes on informational answers: passing one on clears the headers that the filters have set.
func (x *exchange) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.WithContext(x.ctx)
	t, err := x.backend.transports()
	if err != nil {
		return nil, fmt.Errorf("error trying to reach service: %w", err)
	}
	addVia(r.Header, t.mark)
	transport := t.requests
	if x.upgrade != "" {
		transport = t.upgrades
	}
	response, err := transport.RoundTrip(r)
	x.backend.report(response, err)
	if err != nil {
		return nil, fmt.Errorf("error trying to reach service: %w", err)
	}
	return response, nil
}

// modify checks and changes the answer.
func (x *exchange) modify(response *http.Response) error {
	if response.StatusCode == http.StatusSwitchingProtocols {
		return x.switched(response)
	}
	if code := response.StatusCode; code < http.StatusOK || code > 999 { // an http.ResponseWriter panics at these
		return fmt.Errorf("the backend answered with status code %d", code)
	}
	if x.upgrade != "" && response.StatusCode < http.StatusBadRequest {
		return fmt.Errorf("invalid upgrade response: status code %d", response.StatusCode)
	}
	if code := response.StatusCode; code >= 300 && code <= 399 && response.Header.Get("Location") != "" {
		refuseRedirect(response)
		return nil
	}
	for _, name := range []string{
		"Access-Control-Allow-Credentials", "Access-Control-Allow-Headers", "Access-Control-Allow-Methods",
		"Access-Control-Allow-Origin",
	} {
		delete(response.Header, name)
	}
	if x.auditID != nil {
		delete(response.Header, auditIDHeader) // the answer has it already
	}
	response.Header["X-Content-Type-Options"] = []string{"nosniff"} // what looks like a page is none of this origin's
	x.body.ReadCloser = response.Body
	response.Body = &x.body
	return nil
}

// switched prepares a connection for two copies, one in each direction. ReverseProxy would check the protocol, but it
// would leave the connection open, and it switches without a protocol, too.
func (x *exchange) switched(response *http.Response) error {
	to := upgradeOf(response.Header)
	if x.upgrade == "" || !strings.EqualFold(to, x.upgrade) {
		return fmt.Errorf("the backend switched to protocol %q, the request asked for %q", to, x.upgrade)
	}
	stream, ok := response.Body.(io.ReadWriteCloser)
	if !ok {
		return errors.New("the backend's connection can't be written to")
	}
	x.body.ReadCloser = stream
	response.Body = duplex{stream}
	return nil
}

// refuseRedirect replaces a redirect: the backend could send the client, with its credentials, anywhere.
func refuseRedirect(response *http.Response) {
	_ = response.Body.Close() // nothing is read of it
	const text = "the backend attempted to redirect this request, which is not permitted"
	*response = http.Response{
		StatusCode: http.StatusBadGateway,
		Header: http.Header{
			"Content-Type": {"text/plain; charset=utf-8"}, "X-Content-Type-Options": {"nosniff"},
		},
		Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)),
	}
}

// answerError answers what hindered an answer, as kube-aggregator does.
func answerError(w http.ResponseWriter, _ *http.Request, err error) {
	http.Error(w, err.Error(), http.StatusServiceUnavailable)
}

// watchedBody keeps the error by which a body broke off.
type watchedBody struct {
	io.ReadCloser
	err error
}

// Read implements io.Reader.
func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		b.err = err
	}
	return n, err
}

// duplex is an upgraded connection to a backend that has no half-closed state: the end of either direction ends both.
// No protocol of Kubernetes needs the state, and a peer that never closes its half would hold two connections for ever.
type duplex struct{ io.ReadWriteCloser }

var errEnded = errors.New("the backend closed the connection")

// Read implements io.Reader. It returns an error at the end, which io.Copy doesn't hide.
func (d duplex) Read(p []byte) (int, error) {
	n, err := d.ReadWriteCloser.Read(p)
	if err == io.EOF { //nolint:errorlint // an io.Reader returns io.EOF itself
		err = errEnded
	}
	return n, err
}

// silent drops the lines of ReverseProxy: the client sees the same errors.
var silent = log.New(io.Discard, "", 0)

const bufferSize = 32 << 10

var bufferPool = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// buffers is an httputil.BufferPool.
type buffers struct{}

// Get implements httputil.BufferPool.
func (buffers) Get() []byte { return bufferPool.Get().(*[bufferSize]byte)[:] }

// Put implements httputil.BufferPool.
func (buffers) Put(b []byte) { bufferPool.Put((*[bufferSize]byte)(b)) }
