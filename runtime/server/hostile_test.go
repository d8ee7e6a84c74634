package server

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/host/certs"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/memory"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// hostile is a request that means no good, and what a server may answer to it: the endpoint's testdata/http-cases.json,
// and this package's, which hold what other parts than the endpoint answer.
type hostile struct {
	ID, Class, Why string
	// Auth says who asks: "none", "limited" (a user who may do nothing) or, empty, an administrator.
	Auth   string
	Method string
	Path   text
	Body   text
	Type   string
	Header [][2]string
	// Raw is sent to the connection as it is, instead of all the above.
	Raw text
	// Want is kube-apiserver's answer, Accept are others that will do.
	Want   outcome
	Accept []outcome
	// Has and HasNot are looked for in the answer's body; Gone is the name of an object that must not exist then.
	Has, HasNot []string
	Gone        string
	MaxMs       int
	// Responses is how many requests net/http sees in Raw: 0 is one.
	Responses int
	// Needs is what a server must have for the case to tell anything.
	Needs string
}

type outcome struct {
	Code   int
	Reason metav1.StatusReason
}

// text is a string, or a list of texts and repetitions of texts.
type text string

func (t *text) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case '"':
		return json.Unmarshal(data, (*string)(t))
	case '[':
		var parts []text
		err := json.Unmarshal(data, &parts)
		for _, part := range parts {
			*t += part
		}
		return err
	}
	var repeated struct {
		N      int
		Repeat text
	}
	err := json.Unmarshal(data, &repeated)
	*t = text(strings.Repeat(string(repeated.Repeat), repeated.N))
	return err
}

func hostileCases(t *testing.T) []hostile {
	t.Helper()
	var all []hostile
	for _, file := range []string{"../internal/http/endpoint/testdata/http-cases.json", "testdata/http-cases.json"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cases []hostile
		if err := json.Unmarshal(data, &cases); err != nil {
			t.Fatal(err)
		}
		all = append(all, cases...)
	}
	return all
}

// absent is what cases may need that no server of ours has, and why they are skipped.
var absent = map[string]string{
	"core": "the core group is served by kube-apiserver alone",
	"apps": "the group apps is served by kube-apiserver alone",
}

// TestHostileRequests sends every case to a whole server (TLS, all filters, the registry over memory) that holds one
// object for it. Whatever was sent, a plain list is answered right after it.
func TestHostileRequests(t *testing.T) {
	victim := startVictim(t)
	for _, c := range hostileCases(t) {
		t.Run(c.Class+"/"+c.ID, func(t *testing.T) {
			if why := absent[c.Needs]; why != "" {
				t.Skip(why)
			}
			t.Parallel()
			victim.attack(t, c)
		})
	}
}

// attack sends one case and looks at what it did.
func (v *victim) attack(t *testing.T, c hostile) {
	if c.Class == "slow" {
		if os.Getenv("APIGEN_LONG") == "" {
			t.Skip("it waits for half a minute; APIGEN_LONG=1 runs it")
		}
	}
	name := "w-" + c.ID
	fill := v.filler(name)
	if code := v.do(t, "POST", v.base,
		fill(`{"apiVersion":"{api}","kind":"{kind}","metadata":{"name":"{name}"},`+
			`{spec}}`)); code != http.StatusCreated {
		t.Fatalf("the object to attack: %d", code)
	}
	began := time.Now()
	code, body := v.send(t, c, fill)
	if took := time.Since(began); c.MaxMs > 0 && took > time.Duration(c.MaxMs)*time.Millisecond {
		t.Errorf("it took %v", took)
	}
	if !c.accepts(code, body) {
		t.Errorf("%s: %d %.500s", c.Why, code, body)
	}
	for _, s := range c.Has {
		if !strings.Contains(body, fill(s)) {
			t.Errorf("%q is missing in %.500s", s, body)
		}
	}
	for _, s := range append(c.HasNot, ".go:", "goroutine ") {
		if strings.Contains(body, fill(s)) {
			t.Errorf("%q is in %.500s", s, body)
		}
	}
	if c.Gone != "" && v.do(t, "GET", v.base+"/"+fill(c.Gone), "") != http.StatusNotFound {
		t.Errorf("%s exists", fill(c.Gone))
	}
	if c.Want.Code >= 400 && c.Responses < 2 && v.do(t, "GET", v.base+"/"+name, "") != http.StatusOK {
		t.Error("the object is gone")
	}
	v.lists(t)
}

// lists wants a list to be answered.
func (v *victim) lists(t *testing.T) {
	t.Helper()
	if code := v.do(t, "GET", v.base, ""); code != http.StatusOK {
		t.Errorf("a list afterwards: %d", code)
	}
}

