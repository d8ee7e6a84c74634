package tracing

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin/flowcontrol"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/timing"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
)

const widgets = "/apis/shop.example.com/v1/namespaces/x/widgets"

// staged is a server of few seats whose requests have all stages, and a path that answers when the test lets it.
type staged struct {
	*testing.T
	*apitest.Server
	client        *http.Client
	slow, entered chan struct{}
}

func startStaged(t *testing.T, feature *Feature) *staged {
	t.Helper()
	s := &staged{T: t, slow: make(chan struct{}), entered: make(chan struct{})}
	fairness := new(flowcontrol.Feature)
	fairness.AddFlags(pflag.NewFlagSet("", pflag.ContinueOnError))
	s.Server = apitest.StartWith(t, func(c *server.Config) {
		tokens := new(auth.Tokens)
		for _, group := range groups {
			tokens.Add(group, &auth.User{Name: "user", Groups: []string{group}})
		}
		c.Authentication.Tokens = append(c.Authentication.Tokens, tokens)
		c.Authorizer = auth.Always(auth.Allow)
		c.MaxReads, c.MaxWrites = 1, 1
		c.Admission = append(c.Admission, admission.Plugin{
			Name: "Patience", Validate: func(context.Context, *admission.Attributes) error { return nil },
		})
		c.Paths = map[string]http.Handler{
			"/slow": http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				s.entered <- struct{}{}
				<-s.slow
			}),
			"/parent": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				sent := http.Header{}
				timing.Propagate(r.Context(), sent)
				_, _ = io.WriteString(w, sent.Get("Traceparent"))
			}),
		}
		for _, f := range []server.Feature{fairness, feature} {
			if err := c.Use(t.Context(), f); err != nil {
				t.Fatal(err)
			}
		}
	}, registry.Group{
		Name: "shop.example.com", Versions: []string{"v1", "v1beta1"},
		Resources: []registry.Resource{registry.New(shop.Definition())},
	})
	awaitReady(t, s.Server)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.CA)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	t.Cleanup(transport.CloseIdleConnections)
	s.client = &http.Client{Transport: transport}
	return s
}

// do sends a request of a user of a group whose parent is sampled, and returns the body of the answer.
func (s *staged) do(group, method, path, body string) string {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+group)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Audit-ID", method+" "+path)
	r.Header.Set("Traceparent", "00-00000000000000000000000000000001-00000000000000aa-01")
	response, err := s.client.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode/100 != 2 {
		s.Errorf("%s %s: %s %s, %v", method, path, response.Status, text, err)
	}
	return string(text)
}

// queue makes a request wait for the seat of another one.
func (s *staged) queue() {
	s.Helper()
	ended := make(chan struct{}, 2)
	go func() { s.do("system:monitoring", http.MethodGet, "/slow", ""); ended <- struct{}{} }()
	<-s.entered
	go func() { s.do("system:monitoring", http.MethodGet, widgets+"/w", ""); ended <- struct{}{} }()
	const waiting = `apiserver_flowcontrol_current_inqueue_requests{flow_schema="global-default",` +
		`priority_level="global-default"} 1`
	waits := func() bool { return strings.Contains(s.do(auth.Masters, http.MethodGet, "/metrics", ""), waiting) }
	for end := time.Now().Add(time.Minute); !waits(); {
		if time.Now().After(end) {
			s.Fatal("the request doesn't wait")
		}
	}
	close(s.slow)
	<-ended
	<-ended
}

// TestStages: each stage of a request is a span below the span of the request.
func TestStages(t *testing.T) {
	spans, endpoint := startCollector(t)
	feature := writeConfig(t, head+"endpoint: "+endpoint+"\nsamplingRatePerMillion: 0\n")
	t.Run("serve", func(t *testing.T) {
		s := startStaged(t, feature)
		s.do(auth.Masters, http.MethodPost, widgets,
			`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"w"}}`)
		s.do(auth.Masters, http.MethodGet, widgets, "")
		s.queue()
	})
	spans.mu.Lock()
	defer spans.mu.Unlock()
	requests := map[string]string{} // audit IDs, by the ID of the span
	for _, span := range spans.spans {
		if span.GetKind() == otlp.Span_SPAN_KIND_SERVER {
			requests[string(span.GetSpanId())] = valueOf(span, "audit-id")
		}
	}
	found := map[string]bool{}
	for _, span := range spans.spans {
		found[requests[string(span.GetParentSpanId())]+": "+span.GetName()] = true
	}
	for _, want := range []string{
		"POST " + widgets + ": Authentication", "POST " + widgets + ": Authorization",
		"POST " + widgets + ": Admission Patience", "POST " + widgets + ": etcd create",
		"GET " + widgets + ": Cache wait widgets.shop.example.com", "GET " + widgets + "/w: Queue global-default",
	} {
		if !found[want] {
			t.Errorf("no span %q among %v", want, found)
		}
	}
}

// TestPropagation: the question to another server names the span of the request that it is asked for, or that this
// request isn't recorded.
func TestPropagation(t *testing.T) {
	spans, endpoint := startCollector(t)
	feature := writeConfig(t, head+"endpoint: "+endpoint+"\nsamplingRatePerMillion: 0\n")
	var recorded, other string
	t.Run("serve", func(t *testing.T) {
		s := startStaged(t, feature)
		recorded, other = s.do(auth.Masters, http.MethodGet, "/parent", ""), s.do("dev", http.MethodGet, "/parent", "")
	})
	if !strings.HasPrefix(other, "00-") || !strings.HasSuffix(other, "-00") {
		t.Errorf("a request that isn't recorded: %q", other)
	}
	spans.mu.Lock()
	defer spans.mu.Unlock()
	for _, span := range spans.spans {
		if span.GetKind() == otlp.Span_SPAN_KIND_SERVER && valueOf(span, "audit-id") == "GET /parent" {
			if want := fmt.Sprintf("00-%032x-%x-01", 1, span.GetSpanId()); recorded != want {
				t.Errorf("the question has %q, and the span is %q", recorded, want)
			}
			return
		}
	}
	t.Error("no span was recorded")
}
