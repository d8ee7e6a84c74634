package access

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"time"
)

const oddGroup, oddVersion = "odd.behind.example.com", "/apis/odd.behind.example.com/v1"

// secondGroup is that of the backend that speaks HTTP/2.
const secondGroup = "second.behind.example.com"

// row is a request to a backend. Its path is below the version, unless it begins with a slash.
type row struct {
	method, path string
	header       []string
	body         string
	how          func(t *testing.T, b *backend, client *http.Client, r *http.Request) []string // nil is readAll
	once         bool                                                                          // sent in HTTP/1.1 alone
}

// spoofed are headers by which a client could say who it is, or which the aggregator sets.
var spoofed = []string{
	"User-Agent", "odd/1", "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io, */*", "If-None-Match", `"odd"`,
	"X-Remote-User", "root", "X-Remote-Group", "system:masters", "X-Remote-Uid", "0", "X-Remote-Extra-Scopes", "all",
	"X-Remote-Other", "stays", "x-remote-extra-%41", "b", "Cookie", "a=b", "X-Forwarded-For", "10.1.2.3",
	"X-Forwarded-Host", "example.com", "X-Forwarded-Proto", "http", "X-Forwarded-Uri", "/x", "X-Forwarded-Port", "1",
	"Forwarded", "for=10.1.2.3", "X-Real-Ip", "10.1.2.3", "Accept-Encoding", "gzip, br",
	"Origin", "https://example.com",
	"Referer", "https://example.com/x", "Proxy-Authorization", "Basic eDp5", "Te", "trailers", "Via", "1.1 odd",
	"Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "Audit-Id",
	"00000000-0000-0000-0000-00000000aaaa", "X-Own", "1", "X-Own", "2", "Connection", "X-Hop", "X-Hop", "1",
	"Keep-Alive", "timeout=1", "Range", "bytes=0-1", "Cache-Control", "no-cache", "X-Http-Method-Override", "DELETE",
}

var jane = []string{
	"Impersonate-User", "jane", "Impersonate-Uid", "7", "Impersonate-Group", "b", "Impersonate-Group",
	"a group", "Impersonate-Extra-Scopes", "one", "Impersonate-Extra-Scopes", "two",
	"Impersonate-Extra-Example.com%2fKey", "three",
}

var upgrade = []string{"Connection", "Upgrade", "Upgrade", "odd"}

// Backends that break off after their head race with the aggregator: net/http's reverse proxy gives the client nothing
// if the backend breaks off before the proxy has flushed the head, and the head with a cut body otherwise. An answer of
// unknown length is flushed when its first bytes come, one of known length after 200 ms. kube-apiserver gives both
// outcomes, and the record has the one that it happened to give. The head of an answer of unknown length may also be
// flushed before its first bytes, by the proxy's timer; net/http then guesses no Content-Type from them.
const (
	unflushed = "no answer: EOF"
	cutHello  = "body \"hello\"\nbreaks off: unexpected EOF"
	chunked   = "200 OK\nAudit-Id: <uid>\nCache-Control: no-cache, private\nContent-Type: %s\n" +
		"encoding [\"chunked\"]\n" + cutHello
	untyped = "200 OK\nAudit-Id: <uid>\nCache-Control: no-cache, private\nencoding [\"chunked\"]\n" + cutHello
)

// outcomes are all answers of kube-apiserver to a row that has several, and the reason.
var outcomes = map[string]struct {
	answers []string
	why     string
}{
	"GET badchunk": {[]string{unflushed, untyped, fmt.Sprintf(chunked, "text/plain; charset=utf-8")},
		"the malformed chunk may be read before the head is flushed, or after it"},
	"GET cutchunk": {[]string{unflushed, untyped, fmt.Sprintf(chunked, "text/plain; charset=utf-8")},
		"the end of the connection may be read before the head is flushed, or after it"},
	"GET midbody": {[]string{unflushed, fmt.Sprintf(chunked, "text/plain")},
		"the reset of the connection may be seen before the head is flushed, or after it"},
	"GET toolong": {[]string{unflushed, "200 OK\nAudit-Id: <uid>\nCache-Control: no-cache, private\n" +
		"Content-Length: 20\nContent-Type: text/plain\nbody \"too little\"\nbreaks off: unexpected EOF"},
		"the end of the connection may come before the head is flushed, which it is after 200 ms, or after it"},
}

