package builtin_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/apiregistration"
	apiregistrationv1 "apigen.dev/runtime/builtin/apiregistration/v1"
	"apigen.dev/runtime/builtin/frontproxy"
	"apigen.dev/runtime/internal/host/certs"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	corev1 "k8s.io/api/core/v1"
)

// relay is a hostile server of shop.example.com/v1: once it has a target, it copies the bytes of each connection to it
// and back, and takes no part in TLS.
type relay struct {
	net.Listener
	target   atomic.Pointer[string] // nil before it relays
	honest   *httptest.Server
	copying  sync.WaitGroup
	accepted atomic.Int64 // connections that were relayed
}

// maxRelayed bounds the turns of a request that nobody stops.
const maxRelayed = 20

func startRelay(t *testing.T) *relay {
	t.Helper()
	r := &relay{honest: httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/apis/shop.example.com/v1" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"APIResourceList","groupVersion":"shop.example.com/v1","resources":[]}`)
	}))}
	r.Listener = r.honest.Listener
	r.honest.Listener = r
	r.honest.TLS = &tls.Config{}
	r.honest.StartTLS()
	t.Cleanup(func() {
		r.honest.Close()
		r.copying.Wait()
	})
	return r
}

// Accept implements net.Listener, for the honest server.
func (r *relay) Accept() (net.Conn, error) {
	for {
		conn, err := r.Listener.Accept()
		target := r.target.Load()
		if err != nil || target == nil {
			return conn, err
		}
		if r.accepted.Add(1) > maxRelayed {
			_ = conn.Close()
			continue
		}
		to, err := net.Dial("tcp", *target)
		if err != nil {
			_ = conn.Close()
			continue
		}
		for _, pair := range [][2]net.Conn{{conn, to}, {to, conn}} {
			r.copying.Go(func() {
				_, _ = io.Copy(pair[0], pair[1])
				_, _ = pair[0].Close(), pair[1].Close()
			})
		}
	}
}

// to relays from now on to a server.
func (r *relay) to(t *testing.T, s *apitest.Server) {
	t.Helper()
	host := hostOf(t, s)
	r.target.Store(&host)
	r.honest.CloseClientConnections()
}

func hostOf(t *testing.T, s *apitest.Server) string {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// startBelieving starts an aggregator in front of what is at address. It believes its own front proxy, as one
// does whose --requestheader-client-ca-file names the authority of --proxy-client-cert-file.
func startBelieving(t *testing.T, dir string, backend storage.Backend, address func() string) *apitest.Server {
	t.Helper()
	return startFeatures(t, func(c *server.Config) {
		c.DataDir = dir
		if backend != nil {
			c.Backend = shared{backend}
		}
		var own atomic.Pointer[frontproxy.Trust]
		c.Authentication.FrontProxy = frontproxy.New(func() *frontproxy.Trust {
			if trust := own.Load(); trust != nil {
				return trust
			}
			own.Store(trustOf(t, dir))
			return own.Load()
		})
		c.Services = func(context.Context, string, string, int32) (string, error) { return address(), nil }
	}, &apiregistration.Feature{})
}

// trustOf believes the front proxy that a server with a directory of data is.
func trustOf(t *testing.T, dir string) *frontproxy.Trust {
	ca, err := os.ReadFile(filepath.Join(dir, "front-proxy", "ca.crt"))
	if err != nil {
		t.Error(err)
		return nil
	}
	trust, err := frontproxy.NewTrust(ca, nil, frontproxy.Standard())
	if err != nil {
		t.Error(err)
	}
	return trust
}

// wantLoop sends what clients send to a group whose server relays, and wants each request to end as a loop.
func wantLoop(t *testing.T, front *apitest.Server, r *relay) {
	t.Helper()
	for name, change := range map[string]func(*http.Request){
		"GET":       func(r *http.Request) { r.URL.Path = "/apis/shop.example.com/v1/namespaces/ns/widgets" },
		"discovery": func(r *http.Request) { r.URL.Path = "/apis/shop.example.com/v1" },
		"OpenAPI":   func(r *http.Request) { r.URL.Path = "/openapi/v3/apis/shop.example.com/v1" },
		"SPDY": func(r *http.Request) {
			r.URL.Path = "/apis/shop.example.com/v1/namespaces/ns/widgets/a/exec"
			r.Header.Set("Connection", "Upgrade")
			r.Header.Set("Upgrade", "SPDY/3.1")
		},
		"WebSocket": func(r *http.Request) {
			r.URL.Path = "/apis/shop.example.com/v1/namespaces/ns/widgets/a/exec"
			r.Header.Set("Connection", "Upgrade")
			r.Header.Set("Upgrade", "websocket")
		},
		"headers of the connection": func(r *http.Request) {
			r.URL.Path = "/apis/shop.example.com/v1/widgets"
			r.Header.Set("Connection", "Via, X-Remote-User")
		},
	} {
		for _, transport := range []*http.Transport{transportOf(t, front, true), transportOf(t, front, false)} {
			r.accepted.Store(0)
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, front.URL, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Authorization", "Bearer "+front.Token)
			change(request)
			if transport.Protocols.HTTP2() && request.Header.Get("Connection") != "" {
				continue // HTTP/2 has no such header
			}
			response, err := transport.RoundTrip(request)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			text, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			transport.CloseIdleConnections()
			if err != nil || response.StatusCode != http.StatusLoopDetected || r.accepted.Load() > 2 ||
				!strings.Contains(string(text), `"kind":"Status"`) || !strings.Contains(string(text), "loop") {
				t.Errorf("%s over %s: %s %s, error %v, after %d turns", name, response.Proto, response.Status, text,
					err, r.accepted.Load())
			}
		}
	}
}

func transportOf(t *testing.T, s *apitest.Server, http2 bool) *http.Transport {
	t.Helper()
	roots, err := certs.ParseAuthorities(s.CA)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, Protocols: new(http.Protocols),
	}
	transport.Protocols.SetHTTP1(!http2)
	transport.Protocols.SetHTTP2(http2)
	return transport
}

