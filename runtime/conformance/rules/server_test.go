package rules

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin"
	"apigen.dev/runtime/builtin/apiregistration"
	"apigen.dev/runtime/builtin/auditlog"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage"
	"github.com/spf13/pflag"
)

// served is a standalone server.
type served struct {
	*testing.T
	*apitest.Server
	// A request for /slow says in entered that it has a seat, and keeps it until it receives from leave.
	entered, leave chan struct{}
}

// start starts a server whose audit backend is audit's, with the memory limit memory. It stores in memory, or in store
// if that isn't nil.
func start(t *testing.T, store storage.Backend, memory int64, audit ...string) *served {
	t.Helper()
	s := &served{T: t, entered: make(chan struct{}), leave: make(chan struct{})}
	features := append(builtin.Standalone(), &auditlog.Feature{}, &apiregistration.Feature{})
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	var groups []registry.Group
	for _, feature := range features {
		feature.AddFlags(flags)
		groups = append(groups, feature.Groups()...)
	}
	policy := s.file("policy.yaml", "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n")
	if err := flags.Parse(append(audit, "--audit-policy-file="+policy)); err != nil {
		t.Fatal(err)
	}
	// The server takes its memory limit at the start. The test itself has none, so that it collects no garbage for it.
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(memory))
	s.Server = apitest.StartWith(t, func(c *server.Config) {
		c.DataDir, c.Authorizer = t.TempDir(), unsure{}
		if store != nil {
			c.Storage.Backend = store
		}
		c.MaxReads, c.MaxWrites = 20, 10 // so few that a level with one share has one seat
		c.Paths = map[string]http.Handler{"/slow": http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			s.entered <- struct{}{}
			select {
			case <-s.leave:
			case <-r.Context().Done():
			}
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

// unsure allows all requests but those of the user unsure, about whom it can't decide.
type unsure struct{}

// Authorize implements auth.Authorizer.
func (unsure) Authorize(_ context.Context, a auth.Attributes) (auth.Decision, string, error) {
	if a.User.Name == "unsure" {
		return auth.NoOpinion, "", errors.New("the authorizer can't be asked")
	}
	return auth.Allow, "", nil
}

func (s *served) until(what string, holds func() bool) {
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
func (s *served) send(method, path, body, user string) (code int, answer string) {
	s.Helper()
	code, answer, err := s.try(context.Background(), method, path, body, user)
	if err != nil {
		s.Fatal(err)
	}
	return code, answer
}

// try is send for any goroutine.
func (s *served) try(ctx context.Context, method, path, body, user string) (code int, answer string, err error) {
	r, err := http.NewRequestWithContext(ctx, method, s.URL+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	if user != "" {
		r.Header.Set("Impersonate-User", user)
	}
	response, err := s.Client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// want sends a request of the administrator or another user, and wants the answer to have a code.
func (s *served) want(code int, method, path, body, user string) {
	s.Helper()
	if got, answer := s.send(method, path, body, user); got != code {
		s.Fatalf("%s %s of %q: %d, want %d\n%s", method, path, user, got, code, answer)
	}
}

func (s *served) metrics() string {
	s.Helper()
	_, text := s.send(http.MethodGet, "/metrics", "", "")
	return text
}

const secrets = "/api/v1/namespaces/default/secrets"

// work sends requests of each verb and scope that rules ask for.
func (s *served) work() {
	s.Helper()
	s.want(http.StatusCreated, http.MethodPost, secrets, `{"metadata":{"name":"a"}}`, "")
	for _, path := range []string{secrets + "/a", secrets, "/api/v1/secrets", "/api/v1/namespaces", "/version"} {
		s.want(http.StatusOK, http.MethodGet, path, "", "")
	}
	s.want(http.StatusOK, http.MethodPut, secrets+"/a", `{"metadata":{"name":"a","labels":{"a":"b"}}}`, "")
	s.want(http.StatusOK, http.MethodPatch, secrets+"/a", `{"metadata":{"labels":{"a":"c"}}}`, "")
	s.want(http.StatusOK, http.MethodDelete, secrets+"/a", "", "")
}

// file writes a file.
func (s *served) file(name, text string) string {
	s.Helper()
	path := filepath.Join(s.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
	return path
}

// rounds is how often a server is scraped.
const rounds = 4

// What servers exposed to the first test that needed it, scrape by scrape.
var calmScrapes, troubledScrapes []string

// calm returns the samples of a server that has no troubles.
func calm(t *testing.T) *database {
	t.Helper()
	if calmScrapes == nil {
		s := start(t, nil, math.MaxInt64, "--audit-log-path="+filepath.Join(t.TempDir(), "audit.log"))
		for range rounds {
			s.work()
			calmScrapes = append(calmScrapes, s.metrics()+whole(time.Now().AddDate(1, 0, 0)))
		}
	}
	return replay(t, calmScrapes)
}

// troubled returns the samples of a server that has all the troubles of troubles_test.go.
func troubled(t *testing.T) *database {
	t.Helper()
	if troubledScrapes == nil {
		s := startTroubled(t, nil, 1<<20)
		for range rounds {
			s.work()
			s.troubles()
			s.shortOfMemory()
			troubledScrapes = append(troubledScrapes, s.metrics()+whole(time.Now().AddDate(0, 0, 1)))
		}
	}
	return replay(t, troubledScrapes)
}

func replay(t *testing.T, scrapes []string) *database {
	t.Helper()
	d := newDatabase(t)
	for _, text := range scrapes {
		d.scrape(text)
	}
	return d
}

// whole is what a server exposes, beside what that of a test does, if it has made its certificate, which ends at a
// time, and stores in the embedded etcd. docs/reference/metrics.md is made of such a server.
func whole(end time.Time) string {
	return certificate(end) + `apigen_storage_in_use_bytes 1e+06
apigen_storage_quota_bytes 8e+09
apiserver_storage_size_bytes{storage_cluster_id="embedded"} 2e+06
`
}

func certificate(end time.Time) string {
	return fmt.Sprintf("apigen_certificate_expiration_timestamp_seconds{name=\"server\"} %d\n", end.Unix())
}
