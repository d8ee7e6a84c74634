package tracing

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/timing"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
)

// collected is a collector that keeps the spans.
type collected struct {
	collector.UnimplementedTraceServiceServer
	mu    sync.Mutex // guards spans
	spans []*otlp.Span
}

// Export implements the service.
func (c *collected) Export(
	_ context.Context, r *collector.ExportTraceServiceRequest,
) (*collector.ExportTraceServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range r.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
	return new(collector.ExportTraceServiceResponse), nil
}

func startCollector(t *testing.T) (*collected, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c, s := new(collected), grpc.NewServer()
	collector.RegisterTraceServiceServer(s, c)
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(listener) }()
	t.Cleanup(func() { s.Stop(); <-done })
	return c, listener.Addr().String()
}

func writeConfig(t *testing.T, text string) *Feature {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tracing.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return &Feature{File: path}
}

const head = "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n"

// The user of a token has the group of the same name.
var groups = []string{auth.Masters, "system:monitoring", "dev"}

// traced runs a server, sends one list for each user with a parent that is sampled, and returns the spans.
func traced(t *testing.T, rate string) []*otlp.Span {
	t.Helper()
	spans, endpoint := startCollector(t)
	feature := writeConfig(t, head+"endpoint: "+endpoint+"\nsamplingRatePerMillion: "+rate+"\n")
	t.Run("serve", func(t *testing.T) { // the server ends, and sends what is left, with the subtest
		s := apitest.StartWith(t, func(c *server.Config) {
			tokens := new(auth.Tokens)
			for _, group := range groups {
				tokens.Add(group, &auth.User{Name: "user", Groups: []string{group}})
			}
			c.Authentication.Tokens = append(c.Authentication.Tokens, tokens)
			c.Authorizer = auth.Always(auth.Allow)
			if err := c.Use(t.Context(), feature); err != nil {
				t.Fatal(err)
			}
		}, registry.Group{
			Name: "shop.example.com", Versions: []string{"v1", "v1beta1"},
			Resources: []registry.Resource{registry.New(shop.Definition())},
		})
		awaitReady(t, s)
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(s.CA)
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
		defer transport.CloseIdleConnections()
		for i, group := range groups {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
				s.URL+"/apis/shop.example.com/v1/namespaces/x/widgets", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+group)
			r.Header.Set("Audit-ID", group)
			r.Header.Set("Traceparent", "00-0000000000000000000000000000000"+string(rune('1'+i))+
				"-00000000000000aa-01")
			response, err := transport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, response.Body)
			response.Body.Close()
			if response.StatusCode != http.StatusOK {
				t.Errorf("%s: %d", group, response.StatusCode)
			}
		}
	})
	spans.mu.Lock()
	defer spans.mu.Unlock()
	return spans.spans
}

// TestParents: administrators and monitors name the parents of spans, and nobody else makes the server record one.
func TestParents(t *testing.T) {
	of := map[string]int{}
	parts := map[string]int{}
	for _, span := range traced(t, "0") {
		if span.GetKind() != otlp.Span_SPAN_KIND_SERVER {
			parts[span.GetName()]++
			continue
		}
		if span.GetName() != "GET /apis/shop.example.com/v1/namespaces/{:namespace}/widgets" {
			t.Errorf("a span of the name %q", span.GetName())
		}
		id := valueOf(span, "audit-id")
		of[id]++
		if !strings.HasSuffix(string(span.GetParentSpanId()), "\xaa") {
			t.Errorf("the span of %s has the parent %x", id, span.GetParentSpanId())
		}
	}
	if of[auth.Masters] == 0 || of["system:monitoring"] == 0 || of["dev"] != 0 {
		t.Errorf("spans of %v", of)
	}
	for _, name := range []string{"Authentication", "Authorization"} {
		if parts[name] == 0 {
			t.Errorf("no span %q among %v", name, parts)
		}
	}
}

// TestNamesOfParts: every stage of a request has a span of its own name.
func TestNamesOfParts(t *testing.T) {
	known := map[string]bool{}
	for stage := range timing.Stages {
		if name := names[stage]; name == "" || known[name] {
			t.Errorf("the stage %s has the name %q", stage, name)
		} else {
			known[name] = true
		}
	}
}

