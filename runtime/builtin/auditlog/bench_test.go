package auditlog

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/embedded"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Color             string `json:"color,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (w *widget) DeepCopyObject() runtime.Object {
	out := *w
	out.ObjectMeta = *w.ObjectMeta.DeepCopy()
	return &out
}

func widgets() registry.Group {
	newWidget := func() *widget { return new(widget) }
	return registry.Group{Name: "shop.example.com", Versions: []string{"v1"}, Resources: []registry.Resource{
		registry.New(registry.Definition[*widget]{
			Group: "shop.example.com", Scope: api.Namespaced, New: newWidget, Storage: "v1",
			Names: api.Names{Kind: "Widget", ListKind: "WidgetList", Plural: "widgets", Singular: "widget"},
			Versions: []codec.Version[*widget]{codec.VersionOf(api.VersionInfo{Name: "v1"},
				codec.Conversion[*widget, *widget]{New: newWidget})},
		}),
	}}
}

// side is a server that a benchmark measures, and its client.
type side struct {
	client *http.Client
	url    string
	token  string
	times  []time.Duration
	// cpu is the CPU time of this process in the requests to this side, of which the client takes a part.
	cpu time.Duration
}

// newSide starts a server with a feature, and makes items widgets in it.
func newSide(b *testing.B, feature *Feature, items int, store storage.Backend) *side {
	b.Helper()
	certified := httptest.NewTLSServer(nil)
	defer certified.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s := &side{token: rand.Text(), url: "https://" + listener.Addr().String() +
		"/apis/shop.example.com/v1/namespaces/ns/widgets"}
	tokens := &auth.Tokens{}
	tokens.Add(s.token, &auth.User{Name: "admin", Groups: []string{auth.Masters}})
	config := server.Config{
		Groups: []registry.Group{widgets()}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Storage: server.Storage{Backend: store},
		Serving: server.Serving{Listener: listener, Certificate: certified.TLS.Certificates[0]},
		Contribution: server.Contribution{
			Authentication: auth.Authentication{Tokens: []auth.TokenAuthenticator{tokens}},
		},
	}
	if feature != nil {
		if err := config.Use(b.Context(), feature); err != nil {
			b.Fatal(err)
		}
	}
	running, err := server.New(b.Context(), config)
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- running.Run(ctx) }()
	roots := x509.NewCertPool()
	roots.AddCert(certified.Certificate())
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	s.client = &http.Client{Transport: transport}
	b.Cleanup(func() { transport.CloseIdleConnections(); stop(); <-done; _ = store.Close() })
	for i := range items {
		s.ask(b, http.MethodPost, "", fmt.Appendf(nil, `{"metadata":{"name":"w%04d"},"color":"red"}`, i))
	}
	return s
}

func (s *side) ask(b *testing.B, method, path string, body []byte) {
	request, err := http.NewRequestWithContext(b.Context(), method, s.url+path, bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.token)
	request.Header.Set("Content-Type", "application/json")
	began, used := time.Now(), cpuTime()
	response, err := s.client.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	s.times = append(s.times, time.Since(began))
	s.cpu += cpuTime() - used
	if response.StatusCode > 299 {
		b.Fatal(response.Status)
	}
}

// newStore opens the storage of a server that stands alone.
func newStore(b *testing.B) storage.Backend {
	b.Helper()
	store, err := embedded.Etcd{}.Open(b.Context(), b.TempDir(), storage.EmbeddedOptions{Quota: storage.DefaultQuota})
	if err != nil {
		b.Fatal(err)
	}
	return store
}

// cpuTime doesn't depend on what else the machine does.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func writePolicy(b *testing.B, dir string) string {
	b.Helper()
	path := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(path, []byte(everything), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

func (s *side) median() float64 {
	slices.Sort(s.times)
	return float64(s.times[len(s.times)/2])
}

// BenchmarkMetadata compares a server with audit at Metadata, in a log file, with one without audit. The metric is the
// ratio of the medians of requests that take turns, and that of their CPU times.
func BenchmarkMetadata(b *testing.B) {
	for _, test := range []struct {
		name, method, path string
		body               bool
	}{
		{"GET", http.MethodGet, "/w0001", false}, {"LIST", http.MethodGet, "", false},
		{"create", http.MethodPost, "", true},
	} {
		b.Run(test.name, func(b *testing.B) {
			feature := &Feature{}
			command := server.Command(server.Program{Name: "shop", Features: []server.Feature{feature}})
			dir := b.TempDir()
			for flag, value := range map[string]string{
				"audit-log-path":    filepath.Join(dir, "audit.log"),
				"audit-policy-file": writePolicy(b, dir),
			} {
				if err := command.Flags().Set(flag, value); err != nil {
					b.Fatal(err)
				}
			}
			sides := []*side{newSide(b, nil, 1000, newStore(b)), newSide(b, feature, 1000, newStore(b))}
			for _, s := range sides {
				s.times, s.cpu = nil, 0
			}
			n := 0
			for b.Loop() {
				n++
				var body []byte
				if test.body {
					body = fmt.Appendf(nil, `{"metadata":{"name":"made%d"},"color":"red"}`, n)
				}
				for i := range sides {
					sides[(i+n)%2].ask(b, test.method, test.path, body)
				}
			}
			b.ReportMetric(sides[1].median()/sides[0].median(), "audited/plain")
			b.ReportMetric(float64(sides[1].cpu)/float64(sides[0].cpu), "audited/plain-cpu")
			b.ReportMetric(sides[0].median(), "plain-ns")
		})
	}
}
