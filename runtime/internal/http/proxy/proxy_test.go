package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/host/certs"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/timing"
)

// patience bounds every wait of the tests; it is never waited for when they pass.
const patience = 2 * time.Minute

var alice = &auth.User{
	Name: "alice", UID: "u-1", Groups: []string{"devs", "ops"},
	Extra: map[string][]string{"example.com/scopes%": {"a", "b"}, "none": nil},
}

// serverCertificate is for service db/store; storeTrust is its authority.
func serverCertificate(t testing.TB) (tls.Certificate, []byte) {
	t.Helper()
	certificate, trust, err := certs.SelfSigned("store.db.svc")
	if err != nil {
		t.Fatal(err)
	}
	return *certificate, trust
}

// at is the Resolve of one address.
func at(address string) Resolve {
	return func(context.Context, string, string, int32) (string, error) { return address, nil }
}

// serveTLS starts a backend's server and returns how to reach it.
func serveTLS(t testing.TB, http2 bool, handler http.HandlerFunc) (*httptest.Server, Config) {
	t.Helper()
	certificate, trust := serverCertificate(t)
	s := httptest.NewUnstartedServer(handler)
	s.EnableHTTP2 = http2
	s.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequestClientCert}
	s.Config.ErrorLog = silent
	s.StartTLS()
	t.Cleanup(s.Close)
	return s, Config{
		Namespace: "db", Name: "store", CABundle: trust, Resolve: at(s.Listener.Addr().String()),
		Log: slog.New(slog.DiscardHandler),
	}
}

func open(t testing.TB, config Config) *Backend {
	t.Helper()
	b, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// front starts a server whose requests come from a user and are passed on.
func front(t testing.TB, b http.Handler, user *auth.User) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if user != nil {
			ctx = auth.WithUser(ctx, user)
		}
		if info, err := request.New(r, nil); err == nil {
			ctx = request.WithInfo(ctx, info)
		}
		w.Header()["Audit-Id"] = []string{"id-1"}
		b.ServeHTTP(w, r.WithContext(ctx))
	}))
	s.Config.ErrorLog = silent
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// pair starts a backend and a server in front of it.
func pair(t testing.TB, http2 bool, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	_, config := serveTLS(t, http2, handler)
	return front(t, open(t, config), alice)
}

func both(t *testing.T, test func(t *testing.T, http2 bool)) {
	t.Helper()
	for name, http2 := range map[string]bool{"HTTP1": false, "HTTP2": true} {
		t.Run(name, func(t *testing.T) { test(t, http2) })
	}
}

func get(t testing.TB, url string, header http.Header) (*http.Response, string) {
	t.Helper()
	response, body, err := tryGet(t, url, header)
	if err != nil {
		t.Fatal(err)
	}
	return response, body
}

func tryGet(t testing.TB, url string, header http.Header) (*http.Response, string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		r.Header[name] = values
	}
	response, err := (&http.Transport{DisableKeepAlives: true, DisableCompression: true}).RoundTrip(r)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response, string(body), err
}

