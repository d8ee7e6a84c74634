package access

import (
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// serverName is the name for which the certificates of backends are.
const serverName = "odd.behind.svc"

// backend is a server behind an APIService. It records what it receives of users, and answers as paths ask for.
type backend struct {
	group    string
	versions []string
	port     int
	config   *tls.Config
	// discovery is the code of its answers to the aggregator, or hangs.
	discovery atomic.Int64

	mu     sync.Mutex // guards the fields below
	server *http.Server
	seen   []string
	left   chan struct{} // closed when the client of an endless answer left
	hangs  bool          // whether users wait for discovery
}

const (
	hangs   = -1
	garbage = -2
)

// newBackend makes a backend that isn't started. The authority signs its certificate.
func newBackend(t *testing.T, signer *authority, group string, versions ...string) *backend {
	t.Helper()
	certificate, key := signer.issue(t, &x509.Certificate{
		DNSNames: []string{serverName}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	b := &backend{
		group: group, versions: versions, left: make(chan struct{}),
		config: &tls.Config{
			Certificates: []tls.Certificate{{Certificate: [][]byte{certificate.Raw}, PrivateKey: key}},
			ClientAuth:   tls.RequestClientCert,
		},
	}
	b.discovery.Store(http.StatusOK)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.port = listener.Addr().(*net.TCPAddr).Port
	_ = listener.Close()
	t.Cleanup(b.stop)
	return b
}

// start makes the backend listen. It speaks HTTP/1.1, or HTTP/2, too.
func (b *backend) start(t *testing.T, http2 bool) *backend {
	t.Helper()
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", b.port))
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: b, TLSConfig: b.config.Clone(), ErrorLog: log.New(io.Discard, "", 0)}
	if !http2 {
		server.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.server = server
	go func() { _ = server.ServeTLS(listener, "", "") }()
	return b
}

// stop makes the backend refuse connections.
func (b *backend) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.server != nil {
		_ = b.server.Close()
		b.server = nil
	}
}

// ServeHTTP implements http.Handler.
func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.Header.Get("X-Remote-User"), "system:") && r.Header.Get("X-Row") == "" {
		b.describe(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	b.note(r, body, err)
	name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	if r.URL.Path == "/apis/"+b.group+"/v1" {
		if b.isHanging() {
			<-r.Context().Done()
			panic(http.ErrAbortHandler) // an answer could reach a client that is about to give up
		}
		b.describe(w, r)
		return
	}
	for _, known := range []map[string]answer{answers, bytesOfHTTP1} {
		if answer := known[name]; answer != nil {
			answer(b, w, r)
			return
		}
	}
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusNotFound)
	fmt.Fprintf(w, "no %s here", r.URL.Path)
}

func (b *backend) isHanging() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.hangs
}

// note records a request.
func (b *backend) note(r *http.Request, body []byte, err error) {
	lines := []string{fmt.Sprintf("%s %s %s, host %s, length %d, %q", r.Method, r.RequestURI, r.Proto, r.Host,
		r.ContentLength, r.TransferEncoding)}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, value := range sortedIf(strings.HasPrefix(name, "X-Remote"), r.Header[name]) {
			lines = append(lines, name+": "+value)
		}
	}
	if len(body) > 0 || err != nil {
		lines = append(lines, fmt.Sprintf("body %.200q, %v", body, err))
	}
	if len(r.TLS.PeerCertificates) > 0 {
		lines = append(lines, "certificate of "+r.TLS.PeerCertificates[0].Subject.CommonName)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen = append(b.seen, strings.Join(lines, "\n"))
}

func sortedIf(sorted bool, values []string) []string {
	if sorted {
		return slices.Sorted(slices.Values(values))
	}
	return values
}

// received returns what was noted since the last call.
func (b *backend) received() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	seen := b.seen
	b.seen = nil
	return seen
}

