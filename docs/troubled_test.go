package docs

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin"
	"apigen.dev/runtime/builtin/auditlog"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
)

// troubled is a server that has what dashboards and alerts are for: webhooks that can't be called, an audit backend
// that takes no events, and a user whose requests are too many.
type troubled struct {
	testing.TB
	*apitest.Server
	slow, entered chan struct{}
}

// troubledMetrics returns the metrics of a troubled server.
func troubledMetrics(t *testing.T) string {
	t.Helper()
	s := startTroubled(t)
	s.limit()
	s.breakWebhooks()
	var metrics string
	s.until("every trouble is in the metrics", func() bool {
		_, metrics = s.send(http.MethodGet, "/metrics", "", "")
		for _, name := range []string{
			"apiserver_flowcontrol_rejected_requests_total{", "apiserver_admission_webhook_rejection_count{",
			"apiserver_admission_webhook_fail_open_count{", "apiserver_audit_error_total{",
		} {
			if !strings.Contains(metrics, "\n"+name) {
				return false
			}
		}
		return true
	})
	return metrics
}

func startTroubled(t *testing.T) *troubled {
	t.Helper()
	s := &troubled{TB: t, slow: make(chan struct{}), entered: make(chan struct{}, 1)}
	features := append(builtin.Standalone(), &auditlog.Feature{})
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	var groups []registry.Group
	for _, feature := range features {
		feature.AddFlags(flags)
		groups = append(groups, feature.Groups()...)
	}
	if err := flags.Parse([]string{
		"--audit-policy-file=" + s.file("policy.yaml", "apiVersion: audit.k8s.io/v1\nkind: Policy\n"+
			"rules: [{level: Metadata}]\n"),
		"--audit-webhook-config-file=" + s.file("webhook.yaml", "apiVersion: v1\nkind: Config\n"+
			"clusters: [{name: a, cluster: {server: '"+nobody+"'}}]\n"+
			"contexts: [{name: a, context: {cluster: a}}]\ncurrent-context: a\n"),
		"--audit-webhook-batch-buffer-size=1", "--audit-webhook-batch-max-size=1",
	}); err != nil {
		t.Fatal(err)
	}
	s.Server = apitest.StartWith(t, func(c *server.Config) {
		c.DataDir, c.MaxReads, c.MaxWrites, c.Authorizer = t.TempDir(), 2, 1, auth.Always(auth.Allow)
		c.Paths = map[string]http.Handler{"/slow": http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			s.entered <- struct{}{}
			<-s.slow
		})}
		for _, feature := range features {
			if err := c.Use(t.Context(), feature); err != nil {
				t.Fatal(err)
			}
		}
	}, groups...)
	s.until("the server is ready", func() bool {
		code, _ := s.send(http.MethodGet, "/readyz", "", "")
		return code == http.StatusOK
	})
	return s
}

func (s *troubled) until(what string, holds func() bool) {
	s.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); !holds(); <-tick.C {
		if time.Now().After(end) {
			s.Fatalf("%s: not within a minute", what)
		}
	}
}

// send sends a request of the administrator, or of a user whom it impersonates.
func (s *troubled) send(method, path, body, user string) (code int, answer string) {
	s.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if user != "" {
		r.Header.Set("Impersonate-User", user)
	}
	response, err := s.Client.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// limit gives ann a level of one seat, and has a request of hers rejected.
func (s *troubled) limit() {
	s.Helper()
	const group = "/apis/flowcontrol.apiserver.k8s.io/v1/"
	s.send(http.MethodPost, group+"prioritylevelconfigurations", `{"metadata":{"name":"ann"},"spec":{"type":"Limited",
"limited":{"nominalConcurrencyShares":1,"borrowingLimitPercent":0,"limitResponse":{"type":"Reject"}}}}`, "")
	s.send(http.MethodPost, group+"flowschemas", `{"metadata":{"name":"ann"},"spec":{"matchingPrecedence":5,
"priorityLevelConfiguration":{"name":"ann"},"rules":[{"subjects":[{"kind":"User","user":{"name":"ann"}}],
"nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}]}]}}`, "")
	s.until("the schema is in force", func() bool {
		_, metrics := s.send(http.MethodGet, "/metrics", "", "")
		return strings.Contains(metrics, "\napiserver_flowcontrol_dispatched_requests_total{"+
			`flow_schema="ann",priority_level="ann"} `)
	})
	ended := make(chan struct{})
	go func() { defer close(ended); s.send(http.MethodGet, "/slow", "", "ann") }()
	<-s.entered
	if code, answer := s.send(http.MethodGet, "/version", "", "ann"); code != http.StatusTooManyRequests {
		s.Errorf("a request too many: %d %s", code, answer)
	}
	close(s.slow)
	<-ended
}

// breakWebhooks registers webhooks that can't be called, and writes until they matter.
func (s *troubled) breakWebhooks() {
	s.Helper()
	for name, policy := range map[string]string{"open": "Ignore", "closed": "Fail"} {
		s.send(http.MethodPost, "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
			fmt.Sprintf(`{"metadata":{"name":%q},"webhooks":[{"name":"%s.example.com","failurePolicy":%q,
"clientConfig":{"url":%q},"sideEffects":"None","admissionReviewVersions":["v1"],"rules":[{"operations":["CREATE"],
"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]}]}`, name, name, policy, nobody), "")
	}
	s.until("a write fails with a webhook", func() bool {
		code, _ := s.send(http.MethodPost, "/api/v1/namespaces/default/configmaps?dryRun=All",
			`{"metadata":{"name":"a"}}`, "")
		return code == http.StatusInternalServerError
	})
}

// file writes a file.
func (s *troubled) file(name, text string) string {
	s.Helper()
	path := filepath.Join(s.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
	return path
}

// nobody is an address at which nobody answers.
const nobody = "https://127.0.0.1:1/"
