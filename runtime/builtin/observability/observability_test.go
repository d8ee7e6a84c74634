package observability

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/host/logging"
	"apigen.dev/runtime/internal/http/filter"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/timing"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
)

// output is a log that a test reads.
type output struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// observed starts a server with the feature.
func observed(
	t *testing.T, f *Feature, log io.Writer, level *slog.LevelVar, changes ...func(*server.Config),
) *apitest.Server {
	t.Helper()
	return apitest.StartWith(t, func(c *server.Config) {
		c.Log = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: level}))
		c.LogLevel, c.Profiling = level, true
		for _, change := range changes {
			change(c)
		}
		if err := c.Use(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}, registry.Group{
		Name: "shop.example.com", Versions: []string{"v1", "v1beta1"},
		Resources: []registry.Resource{registry.New(shop.Definition())},
	})
}

func ask(t *testing.T, s *apitest.Server, method, path, id string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Audit-ID", id)
	response, err := s.Client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// TestAccessLog: with the verbosity 3 each request is a line, with its audit ID.
func TestAccessLog(t *testing.T) {
	const widgets = "/apis/shop.example.com/v1/widgets"
	out, level := new(output), new(slog.LevelVar)
	s := observed(t, &Feature{}, out, level)
	ask(t, s, http.MethodGet, widgets, "quiet")
	level.Set(accessLevel)
	ask(t, s, http.MethodGet, widgets+"?limit=3", "loud")
	ask(t, s, http.MethodGet, widgets, "last") // the line of the request before it is written by now, or soon
	for !strings.Contains(out.String(), `"audit-ID":"loud"`) {
		select {
		case <-t.Context().Done():
			t.Fatal("the request was not logged")
		case <-time.After(time.Millisecond):
		}
	}
	if strings.Contains(out.String(), "quiet") {
		t.Error("a request was logged without being asked for")
	}
	for line := range strings.Lines(out.String()) {
		var read struct {
			Msg, Verb, URI, SrcIP string
			Resp, Bytes           int
			ID                    string `json:"audit-ID"`
		}
		if err := json.Unmarshal([]byte(line), &read); err != nil {
			t.Errorf("no JSON: %s", line)
		}
		if read.ID == "loud" && (read.Msg != "HTTP" || read.Verb != "list" || read.URI != widgets+"?limit=3" ||
			read.Resp != 200 || read.Bytes == 0 || !strings.HasPrefix(read.SrcIP, "127.0.0.1:")) {
			t.Errorf("the line is incomplete: %s", line)
		}
	}
}

// keeper is a handler that keeps its records.
type keeper struct {
	slog.Handler
	records []slog.Record
}

func (k *keeper) Handle(_ context.Context, r slog.Record) error {
	k.records = append(k.records, r)
	return nil
}

// TestKeptRecords: a handler may keep the records that it gets, unless it says that it doesn't.
func TestKeptRecords(t *testing.T) {
	var out bytes.Buffer
	text, flush := logging.New(logging.Text, &out, accessLevel)
	kept := &keeper{Handler: text}
	for _, log := range []requestLog{newRequestLog(slog.New(kept)), newRequestLog(slog.New(text))} {
		for _, id := range []string{"first", "second"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/x", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			log.observe(filter.Observation{Request: r, AuditID: id, Code: 200})
		}
	}
	flush()
	for i, id := range []string{"first", "second"} {
		kept.records[i].Attrs(func(group slog.Attr) bool {
			if got := group.Value.Group()[4].Value.String(); got != id {
				t.Errorf("record %d is of %s", i, got)
			}
			return true
		})
		if line := strings.Split(out.String(), "\n")[i]; !strings.Contains(line, "audit-ID="+id) {
			t.Errorf("line %d is %s", i, line)
		}
	}
}

// TestSlowRequest: a slow request is logged with where its time went, and a client can't fill the log by one request.
func TestSlowRequest(t *testing.T) {
	var out bytes.Buffer
	log := newRequestLog(slog.New(slog.NewTextHandler(&out, nil)))
	record := timing.New(t.Context())
	timing.End(record, timing.Storage, "get", time.Now().Add(-time.Second))
	timing.End(record, timing.Queue, "low", time.Now().Add(-2*time.Second))
	timing.SetShare(record, timing.Share{Level: "low", Schema: "all", Seats: 3, Final: 2, Latency: time.Second})
	r, err := http.NewRequestWithContext(record, http.MethodGet, "/x", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.RequestURI = "/" + strings.Repeat("x", 1<<20)
	for _, test := range []struct {
		lasted      time.Duration
		longRunning bool
		lines       int
	}{{slow - 1, false, 0}, {slow, true, 0}, {slow, false, 1}} {
		out.Reset()
		log.observe(filter.Observation{Request: r, Info: &request.Info{Verb: "get", LongRunning: test.longRunning},
			Code: 200, AuditID: "a", Duration: test.lasted})
		if lines := strings.Count(out.String(), "\n"); lines != test.lines || out.Len() > 2*maxLogged {
			t.Errorf("%+v: %d lines, %d bytes", test, lines, out.Len())
		}
	}
	text := out.String()
	for _, want := range []string{
		"storage=1.", "queue=2.", "audit-ID=a",
		" apf_pl=low apf_fs=all apf_iseats=3 apf_fseats=2 apf_additionalLatency=1s resp=200 ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the line has no %q: %s", want, text)
		}
	}
	if strings.Contains(text, "admission=") {
		t.Errorf("the line has a stage without time: %s", text)
	}
}