// describe answers discovery and OpenAPI.
func (b *backend) describe(w http.ResponseWriter, r *http.Request) {
	switch code := int(b.discovery.Load()); code {
	case hangs:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case garbage:
		raw(w, "nonsense\r\n\r\n")
		return
	case http.StatusOK:
	default:
		w.Header().Set("Location", "https://localhost:1/elsewhere")
		w.WriteHeader(code)
		return
	}
	version := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	switch {
	case r.URL.Path == "/openapi/v2":
		writeJSON(w, b.swagger())
	case r.URL.Path == "/openapi/v3":
		var paths []string
		for _, version := range b.versions {
			paths = append(paths, fmt.Sprintf(
				`"apis/%s/%s":{"serverRelativeURL":"/openapi/v3/apis/%[1]s/%[2]s?hash=%[2]s"}`, b.group, version))
		}
		writeJSON(w, `{"paths":{`+strings.Join(paths, ",")+`}}`)
	case strings.HasPrefix(r.URL.Path, "/openapi/v3/apis/"+b.group):
		writeJSON(w, `{"openapi":"3.0.0","info":{"title":"`+b.group+`","version":"1"},"paths":{}}`)
	case r.URL.Path == "/apis/"+b.group+"/"+version && slices.Contains(b.versions, version):
		writeJSON(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"`+b.group+`/`+version+`","resources":[
			{"name":"things","singularName":"thing","namespaced":true,"kind":"Thing","verbs":["get","list"],
			"shortNames":["th"]},{"name":"things/status","singularName":"","namespaced":true,"kind":"Thing",
			"verbs":["get"]}]}`)
	default:
		http.NotFound(w, r)
	}
}

// swagger is the OpenAPI v2 document.
func (b *backend) swagger() string {
	name := "com.example.behind." + strings.SplitN(b.group, ".", 2)[0] + ".v1.Thing"
	return `{"swagger":"2.0","info":{"title":"odd","version":"1"},"paths":{"/apis/` + b.group + `/v1/things":{"get":{
		"operationId":"list` + b.group + `","responses":{"200":{"description":"OK",
		"schema":{"$ref":"#/definitions/` + name + `"}}}}}},"definitions":{"` + name + `":{"type":"object",
		"x-kubernetes-group-version-kind":[{"group":"` + b.group + `","kind":"Thing","version":"v1"}]}}}`
}

func writeJSON(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, text)
}

// raw answers with bytes, and closes the connection.
func raw(w http.ResponseWriter, text string) {
	if conn := hijack(w); conn != nil {
		_, _ = io.WriteString(conn, text)
		_ = conn.Close()
	}
}

func hijack(w http.ResponseWriter) net.Conn {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil
	}
	return conn
}

// reset answers with bytes, and resets the connection.
func reset(w http.ResponseWriter, text string) {
	if conn := hijack(w); conn != nil {
		_, _ = io.WriteString(conn, text)
		_ = conn.(*tls.Conn).NetConn().(*net.TCPConn).SetLinger(0)
		_ = conn.(*tls.Conn).NetConn().Close()
	}
}

// answer is how a backend answers a request.
type answer func(b *backend, w http.ResponseWriter, r *http.Request)

// code answers with a code, headers and a body.
func code(code int, body string, header ...string) answer {
	return func(_ *backend, w http.ResponseWriter, _ *http.Request) {
		w.Header()["Date"] = nil
		for i := 0; i < len(header); i += 2 {
			w.Header().Add(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func exactly(text string) answer {
	return func(_ *backend, w http.ResponseWriter, _ *http.Request) { raw(w, text) }
}

func status(number int, reason string) answer {
	return code(number, fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",`+
		`"message":"odd","reason":%q,"code":%d}`, reason, number), "Content-Type", "application/json")
}

// answers are what the last segment of a path asks for.
var answers = map[string]answer{
	"plain": code(200, `{"kind":"Thing"}`, "Content-Type", "application/json"),
	"headers": code(200, "body", "Content-Type", "text/odd", "Set-Cookie", "a=b", "Set-Cookie", "c=d",
		"Access-Control-Allow-Origin", "*", "Access-Control-Allow-Methods", "GET", "Access-Control-Allow-Headers", "x",
		"Access-Control-Allow-Credentials", "true", "Access-Control-Expose-Headers", "x", "Server", "odd",
		"Audit-Id", "00000000-0000-0000-0000-00000000beef", "Warning", `299 - "odd"`, "X-Own", "1", "Etag", `"odd"`,
		"Cache-Control", "max-age=5", "Vary", "Cookie", "Strict-Transport-Security", "max-age=1",
		"Www-Authenticate", "Bearer", "X-Kubernetes-Pf-Flowschema-Uid", "x", "X-Remote-User", "root",
		"Connection", "X-Hop", "X-Hop", "1", "Keep-Alive", "timeout=5", "Proxy-Authenticate", "Basic",
		"Retry-After", "1", "Link", "<https://example.com>"),
	"zipped": func(_ *backend, w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			_, _ = io.WriteString(w, "not zipped")
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "text/plain")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, "zipped")
		_ = z.Close()
	},
	"long": func(_ *backend, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `"`+strings.Repeat("long ", 50_000)+`"`)
	},
	"unmodified": code(304, "", "Etag", `"odd"`),
	"created":    code(201, `{"kind":"Thing"}`, "Content-Type", "application/json", "Location", "/elsewhere"),
	"empty":      code(204, ""),
	"untyped":    code(200, "<html><body>untyped</body></html>"),
	"status404":  status(404, "NotFound"),
	"status409":  status(409, "Conflict"),
	"status500":  status(500, "InternalError"),
	"text401":    code(401, "log in", "Content-Type", "text/plain", "Www-Authenticate", "Basic realm=x"),
	"text403":    code(403, "forbidden", "Content-Type", "text/plain"),
	"text429":    code(429, "slow", "Content-Type", "text/plain", "Retry-After", "7"),
	"text500":    code(500, "broken", "Content-Type", "text/plain"),
	"text503":    code(503, "away", "Content-Type", "text/plain", "Retry-After", "7"),
	"code599":    code(599, "odd", "Content-Type", "text/plain"),
	"moved":      code(301, "moved", "Location", "https://example.com/"),
	"found":      code(302, "found", "Location", "/apis"),
	"see":        code(303, "see", "Location", "plain"),
	"temporary":  code(307, "temporary", "Location", "//example.com"),
	"permanent":  code(308, "permanent", "Location", "https://example.com/", "Set-Cookie", "a=b"),
	"nowhere":    code(302, "nowhere"),
	"choices":    code(300, "choices"),
	"hints": func(_ *backend, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</style.css>")
		w.WriteHeader(http.StatusEarlyHints)
		_, _ = io.WriteString(w, "hinted")
	},
	"trailers": func(_ *backend, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		_, _ = io.WriteString(w, "before the trailer")
		w.Header().Set("X-Sum", "42")
	},
	"endless": endless,
	"watched": watched,
	"abort":   func(*backend, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
}