// register makes a server register shop.example.com/v1, and waits until it finds it available.
func register(t *testing.T, s *apitest.Server) {
	t.Helper()
	until(t, s, http.MethodPost, services, registration("relay", true, nil), http.StatusCreated)
	looked(t, s)
}

// looked waits until a server itself has found that shop.example.com/v1 is available: it looks again after half a
// minute. The condition of the APIService may be what a replica found.
func looked(t *testing.T, s *apitest.Server) {
	t.Helper()
	available(t, s, "True", "Passed")
	const gauge = "aggregator_unavailable_apiservice"
	untilTrue(t, "the server doesn't look", func() bool {
		return metricOf(t, s, gauge) == gauge+`{name="v1.shop.example.com"} 0`
	})
}

// refusedAsLoop makes a server look at its APIService again, and waits until it finds a loop.
func refusedAsLoop(t *testing.T, s *apitest.Server) {
	t.Helper()
	until(t, s, http.MethodPatch, services+"/v1.shop.example.com", `{"spec":{"service":{"port":444}}}`, http.StatusOK)
	available(t, s, "False", "FailedDiscoveryCheck")
	service := send[apiregistrationv1.APIService](t, s, http.MethodGet, services+"/v1.shop.example.com", "",
		http.StatusOK)
	condition := apiregistrationv1.ConditionOf(&service, apiregistrationv1.Available)
	if !strings.HasSuffix(condition.Message, ": 508") {
		t.Errorf("the condition says %q", condition.Message)
	}
}

// TestRelayToItself: a request that a server behind this one sends back ends, though it has the certificate of this
// server's front proxy.
func TestRelayToItself(t *testing.T) {
	r := startRelay(t)
	front := startBelieving(t, t.TempDir(), nil, r.Addr().String)
	register(t, front)
	r.to(t, front)
	wantLoop(t, front, r)
	refusedAsLoop(t, front)
}

// TestRelayToReplica: servers that share the identity of their front proxy are one in this.
func TestRelayToReplica(t *testing.T) {
	backend := memory.New()
	t.Cleanup(func() { _ = backend.Close() })
	r, dir := startRelay(t), t.TempDir()
	first := startBelieving(t, dir, backend, r.Addr().String)
	second := startBelieving(t, dir, backend, r.Addr().String)
	register(t, first)
	looked(t, second)
	r.to(t, second)
	wantLoop(t, first, r)
	refusedAsLoop(t, first)
}

// TestRelayThroughAggregator: a request that comes back through another aggregator ends, too.
func TestRelayThroughAggregator(t *testing.T) {
	r := startRelay(t)
	var next atomic.Pointer[string]
	own := r.Addr().String()
	next.Store(&own)
	dir := t.TempDir()
	outer := startBelieving(t, dir, nil, func() string { return *next.Load() })
	inner := startFeatures(t, func(c *server.Config) {
		trust := trustOf(t, dir)
		c.Authentication.FrontProxy = frontproxy.New(func() *frontproxy.Trust { return trust })
		c.Services = func(context.Context, string, string, int32) (string, error) { return own, nil }
	}, &apiregistration.Feature{})
	register(t, inner)
	host := hostOf(t, inner)
	next.Store(&host)
	register(t, outer)
	r.to(t, outer)
	wantLoop(t, outer, r)
	refusedAsLoop(t, outer)
}

// TestOwnIdentity: a server that made the identity of its front proxy for the servers behind it believes it from
// nobody, itself included, and publishes it all the same.
func TestOwnIdentity(t *testing.T) {
	dir := t.TempDir()
	front := startFeatures(t, func(c *server.Config) { c.DataDir = dir }, &apiregistration.Feature{})
	authority, err := certs.MakeAuthority(filepath.Join(dir, "front-proxy"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	made, err := authority.Client(certs.Client{User: "front-proxy-client", TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(made.Certificate, made.Key)
	if err != nil {
		t.Fatal(err)
	}
	transport := transportOf(t, front, true)
	transport.TLSClientConfig.Certificates = []tls.Certificate{pair}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, front.URL+"/api/v1/secrets", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header["X-Remote-User"], request.Header["X-Remote-Group"] = []string{"eve"}, []string{"system:masters"}
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusUnauthorized {
		t.Errorf("the server believes its own front proxy: %s", response.Status)
	}
	const published = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
	until(t, front, http.MethodGet, published, "", http.StatusOK)
	untilObject(t, front, published, func(m *corev1.ConfigMap) bool {
		return m.Data["requestheader-client-ca-file"] == string(authority.Trust()) &&
			m.Data["requestheader-allowed-names"] == `["front-proxy-client"]`
	})
}