// isOtherOutcome reports whether kube-apiserver may answer a row with want and with got, and the backend received the
// same.
func isOtherOutcome(name, want, got string) bool {
	const received = "\nthe backend received "
	wantAnswer, wantReceived, _ := strings.Cut(want, received)
	gotAnswer, gotReceived, _ := strings.Cut(got, received)
	answers := outcomes[name].answers
	return wantReceived == gotReceived && slices.Contains(answers, wantAnswer) && slices.Contains(answers, gotAnswer)
}

// rows are sent one after another.
var rows = []row{
	{path: "plain"},
	{path: "plain", header: spoofed},
	{path: "plain", header: jane},
	{path: "plain", header: []string{"Impersonate-User", "jane"}},
	{path: "plain", header: []string{"Connection", "X-Remote-User, X-Remote-Group"}, once: true},
	{path: "plain", header: []string{"Authorization", "Bearer guest"}},
	{path: "plain", header: []string{"Authorization", "Bearer wrong"}},
	{path: "plain", header: []string{"Authorization", ""}},
	{path: "headers"},
	{path: "zipped"},
	{path: "zipped", header: []string{"Accept-Encoding", "gzip"}},
	{path: "long", header: []string{"Accept-Encoding", "gzip"}},
	{path: "unmodified", header: []string{"If-None-Match", `"odd"`}},
	{method: "POST", path: "created", body: `{"kind":"Thing"}`, header: []string{"Content-Type", "application/json"}},
	{method: "POST", path: "created", body: `{}`, header: []string{"Content-Type", "odd/odd"}},
	{method: "POST", path: "plain"},
	{method: "PUT", path: "plain", body: "text", header: []string{"Expect", "100-continue"}},
	{method: "DELETE", path: "plain"},
	{method: "DELETE", path: "plain", body: `{"kind":"DeleteOptions"}`},
	{method: "PATCH", path: "plain", body: "[]", header: []string{"Content-Type", "application/json-patch+json"}},
	{method: "HEAD", path: "plain"},
	{method: "HEAD", path: "headers"},
	{method: "OPTIONS", path: "plain"},
	{method: "OPTIONS", path: "plain", header: []string{"Origin", "https://example.com",
		"Access-Control-Request-Method", "GET"}},
	{method: "TRACE", path: "plain"},
	{method: "ODD", path: "plain"},
	{path: "plain?b=2&a=1&b=1"},
	{path: "plain?a=%20+x&empty&c=%2f&d=ä"},
	{path: "plain?a=1;b=2&c=3"},
	{path: "plain?a=%zz&b=1"},
	{path: "plain?"},
	{path: "plain?fieldSelector=metadata.name%3Dx&limit=5&pretty=true&timeout=3s"},
	{path: "plain?timeout=odd"},
	{path: "empty"}, {path: "untyped"}, {path: "status404"}, {path: "status409"}, {path: "status500"},
	{path: "text401"}, {path: "text403"}, {path: "text429"}, {path: "text500"}, {path: "text503"}, {path: "code599"},
	{path: "moved"}, {path: "found"}, {path: "see"}, {path: "temporary"}, {path: "permanent"}, {path: "nowhere"},
	{path: "choices"}, {method: "POST", path: "moved", body: "{}"}, {method: "HEAD", path: "moved"},
	{path: "hints"}, {path: "trailers"},
	{path: "reset"}, {path: "closed"}, {method: "POST", path: "closed", body: "{}"}, {path: "half"}, {path: "abort"},
	{path: "garbage"}, {path: "oldversion"}, {path: "newversion"}, {path: "code099"}, {path: "code000"},
	{path: "code999"}, {path: "code1000"}, {path: "phrase"}, {path: "badheader"}, {path: "badvalue"}, {path: "huge"},
	{path: "twolengths"}, {path: "nolength"}, {path: "tooshort"}, {path: "toolong"}, {path: "badchunk"},
	{path: "cutchunk"}, {path: "midbody"}, {path: "unasked"},
	{path: "endless", how: leave, once: true}, {path: "watched?watch=true", how: oneEvent},
	{path: "namespaces/x/things/watched?watch=true", how: oneEvent}, {path: "watched", how: oneEvent},
	{path: "switch", header: upgrade, how: speak}, {path: "other", header: upgrade, how: speak},
	{path: "namespaces/x/things/y/exec/switch", header: upgrade, how: speak},
	{path: "switch", header: slices.Concat(upgrade, spoofed[6:16], []string{"Origin", "https://example.com"}),
		how: speak},
	{path: "plain", header: upgrade}, {path: "empty", header: upgrade}, {path: "text403", header: upgrade},
	{path: "status500", header: upgrade}, {path: "moved", header: upgrade}, {path: "closed", header: upgrade},
	{path: "unmodified", header: upgrade}, {path: "garbage", header: upgrade},
	{path: oddVersion}, {path: oddVersion + "/"}, {method: "HEAD", path: oddVersion},
	{method: "POST", path: oddVersion, body: "{}"}, {method: "OPTIONS", path: oddVersion},
	{path: oddVersion, header: []string{"Accept", "application/vnd.kubernetes.protobuf"}},
	{path: oddVersion, how: hang, once: true},
	{path: oddVersion + "/unknown"}, {path: oddVersion + "/namespaces/x/unknown/y"},
	{path: oddVersion + "x/plain"}, {path: "/apis/" + oddGroup + "/v2"}, {path: "/apis/" + oddGroup + "/v2/things"},
	{path: "/apis/" + oddGroup}, {path: "/apis/" + oddGroup + "/"}, {path: "/apis/unknown.behind.example.com"},
	{path: "/apis/unknown.behind.example.com/v1/things"}, {method: "POST", path: "/apis/" + oddGroup, body: "{}"},
	{path: "a/../plain"}, {path: "a//plain"}, {path: "a%2fplain"}, {path: "a%20b/plain"}, {path: "a;b/plain"},
	{path: "%70lain"}, {path: "./plain"}, {path: "plain/"}, {path: "ä/plain"}, {path: "a%00/plain"},
	{path: "../../../../api/v1/namespaces/plain"}, {path: oddVersion + "/%2e%2e/%2e%2e/plain"},
	{path: "plain", how: refuse, once: true},
}