// TestReset: administrators make metrics begin anew.
func TestReset(t *testing.T) {
	s := observed(t, &Feature{}, io.Discard, new(slog.LevelVar))
	ask(t, s, http.MethodGet, "/nope", "")
	ask(t, s, http.MethodGet, "/readyz", "")
	for path, counter := range map[string]string{
		"/metrics":      `apiserver_request_total\{code="404"[^}]*\}`,
		"/metrics/slis": `kubernetes_healthchecks_total\{[^}]*readyz"\}`,
	} {
		if _, body := ask(t, s, http.MethodGet, path, ""); !regexp.MustCompile(counter + " [1-9]").MatchString(body) {
			t.Errorf("%s has no %s: %s", path, counter, body)
		}
		if code, body := ask(t, s, http.MethodDelete, path, ""); code != 200 || body != "metrics reset\n" {
			t.Errorf("DELETE %s: %d %q", path, code, body)
		}
		if _, body := ask(t, s, http.MethodGet, path, ""); regexp.MustCompile(counter + " [1-9]").MatchString(body) {
			t.Errorf("%s after the reset: %s", path, body)
		}
		if code, _ := ask(t, s, http.MethodPost, path, ""); code != 405 {
			t.Errorf("POST %s: %d", path, code)
		}
	}
}

// TestNoReset: a user who may read the metrics, and not delete them, can't reset them.
func TestNoReset(t *testing.T) {
	reader := new(auth.Tokens)
	reader.Add("reader", &auth.User{Name: "reader"})
	s := observed(t, &Feature{}, io.Discard, new(slog.LevelVar), func(c *server.Config) {
		c.Authentication.Tokens = append(c.Authentication.Tokens, reader)
		c.Authorizer = onlyGet{}
	})
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.CA)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	defer client.CloseIdleConnections()
	for _, path := range []string{"/metrics", "/metrics/slis"} {
		for method, want := range map[string]int{http.MethodGet: 200, http.MethodDelete: 403} {
			r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer reader")
			response, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.StatusCode != want {
				t.Errorf("%s %s: %s, want %d", method, path, response.Status, want)
			}
		}
	}
}

// onlyGet allows everybody to read.
type onlyGet struct{}

func (onlyGet) Authorize(_ context.Context, a auth.Attributes) (auth.Decision, string, error) {
	if a.Verb == "get" {
		return auth.Allow, "", nil
	}
	return auth.NoOpinion, "", nil
}

// TestSocket: profiles are there for who may open the file, without TLS and without a name.
func TestSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "debug")
	left, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	left.(*net.UnixListener).SetUnlinkOnClose(false) // as a process that was killed
	left.Close()
	level := new(slog.LevelVar)
	observed(t, &Feature{Socket: path}, io.Discard, level)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", info, err)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(
		ctx context.Context, _, _ string,
	) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}, DisableKeepAlives: true}}
	for _, test := range []struct {
		method, path, body, want string
		code                     int
	}{
		{"GET", "/debug/pprof/goroutine?debug=1", "", "goroutine profile", 200},
		{"GET", "/apis", "", "", 404},
		{"PUT", "/debug/flags/v", "4", "successfully set", 200},
	} {
		r, err := http.NewRequestWithContext(t.Context(), test.method, "http://socket"+test.path,
			strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != test.code || !strings.Contains(string(body), test.want) {
			t.Errorf("%s: %d %s, %v", test.path, response.StatusCode, body, err)
		}
	}
	if level.Level() != slog.LevelDebug {
		t.Errorf("the level is %s", level.Level())
	}
	taken := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(taken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := listen(taken, level); err == nil {
		t.Error("the server replaced a file that is no socket")
	}
}

// TestSocketInCode: the socket that an author names is that of the server, unless a flag names another one.
func TestSocketInCode(t *testing.T) {
	feature := &Feature{Socket: "a.sock"}
	command := server.Command(server.Program{Name: "shop", Features: []server.Feature{feature}})
	if feature.Socket != "a.sock" {
		t.Errorf("the socket is %q", feature.Socket)
	}
	if err := command.Flags().Set("debug-socket-path", "b.sock"); err != nil || feature.Socket != "b.sock" {
		t.Errorf("the socket is %q, %v", feature.Socket, err)
	}
}
