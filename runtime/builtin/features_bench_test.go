package builtin_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/auditlog"
	"apigen.dev/runtime/builtin/flowcontrol"
	"apigen.dev/runtime/builtin/observability"
	"apigen.dev/runtime/builtin/tracing"
	"apigen.dev/runtime/server"
)

// BenchmarkFeatures shows what a feature that sees each request allocates for it, as the difference to none. The client
// is included. make compare shows what it costs in time.
func BenchmarkFeatures(b *testing.B) {
	file := func(name, text string) string {
		path := filepath.Join(b.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
		return path
	}
	for _, test := range []struct {
		name    string
		feature server.Feature
		flags   map[string]string
	}{
		{name: "none"},
		{name: "audit", feature: &auditlog.Feature{}, flags: map[string]string{
			"audit-log-path": file("log", ""), "audit-policy-file": file("policy", everything),
		}},
		{name: "log", feature: &observability.Feature{}},
		{name: "tracing", feature: &tracing.Feature{File: file("tracing", `{"kind":"TracingConfiguration",
"apiVersion":"apiserver.config.k8s.io/v1","endpoint":"127.0.0.1:1","samplingRatePerMillion":10000}`)}},
		{name: "fairness", feature: &flowcontrol.Feature{}},
	} {
		b.Run(test.name, func(b *testing.B) {
			s := start(b, func(c *server.Config) {
				c.Log = slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.Level(-3)}))
				if test.feature == nil {
					return
				}
				command := server.Command(server.Program{Name: "shop", Features: []server.Feature{test.feature}})
				for flag, value := range test.flags {
					if err := command.Flags().Set(flag, value); err != nil {
						b.Fatal(err)
					}
				}
				if err := c.Use(b.Context(), test.feature); err != nil {
					b.Fatal(err)
				}
			})
			const maps = "/api/v1/namespaces/default/configmaps"
			ask(b, s, http.MethodPost, maps, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"}}`)
			b.Run("GET", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					ask(b, s, http.MethodGet, maps+"/one", "")
				}
			})
			n := 0
			b.Run("create", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					n++
					ask(b, s, http.MethodPost, maps,
						fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n%d"}}`, n))
				}
			})
		})
	}
}

// everything is a policy of audit.
const everything = `{"apiVersion":"audit.k8s.io/v1","kind":"Policy","rules":[{"level":"Metadata"}]}`

// ask sends a request, and reads its answer, which is no error.
func ask(b *testing.B, s *apitest.Server, method, path, body string) {
	request, err := http.NewRequestWithContext(b.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := s.Client.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode > http.StatusCreated {
		b.Fatal(response.Status, err)
	}
}