// TestSampling: what is sampled without a parent is a root, and linked to the span that the client named.
func TestSampling(t *testing.T) {
	found := false
	for _, span := range traced(t, "1000000") {
		if span.GetKind() != otlp.Span_SPAN_KIND_SERVER || valueOf(span, "audit-id") != "dev" {
			continue
		}
		found = true
		if len(span.GetParentSpanId()) > 0 || len(span.GetLinks()) != 1 ||
			!strings.HasSuffix(string(span.GetLinks()[0].GetSpanId()), "\xaa") {
			t.Errorf("parent %x, links %v", span.GetParentSpanId(), span.GetLinks())
		}
	}
	if !found {
		t.Error("no span")
	}
}

// awaitReady waits until the hook of the feature has begun.
func awaitReady(t *testing.T, s *apitest.Server) {
	t.Helper()
	for {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/readyz", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := s.Client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return
		}
	}
}

func valueOf(span *otlp.Span, key string) string {
	for _, a := range span.GetAttributes() {
		if a.GetKey() == key {
			return a.GetValue().GetStringValue()
		}
	}
	return ""
}

// TestUnrecorded: servers that are asked for a request whose span isn't recorded learn one name of it, and that it
// isn't.
func TestUnrecorded(t *testing.T) {
	record := timing.New(t.Context())
	r := httptest.NewRequestWithContext(record, http.MethodGet, "/", http.NoBody)
	r.Header.Set("Traceparent", "00-00000000000000000000000000000001-00000000000000aa-01")
	made := new(tracer)
	made.made.Store(&sampled{})
	if served, span := made.Start(r, record.Began(), "id", false); served != r || span != nil {
		t.Errorf("it has the span %v", span)
	}
	names := map[string]bool{}
	for range 2 {
		header := http.Header{}
		timing.Propagate(record, header)
		name := header.Get("Traceparent")
		if names[name] = true; !unsampled.MatchString(name) || strings.HasPrefix(name, "00-00000000000000000000") {
			t.Errorf("its name is %q", name)
		}
	}
	if len(names) != 1 {
		t.Errorf("names %v", names)
	}
}

var unsampled = regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-00$`)

// TestDraws: a part of the requests is drawn, none of them at 0, and all at a million.
func TestDraws(t *testing.T) {
	for perMillion, bounds := range map[int32][2]int{0: {0, 0}, 500_000: {1, 9999}, million: {10000, 10000}} {
		s, drawn := sampled{perMillion: perMillion}, 0
		for range 10000 {
			if s.draws() {
				drawn++
			}
		}
		if drawn < bounds[0] || drawn > bounds[1] {
			t.Errorf("at %d, %d of 10000", perMillion, drawn)
		}
	}
}

// TestFileInCode: the file that an author names is that of the server, unless a flag names another one.
func TestFileInCode(t *testing.T) {
	feature := &Feature{File: "a.yaml"}
	command := server.Command(server.Program{Name: "shop", Features: []server.Feature{feature}})
	if feature.File != "a.yaml" {
		t.Errorf("the file is %q", feature.File)
	}
	if err := command.Flags().Set("tracing-config-file", "b.yaml"); err != nil || feature.File != "b.yaml" {
		t.Errorf("the file is %q, %v", feature.File, err)
	}
}

func TestBadConfigurations(t *testing.T) {
	for text, want := range map[string]string{
		"apiVersion: v1\nkind: Pod\n":                        "must be a TracingConfiguration",
		head + "samplingRatePerMillion: -1\n":                "samplingRatePerMillion: -1 is not between",
		head + "samplingRatePerMillion: 1000001\n":           "samplingRatePerMillion: 1000001 is not between",
		head + "endpoint: http://localhost:4317\n":           `the scheme "http" is none of dns`,
		head + "sampling: 1\n":                               "unknown field",
		strings.Replace(head, "/v1\n", "/v2\n", 1):           "must be a TracingConfiguration",
		head + "endpoint: unix:///run/otel.sock\nspans: 1\n": "unknown field",
	} {
		err := new(server.Config).Use(t.Context(), writeConfig(t, text))
		if err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "--tracing-config-file") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	var config server.Config
	if err := config.Use(t.Context(), new(Feature)); err != nil || config.Tracer != nil {
		t.Errorf("without a file: %v, %v", config.Tracer, err)
	}
}