// name returns the words by which a row is known.
func (r *row) name(earlier map[string]int) string {
	name := r.method + " " + r.path
	if r.method == "" {
		name = "GET" + name
	}
	if earlier[name]++; earlier[name] > 1 {
		name += fmt.Sprintf(" (%d)", earlier[name])
	}
	return name
}

// exchanges sends all rows in HTTP/1.1, to a backend that speaks it.
func exchanges(t *testing.T, w *world) {
	b := newBackend(t, w.servers, oddGroup, "v1").start(t, false)
	w.exchange(t, b, &http.Transport{DisableKeepAlives: true}, "")
}

// exchangesInHTTP2 sends what HTTP/2 can say, to a backend that speaks it.
func exchangesInHTTP2(t *testing.T, w *world) {
	b := newBackend(t, w.servers, secondGroup, "v1").start(t, true)
	w.exchange(t, b, &http.Transport{ForceAttemptHTTP2: true}, overHTTP2)
}

// overHTTP2 is before the names of rows that are sent in HTTP/2.
const overHTTP2 = "HTTP/2 "

// withoutConnection leaves out headers about a connection, which clients of HTTP/2 don't send.
func withoutConnection(header []string) (kept []string) {
	for i := 0; i < len(header); i += 2 {
		if header[i] != "Connection" && header[i] != "Keep-Alive" {
			kept = append(kept, header[i], header[i+1])
		}
	}
	return kept
}

// ofHTTP1 reports whether a row asks for an upgrade, for bytes that are no frames of HTTP/2, or for trouble that is the
// same with any protocol.
func (r row) ofHTTP1() bool {
	name, _, _ := strings.Cut(path.Base(r.path), "?")
	return bytesOfHTTP1[name] != nil || slices.Contains(r.header, "Upgrade") || r.once
}

// exchange sends the rows of a protocol to a backend, whose group takes the place of theirs.
func (w *world) exchange(t *testing.T, b *backend, transport *http.Transport, protocol string) {
	w.registered(t, b, "v1", 1000, 10)
	transport.TLSClientConfig, transport.DisableCompression = &tls.Config{InsecureSkipVerify: true}, true
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	earlier := map[string]int{}
	b.received()
	for _, row := range rows {
		name := protocol + row.name(earlier)
		if protocol == overHTTP2 {
			if row.ofHTTP1() {
				continue
			}
			row.header = withoutConnection(row.header)
		}
		lines := row.send(t, b, client, w.url)
		for _, seen := range b.received() {
			lines = append(lines, "the backend received "+seen)
		}
		w.add(name, lines...)
	}
}