func receive[T any](t testing.TB, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

func TestIdentityHeaders(t *testing.T) {
	both(t, func(t *testing.T, http2 bool) {
		seen := make(chan *http.Request, 1)
		s := pair(t, http2, func(w http.ResponseWriter, r *http.Request) {
			seen <- r
			w.Header().Set("Audit-Id", "id-1")
			w.Header().Set("Access-Control-Allow-Origin", "*")
			w.Header().Set("X-Kept", "yes")
			w.Header().Set("Connection", "X-Hop")
			fmt.Fprint(w, "hello")
		})
		response, body := get(t, s.URL+"/apis/g/v1/things/a%20b?watch=0&a=b%2Fc", http.Header{
			"X-Remote-User": {"root"}, "x-remote-group": {"system:masters"}, "X-REMOTE-UID": {"0"},
			"X-Remote-Extra-Evil": {"x"}, "x-remote-extra-Evil%2f": {"x"}, "Impersonate-User": {"root"},
			"Impersonate-Extra-A": {"x"}, "Authorization": {"Bearer secret"}, "Keep-Alive": {"1"},
			"Connection":      {"X-Remote-User, X-Remote-Group, X-Own, close"},
			"X-Own":           {"x"},
			"X-Forwarded-For": {"10.0.0.1"}, "X-Forwarded-Host": {"evil"}, "User-Agent": {"test"}, "Te": {"trailers"},
		})
		r := receive(t, seen)
		want := http.Header{
			"X-Remote-User": {"alice"}, "X-Remote-Uid": {"u-1"}, "X-Remote-Group": {"devs", "ops"},
			"X-Remote-Extra-Example.com%2fscopes%25": {"a", "b"},
			"X-Forwarded-For":                        {"10.0.0.1, 127.0.0.1"},
			"X-Forwarded-Host":                       {r.Host}, "X-Forwarded-Proto": {"https"},
			"X-Forwarded-Uri": {"/apis/g/v1/things/a%20b"},
			"User-Agent":      {"test"}, "Te": {"trailers"}, "Audit-Id": {"id-1"},
		}
		if !reflect.DeepEqual(r.Header, want) {
			t.Errorf("the backend saw\n%v, want\n%v", r.Header, want)
		}
		if r.RequestURI != "/apis/g/v1/things/a%20b?watch=0&a=b%2Fc" || r.ProtoMajor == 2 != http2 {
			t.Errorf("the backend saw %s by %s", r.RequestURI, r.Proto)
		}
		if body != "hello" || response.ContentLength != 5 || response.Header.Get("X-Kept") != "yes" ||
			response.Header.Get("Access-Control-Allow-Origin") != "" || len(response.Header["Audit-Id"]) != 1 {
			t.Errorf("the client saw %q of %d bytes with %v", body, response.ContentLength, response.Header)
		}
	})
}

func TestUsersThatCannotBeNamed(t *testing.T) {
	_, config := serveTLS(t, false, func(http.ResponseWriter, *http.Request) { t.Error("the request was passed on") })
	b := open(t, config)
	for name, test := range map[string]struct {
		user *auth.User
		want string
	}{
		"no user":      {nil, "missing user\n"},
		"no name":      {&auth.User{}, "missing user\n"},
		"spaced group": {&auth.User{Name: "a", Groups: []string{" system:masters"}}, `group " system:masters" can't`},
		"broken name":  {&auth.User{Name: "a\r\nX-Remote-Group: system:masters"}, `name "a\r\n`},
		"UID":          {&auth.User{Name: "a", UID: "1\t"}, `UID "1\t"`},
		"extra":        {&auth.User{Name: "a", Extra: map[string][]string{"k": {"\x7f"}}}, `extra k "\x7f"`},
	} {
		response, body := get(t, front(t, b, test.user).URL+"/apis/g/v1/things", nil)
		if response.StatusCode != http.StatusInternalServerError || !strings.Contains(body, test.want) {
			t.Errorf("%s: %d %q, want 500 %q", name, response.StatusCode, body, test.want)
		}
	}
}

func TestTLS(t *testing.T) {
	_, config := serveTLS(t, true, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	_, stranger := serverCertificate(t)
	for name, test := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"the bundle":        {func(*Config) {}, "ok"},
		"another authority": {func(c *Config) { c.CABundle = stranger }, "certificate signed by unknown authority"},
		"the system's":      {func(c *Config) { c.CABundle = nil }, "x509"},
		"another name":      {func(c *Config) { c.Name = "shop" }, "not shop.db.svc"},
		"insecure":          {func(c *Config) { c.CABundle, c.InsecureSkipTLSVerify = nil, true }, "ok"},
		"insecure and named": {
			func(c *Config) { c.CABundle, c.InsecureSkipTLSVerify, c.Name = nil, true, "shop" }, "ok",
		},
		"no certificate": {
			func(c *Config) { c.Certificate = func() (*tls.Certificate, error) { return nil, errors.New("lost") } },
			"the client certificate of the front proxy: lost",
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := config
			test.change(&config)
			b := open(t, config)
			response, body := get(t, front(t, b, alice).URL+"/apis/g/v1/things", nil)
			code, err := http.StatusServiceUnavailable, b.Check(t.Context(), "/apis/g/v1")
			if test.want == "ok" {
				code = http.StatusOK
			} else if !strings.HasPrefix(body, "error trying to reach service: ") || err == nil ||
				response.Header.Get("Content-Type") != "text/plain; charset=utf-8" ||
				!strings.HasPrefix(err.Error(), "failing or missing response from https://127.0.0.1:") {
				t.Errorf("%q, %v", body, err)
			}
			if response.StatusCode != code || !strings.Contains(body, test.want) {
				t.Errorf("%d %q, want %d %q", response.StatusCode, body, code, test.want)
			}
			if (err == nil) != (test.want == "ok") {
				t.Errorf("the check says %v", err)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	for want, config := range map[string]Config{
		"no namespace": {Name: "a"},
		"no name":      {Namespace: "a"},
		"port -1":      {Namespace: "a", Name: "b", Port: -1},
		"port 65536":   {Namespace: "a", Name: "b", Port: 65536},
		"exclude":      {Namespace: "a", Name: "b", CABundle: []byte("x"), InsecureSkipTLSVerify: true},
		"caBundle: ":   {Namespace: "a", Name: "b", CABundle: []byte("x")},
	} {
		if _, err := New(config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	b := open(t, Config{Namespace: "a", Name: "b"})
	if address, err := b.resolve(t.Context()); err != nil || address != "b.a.svc:443" {
		t.Errorf("%s, %v", address, err)
	}
}

func TestServiceWithoutAddress(t *testing.T) {
	config := Config{Namespace: "a", Name: "b", Log: slog.New(slog.DiscardHandler)}
	config.Resolve = func(context.Context, string, string, int32) (string, error) {
		return "", errors.New("no service")
	}
	b := open(t, config)
	response, body := get(t, front(t, b, alice).URL+"/apis/g/v1/things", nil)
	if response.StatusCode != http.StatusServiceUnavailable || body != "service unavailable\n" {
		t.Errorf("%d %q", response.StatusCode, body)
	}
	if err := b.Check(t.Context(), "/apis/g/v1"); err == nil || err.Error() != "no service" {
		t.Errorf("the check says %v", err)
	}
}

func TestWatchesAreFlushedAtOnce(t *testing.T) {
	both(t, func(t *testing.T, http2 bool) {
		events, left := make(chan string), make(chan struct{})
		s := pair(t, http2, func(w http.ResponseWriter, r *http.Request) {
			defer close(left)
			w.(http.Flusher).Flush()
			for {
				select {
				case event := <-events:
					fmt.Fprintln(w, event)
					w.(http.Flusher).Flush()
				case <-r.Context().Done():
					return
				}
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		r, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/apis/g/v1/things?watch=1", nil)
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		lines := bufio.NewReader(response.Body)
		for i := range 3 { // the next one is sent when this one has arrived
			events <- fmt.Sprint("event ", i)
			if line, err := lines.ReadString('\n'); err != nil || line != fmt.Sprintf("event %d\n", i) {
				t.Fatalf("%q, %v", line, err)
			}
		}
		cancel() // the client leaves
		receive(t, left)
	})
}

// hang waits until the client leaves. It answers nothing then: an answer could reach a client that is about to give up.
func hang(_ http.ResponseWriter, r *http.Request) {
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

func TestTheContextEndsARequest(t *testing.T) {
	both(t, func(t *testing.T, http2 bool) {
		begun, left := make(chan struct{}), make(chan struct{})
		_, config := serveTLS(t, http2, func(w http.ResponseWriter, r *http.Request) {
			defer close(left)
			close(begun)
			hang(nil, r)
		})
		b := open(t, config)
		ctx, cancel := context.WithCancel(auth.WithUser(t.Context(), alice))
		go func() {
			<-begun
			cancel()
		}()
		w := httptest.NewRecorder()
		b.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/apis/g/v1/things", nil).WithContext(ctx))
		if text := w.Body.String(); w.Code != 503 || text != "error trying to reach service: context canceled\n" {
			t.Errorf("%d %q", w.Code, text)
		}
		receive(t, left)
	})
}

// TestWatchOfAHangingBackend: a watch counts as begun once it is the backend's: one that hangs holds no seats here.
func TestWatchOfAHangingBackend(t *testing.T) {
	begun := make(chan struct{})
	_, config := serveTLS(t, true, hang)
	b := open(t, config)
	ctx, cancel := context.WithCancel(auth.WithUser(t.Context(), alice))
	ctx = request.WithBegun(ctx, sync.OnceFunc(func() { close(begun) }))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/apis/g/v1/things?watch=true", nil)
		b.ServeHTTP(httptest.NewRecorder(), r)
	}()
	receive(t, begun)
	cancel()
	receive(t, ended)
}

func TestDiscoveryIsBounded(t *testing.T) {
	_, config := serveTLS(t, true, hang)
	b := open(t, config)
	if b.discovery != 5*time.Second {
		t.Errorf("the bound is %v", b.discovery)
	}
	b.discovery = 10 * time.Millisecond
	response, body := get(t, front(t, b, alice).URL+"/apis/g/v1", nil)
	if response.StatusCode != http.StatusServiceUnavailable ||
		body != "error trying to reach service: context deadline exceeded\n" {
		t.Errorf("%d %q", response.StatusCode, body)
	}
	for path, want := range map[string]bool{
		"/apis/g/v1": true, "/apis/g/v1/": true, "/apis/g": false, "/apis/g/v1/things": false, "/api/v1/pods": false,
	} {
		info, err := request.New(httptest.NewRequest(http.MethodGet, path, nil), nil)
		if err != nil || isDiscovery(info) != want {
			t.Errorf("%s: discovery is %v, want %v (%v)", path, !want, want, err)
		}
	}
	if isDiscovery(nil) {
		t.Error("a request without info is discovery")
	}
}

func TestTrailers(t *testing.T) {
	both(t, func(t *testing.T, http2 bool) {
		s := pair(t, http2, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Trailer", "X-End")
			fmt.Fprint(w, "body")
			w.(http.Flusher).Flush() // a body of known length has no trailers in HTTP/1.1
			w.Header().Set("X-End", "reached")
		})
		response, body := get(t, s.URL+"/apis/g/v1/things", nil)
		if body != "body" || response.Trailer.Get("X-End") != "reached" {
			t.Errorf("%q %v", body, response.Trailer)
		}
	})
}

func TestARequestHasNoTrailers(t *testing.T) {
	trailer := make(chan http.Header, 1)
	s := pair(t, false, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		trailer <- r.Trailer
	})
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/apis/g/v1/things",
		io.MultiReader(strings.NewReader("x")))
	r.Trailer = http.Header{"X-Remote-Group": {"system:masters"}}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if got := receive(t, trailer); len(got) > 0 {
		t.Error(got)
	}
}

func TestRedirectsAreRefused(t *testing.T) {
	s := pair(t, true, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/apis/g/v1/304" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		http.Redirect(w, r, "https://example.com/", http.StatusFound)
	})
	response, body := get(t, s.URL+"/apis/g/v1/things", nil)
	if response.StatusCode != http.StatusBadGateway || response.Header.Get("Location") != "" ||
		body != "the backend attempted to redirect this request, which is not permitted" {
		t.Errorf("%d %v %q", response.StatusCode, response.Header, body)
	}
	if response, _ = get(t, s.URL+"/apis/g/v1/304", nil); response.StatusCode != http.StatusNotModified {
		t.Error(response.StatusCode)
	}
}

// A handler's own answer isn't the informational one of the backend, whose passing on would clear its headers.
func TestInformationalAnswersEndHere(t *testing.T) {
	s := pair(t, false, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		fmt.Fprint(w, "ok")
	})
	response, body := get(t, s.URL+"/apis/g/v1/things", nil)
	if body != "ok" || response.Header.Get("Audit-Id") != "id-1" {
		t.Errorf("%q %v", body, response.Header)
	}
}

func TestUploadStreams(t *testing.T) {
	both(t, func(t *testing.T, http2 bool) {
		const piece, pieces = 1 << 20, 48
		first, total := make(chan struct{}), make(chan int64, 1)
		s := pair(t, http2, func(_ http.ResponseWriter, r *http.Request) {
			one := make([]byte, 1)
			_, _ = io.ReadFull(r.Body, one)
			close(first)
			n, _ := io.Copy(io.Discard, r.Body)
			total <- n + 1
		})
		reader, writer := io.Pipe()
		go func() {
			data := make([]byte, piece)
			for i := range pieces {
				if _, err := writer.Write(data); err != nil {
					return
				}
				if i == 0 {
					<-first // the backend reads before the client has written everything
				}
			}
			writer.Close()
		}()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/apis/g/v1/things", reader)
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if n := receive(t, total); n != piece*pieces {
			t.Errorf("%d bytes arrived", n)
		}
	})
}

func TestCertificateRotation(t *testing.T) {
	both(t, func(t *testing.T, http2 bool) {
		events := make(chan string)
		_, config := serveTLS(t, http2, func(w http.ResponseWriter, r *http.Request) {
			name := r.TLS.PeerCertificates[0].Subject.CommonName
			fmt.Fprintln(w, name)
			if r.URL.Query().Get("watch") != "" {
				w.(http.Flusher).Flush()
				fmt.Fprintln(w, <-events)
			}
		})
		var current atomic.Pointer[tls.Certificate]
		rotate := func(name string) {
			certificate, _, err := certs.SelfSigned(name)
			if err != nil {
				t.Fatal(err)
			}
			current.Store(certificate)
		}
		config.Certificate = func() (*tls.Certificate, error) {
			again := *current.Load() // one that reads a file returns another pointer each time
			return &again, nil
		}
		b := open(t, config)
		s := front(t, b, alice)
		rotate("first")
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/apis/g/v1/things?watch=1", nil)
		watch, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer watch.Body.Close()
		generation := b.current.Load()
		if _, body := get(t, s.URL+"/apis/g/v1/things", nil); body != "first\n" || b.current.Load() != generation {
			t.Errorf("%q, or the connections were given up", body)
		}
		rotate("second")
		if _, body := get(t, s.URL+"/apis/g/v1/things", nil); body != "second\n" {
			t.Errorf("after the change: %q", body)
		}
		events <- "still there" // the watch goes on with the certificate that it began with
		if body, err := io.ReadAll(watch.Body); err != nil || string(body) != "first\nstill there\n" {
			t.Errorf("%q, %v", body, err)
		}
	})
}

// TestTracedRequests: a backend's request of a traced one has its span as the parent, and that of another what the
// client named.
func TestTracedRequests(t *testing.T) {
	_, config := serveTLS(t, true, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Header.Get("Traceparent"))
	})
	b := open(t, config)
	traced := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		record := timing.New(r.Context())
		record.Trace(func(h http.Header) { h.Set("Traceparent", "ours") })
		b.ServeHTTP(w, r.WithContext(record))
	})
	for want, handler := range map[string]http.Handler{"ours": traced, "theirs": b} {
		_, body := get(t, front(t, handler, alice).URL+"/apis/g/v1/things", http.Header{"Traceparent": {"theirs"}})
		if body != want {
			t.Errorf("%q, want %q", body, want)
		}
	}
}
