package cluster

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/internal/host/certs"
	"apigen.dev/runtime/internal/host/kubeconfig"
	"apigen.dev/runtime/internal/testbed"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage/memory"
)

// TestHostileCluster: a cluster that redirects, never ends an answer, or answers something else about the Secret or the
// APIService is an error, costs bounded bytes, leads the server nowhere else, and has nothing written. A certificate
// that the replica has stays.
func TestHostileCluster(t *testing.T) {
	var endless testbed.Endless
	for name, how := range map[string]http.HandlerFunc{
		"redirects":    testbed.Redirecting(t),
		"sends 500 MB": endless.ServeHTTP,
		"answers something else": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"kind":"ConfigMap","data":{"tls.crt":"eA==","tls.key":"eA=="},"spec":[]}`)
		},
		"answers a list": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `[]`) },
	} {
		for _, path := range []string{secretPath(testSecret), apiServicePath(testAPIService)} {
			t.Run(name+" at "+path, func(t *testing.T) {
				h := newHost(t)
				good := h.replica()
				good.mustSync(t)
				k := h.replica()
				k.cluster = hostileClient(t, h, path, how)
				k.leaf.Store(good.leaf.Load())
				before := h.written(secretPath(testSecret)) + h.written(apiServicePath(testAPIService))
				if err := k.sync(t.Context()); err == nil {
					t.Error("it isn't an error")
				}
				if err := h.trusted(t, k); err != nil {
					t.Error(err)
				}
				if n := h.written(secretPath(testSecret)) + h.written(apiServicePath(testAPIService)); n != before {
					t.Errorf("%d objects were written", n-before)
				}
			})
		}
	}
	if endless.Sent() > 64<<20 {
		t.Errorf("%d bytes were read", endless.Sent())
	}
}

// hostileClient returns the client of a replica, as its flags make it, of a cluster that is hostile at a path.
func hostileClient(t *testing.T, h *host, path string, how http.HandlerFunc) *client {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			how(w, r)
			return
		}
		h.ServeHTTP(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	content, err := kubeconfig.Login{Name: "h", Server: s.URL, Token: "secret", CA: pem.EncodeToMemory(
		&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})}.YAML()
	if err != nil {
		t.Fatal(err)
	}
	feature := Feature{kubeconfig: testbed.Write(t, t.TempDir()+"/kubeconfig", content)}
	made, err := feature.connect(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.http.CloseIdleConnections)
	return made
}

// TestHangingCluster: a round of a replica whose cluster takes a request and never answers ends after a minute, and
// keeps the certificate. The end of the server ends it at once.
func TestHangingCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipes := testbed.NewPipes()
		var asked atomic.Int64
		hanging := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			<-r.Context().Done()
		})}
		served := make(chan error)
		go func() { served <- hanging.Serve(pipes) }()
		config := kubeconfig.Config{Server: &url.URL{Scheme: "http", Host: "cluster"}, Dial: pipes.Dial}
		made, err := config.Client(slog.New(slog.DiscardHandler), messageLimit)
		if err != nil {
			t.Fatal(err)
		}
		k := &keeper{
			cluster: &client{made, config.Server}, secret: testSecret, service: testService, now: time.Now,
			log: slog.New(slog.DiscardHandler),
		}
		leaf := &tls.Certificate{}
		k.leaf.Store(leaf)
		began := time.Now()
		if k.round(t.Context()); time.Since(began) != roundWithin || k.leaf.Load() != leaf || asked.Load() != 1 {
			t.Errorf("the round took %s, and asked %d times", time.Since(began), asked.Load())
		}
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error)
		k.leaf.Store(nil)
		go func() { ended <- k.start(ctx) }()
		time.Sleep(3*roundWithin + roundWithin/2)
		end()
		began = time.Now()
		if err := <-ended; err == nil || time.Since(began) != 0 || asked.Load() < 3 {
			t.Errorf("%v after %s; it was asked %d times", err, time.Since(began), asked.Load())
		}
		made.CloseIdleConnections()
		_ = hanging.Close()
		<-served
	})
}

// TestServerOfASilentCluster: a server whose cluster accepts connections and says nothing serves its clients with its
// own certificate, isn't ready, and ends when it should.
func TestServerOfASilentCluster(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		if connection, err := silent.Accept(); err == nil {
			accepted <- connection // and nothing is ever said on it
		}
	}()
	h := &host{url: &url.URL{Scheme: "https", Host: silent.Addr().String()}}
	own, trust, err := certs.SelfSigned("localhost")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config := server.Config{
		Groups:  []registry.Group{{Name: "shop.example.com", Versions: []string{"v1"}}},
		Storage: server.Storage{Backend: memory.New()},
		Serving: server.Serving{Listener: listener, TLS: &tls.Config{
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return own, nil },
		}},
	}
	if err := configure(t, &config, "--cluster-certificate-secret="+testSecret.String(),
		"--cluster-certificate-service="+testService.String(),
		"--cluster-certificate-kubeconfig="+h.kubeconfig(t)); err != nil {
		t.Fatal(err)
	}
	var asked net.Conn
	t.Run("serve", func(t *testing.T) { // the server ends with it
		run(t, config)
		asked = <-accepted
		for path, want := range map[string]int{
			"/livez/ping": http.StatusOK, "/readyz": http.StatusInternalServerError,
			"/version": http.StatusUnauthorized,
		} {
			if code := codeOf(t, "https://"+listener.Addr().String()+path, "localhost", trust); code != want {
				t.Errorf("%s: %d, want %d", path, code, want)
			}
		}
	})
	asked.Close()
}