// bytesOfHTTP1 are further answers, which are bytes of HTTP/1.1.
var bytesOfHTTP1 = map[string]answer{
	"reset":      func(_ *backend, w http.ResponseWriter, _ *http.Request) { reset(w, "") },
	"closed":     exactly(""),
	"half":       exactly("HTTP/1.1 200 OK\r\nContent-"),
	"garbage":    exactly("nonsense\r\nmore nonsense\r\n\r\n"),
	"oldversion": exactly("HTTP/1.0 200 OK\r\n\r\nuntil the end"),
	"newversion": exactly("HTTP/9.9 200 OK\r\nContent-Length: 2\r\n\r\nok"),
	"code099":    exactly("HTTP/1.1 099 Odd\r\nContent-Length: 2\r\n\r\nok"),
	"code000":    exactly("HTTP/1.1 000 Odd\r\nContent-Length: 2\r\n\r\nok"),
	"code999":    exactly("HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nok"),
	"code1000":   exactly("HTTP/1.1 1000 Odd\r\nContent-Length: 2\r\n\r\nok"),
	"phrase":     exactly("HTTP/1.1 200 Everything Fine\r\nContent-Length: 2\r\n\r\nok"),
	"badheader":  exactly("HTTP/1.1 200 OK\r\nBad Header: x\r\nContent-Length: 2\r\n\r\nok"),
	"badvalue":   exactly("HTTP/1.1 200 OK\r\nBad: \x01x\r\nContent-Length: 2\r\n\r\nok"),
	"huge":       exactly("HTTP/1.1 200 OK\r\nHuge: " + strings.Repeat("x", 2<<20) + "\r\nContent-Length: 2\r\n\r\nok"),
	"twolengths": exactly("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nokk"),
	"nolength":   exactly("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nok"),
	"tooshort":   exactly("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok and more"),
	"toolong":    exactly("HTTP/1.1 200 OK\r\nContent-Length: 20\r\nContent-Type: text/plain\r\n\r\ntoo little"),
	"badchunk":   exactly("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n"),
	"cutchunk":   exactly("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
	"unasked":    exactly("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: odd\r\n\r\n"),
	"midbody": func(_ *backend, w http.ResponseWriter, _ *http.Request) {
		reset(w, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/plain\r\n\r\n5\r\nhello\r\n")
	},
	"switch": switched,
	"other":  exactly("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\nhello"),
}

// endless answers with 500 MB, and records whether the client left.
func endless(b *backend, w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(500<<20))
	piece := make([]byte, 1<<20)
	for range 500 {
		if _, err := w.Write(piece); err != nil {
			close(b.left)
			return
		}
	}
}

// watched sends events, each of which the client answers for by a header of the next request: none is sent before the
// one before was received.
func watched(_ *backend, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json;stream=watch")
	_, _ = io.WriteString(w, `{"type":"ADDED"}`+"\n")
	_ = http.NewResponseController(w).Flush()
	select {
	case <-r.Context().Done(): // the client read the event, and left
	case <-time.After(time.Minute):
		_, _ = io.WriteString(w, "nobody left")
	}
}

// switched echoes a line of an upgraded connection in capitals.
func switched(_ *backend, w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "odd" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: odd\r\n\r\n")
	line, _ := buffered.ReadString('\n')
	_, _ = io.WriteString(conn, strings.ToUpper(line))
}