func (c *hostile) accepts(code int, body string) bool {
	var status metav1.Status
	_ = json.Unmarshal([]byte(body), &status) // what is not a Status has no reason
	return slices.ContainsFunc(append(c.Accept, c.Want), func(o outcome) bool {
		return o.Code == code && (o.Reason == "" || o.Reason == status.Reason)
	})
}

// victim is a server to attack.
type victim struct {
	url, host, base string
	client          *http.Client
	tls             *tls.Config
}

const (
	adminToken   = "admin-token"
	limitedToken = "limited-token"
	otherToken   = "other-token"
)

func startVictim(t testing.TB) *victim {
	t.Helper()
	return runVictim(t, Config{})
}

// runVictim runs a server of widgets until the test ends.
func runVictim(t testing.TB, config Config) *victim {
	t.Helper()
	s, v := newVictim(t, config)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		v.client.CloseIdleConnections() // net/http's server waits a second for those of HTTP/2
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return v
}

// newVictim opens a server of widgets that doesn't run yet.
func newVictim(t testing.TB, config Config) (*Server, *victim) {
	t.Helper()
	certificate, authority, err := certs.SelfSigned("localhost")
	if err != nil {
		t.Fatal(err)
	}
	if config.Listener == nil {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		config.Listener = listener
	}
	backend := memory.New()
	t.Cleanup(func() {
		if err := backend.Close(); err != nil {
			t.Error(err)
		}
	})
	tokens := new(auth.Tokens)
	tokens.Add(adminToken, &auth.User{Name: "admin", Groups: []string{auth.Masters}})
	tokens.Add(limitedToken, &auth.User{Name: "limited", Groups: []string{"dev"}})
	tokens.Add(otherToken, &auth.User{Name: "other", Groups: []string{"dev"}})
	config.Groups, config.Backend = []registry.Group{widgets()}, backend
	config.Certificate = *certificate
	config.Authentication = auth.Authentication{Tokens: []auth.TokenAuthenticator{tokens}}
	config.Log, config.ShutdownTimeout = cmp.Or(config.Log, slog.New(slog.DiscardHandler)), 10*time.Second
	s, err := New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	trust := &tls.Config{RootCAs: roots, ServerName: "localhost", MinVersion: tls.VersionTLS12}
	transport := &http.Transport{TLSClientConfig: trust.Clone(), ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return s, &victim{
		url: s.URL(), base: "/apis/shop.example.com/v1/namespaces/default/widgets",
		host: config.Listener.Addr().String(), client: &http.Client{Transport: transport}, tls: trust,
	}
}

// filler puts the victim's names into a case.
func (v *victim) filler(name string) func(string) string {
	return strings.NewReplacer(
		"{base}", v.base, "{item}", v.base+"/"+name, "{name}", name, "{ns}", "default", "{api}", "shop.example.com/v1",
		"{kind}", "Widget", "{spec}", `"spec":{"color":"red"}`, "{host}", v.host, "{auth}", "Authorization: "+
			"Bearer "+adminToken,
	).Replace
}

// send returns the first answer to a case.
func (v *victim) send(t *testing.T, c hostile, fill func(string) string) (int, string) {
	t.Helper()
	raw := fill(string(c.Raw))
	if raw == "" {
		raw = c.plain(v.host, fill)
	}
	connection, err := tls.Dial("tcp", v.host, v.tls)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	// The server may answer, and close, before it has read everything.
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.WriteString(connection, raw)
	}()
	response, err := http.ReadResponse(bufio.NewReader(connection), &http.Request{Method: c.Method})
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error("the answer has no end:", err)
	}
	connection.Close()
	<-sent
	return response.StatusCode, string(body)
}

// plain is a request as a client would write it, without what clients check.
func (c *hostile) plain(host string, fill func(string) string) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", c.Method, fill(string(c.Path)), host)
	switch c.Auth {
	case "":
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", adminToken)
	case "limited":
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", limitedToken)
	}
	for _, h := range c.Header {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	body, mediaType := fill(string(c.Body)), c.Type
	if mediaType == "" && body != "" {
		mediaType = "application/json"
	}
	if mediaType != "" {
		fmt.Fprintf(&b, "Content-Type: %s\r\n", mediaType)
	}
	if body != "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	return b.String() + "\r\n" + body
}

func (v *victim) do(t *testing.T, method, path, body string) int {
	t.Helper()
	return v.request(t.Context(), t, method, path, body)
}

func (v *victim) request(ctx context.Context, t *testing.T, method, path, body string) int {
	t.Helper()
	return v.requestAs(ctx, t, adminToken, method, path, body)
}

func (v *victim) requestAs(ctx context.Context, t testing.TB, token, method, path, body string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, v.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := v.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Error(err)
	}
	return response.StatusCode
}