// send sends a row to a backend, and returns what its client sees.
func (r row) send(t *testing.T, b *backend, client *http.Client, url string) []string {
	path := r.path
	if path[0] != '/' {
		path = oddVersion + "/" + path
	}
	path = strings.Replace(path, oddGroup, b.group, 1)
	request, err := http.NewRequestWithContext(t.Context(), r.method, url+path, strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+adminToken)
	for i := 0; i < len(r.header); i += 2 {
		if name := r.header[i]; name == "Authorization" {
			request.Header.Set(name, r.header[i+1])
		} else {
			request.Header.Add(name, r.header[i+1])
		}
	}
	if request.Header.Get("Authorization") == "" {
		delete(request.Header, "Authorization")
	}
	if r.how == nil {
		return readAll(t, b, client, request)
	}
	return r.how(t, b, client, request)
}

// send returns the answer, and the lines that describe its head.
func send(client *http.Client, r *http.Request) (*http.Response, []string) {
	response, err := client.Do(r)
	if err != nil {
		return nil, []string{"no answer: " + errorText(err)}
	}
	lines := []string{response.Status}
	for _, name := range slices.Sorted(maps.Keys(response.Header)) {
		if name == "Date" {
			continue
		}
		for _, value := range response.Header[name] {
			lines = append(lines, name+": "+value)
		}
	}
	if len(response.TransferEncoding) > 0 {
		lines = append(lines, fmt.Sprintf("encoding %q", response.TransferEncoding))
	}
	return response, lines
}

// errorText is the innermost text of an error of a client, without addresses.
func errorText(err error) string {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err.Error()
}

func readAll(_ *testing.T, _ *backend, client *http.Client, r *http.Request) []string {
	response, lines := send(client, r)
	if response == nil {
		return lines
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusSwitchingProtocols {
		return lines
	}
	body, err := io.ReadAll(response.Body)
	if strings.HasPrefix(string(body), "\x1f\x8b") {
		body = []byte("zipped")
	}
	lines = append(lines, fmt.Sprintf("body %.600q", body))
	if err != nil {
		lines = append(lines, "breaks off: "+errorText(err))
	}
	for name, values := range response.Trailer {
		lines = append(lines, fmt.Sprintf("trailer %s: %q", name, values))
	}
	return lines
}

// leave reads the beginning of an endless answer.
func leave(t *testing.T, b *backend, client *http.Client, r *http.Request) []string {
	response, lines := send(client, r)
	if response == nil {
		return lines
	}
	n, err := io.CopyN(io.Discard, response.Body, 1<<20)
	lines = append(lines, fmt.Sprintf("%d bytes, %v", n, err))
	_ = response.Body.Close()
	select {
	case <-b.left:
		lines = append(lines, "the backend sees that the client left")
	case <-time.After(30 * time.Second):
		t.Error("the backend doesn't see that the client left")
	}
	return lines
}

// oneEvent reads an event of a watch, and leaves.
func oneEvent(_ *testing.T, _ *backend, client *http.Client, r *http.Request) []string {
	began := time.Now()
	response, lines := send(client, r)
	if response == nil {
		return lines
	}
	defer response.Body.Close()
	line, err := bufio.NewReader(response.Body).ReadString('\n')
	lines = append(lines, fmt.Sprintf("event %q, %v", line, err))
	if time.Since(began) > 50*time.Second {
		lines = append(lines, "late")
	}
	return lines
}

// speak sends a line through an upgraded connection.
func speak(t *testing.T, b *backend, client *http.Client, r *http.Request) []string {
	response, lines := send(client, r)
	if response == nil {
		return lines
	}
	defer response.Body.Close()
	conn, ok := response.Body.(io.ReadWriter)
	if !ok {
		body, err := io.ReadAll(response.Body)
		return append(lines, fmt.Sprintf("body %q, %v", body, err))
	}
	if _, err := io.WriteString(conn, "hello\n"); err != nil {
		t.Error(err)
	}
	text, err := io.ReadAll(conn)
	if err != nil {
		err = errors.New(errorText(err))
	}
	return append(lines, fmt.Sprintf("the connection says %q, %v", text, err))
}

// hang asks a backend that doesn't answer, and records how long that takes.
func hang(t *testing.T, b *backend, client *http.Client, r *http.Request) []string {
	set := func(hangs bool) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.hangs = hangs
	}
	set(true)
	defer set(false)
	began := time.Now()
	lines := readAll(t, b, client, r)
	return append(lines, fmt.Sprintf("between 4 and 40 seconds: %v", // 5 on an idle machine
		time.Since(began) > 4*time.Second && time.Since(began) < 40*time.Second))
}

// refuse asks a backend that doesn't listen any more, which the aggregator doesn't know yet.
func refuse(t *testing.T, b *backend, client *http.Client, r *http.Request) []string {
	b.stop()
	defer b.start(t, false)
	return readAll(t, b, client, r)
}
