package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/testbed"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/memory"
)

// hooked is a server with hooks, which runs until stop is called or a hook fails.
type hooked struct {
	*Server
	stop  context.CancelFunc
	ended chan error
	log   *journal
}

// journal is a log that a test reads.
type journal struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) has(parts ...string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for line := range strings.Lines(j.text.String()) {
		missing := false
		for _, part := range parts {
			missing = missing || !strings.Contains(line, part)
		}
		if !missing {
			return true
		}
	}
	return false
}

func startHooked(t *testing.T, config Config, hooks ...Hook) *hooked {
	t.Helper()
	borrowed := httptest.NewTLSServer(nil) // for its certificate
	defer borrowed.Close()
	var err error
	if config.Listener == nil {
		config.Listener, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	h := &hooked{ended: make(chan error, 1), log: new(journal)}
	backend := memory.New()
	config.Garbage = DelegateGarbage // whose health is not the hooks'
	config.Groups, config.Backend, config.Hooks = []registry.Group{widgets()}, backend, hooks
	config.Certificate = borrowed.TLS.Certificates[0]
	config.Log = slog.New(slog.NewTextHandler(h.log, nil))
	if h.Server, err = New(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	var ctx context.Context
	ctx, h.stop = context.WithCancel(context.Background())
	go func() {
		err := h.Run(ctx)
		h.ended <- errors.Join(err, backend.Close())
	}()
	t.Cleanup(h.stop)
	return h
}

// inBubble serves, in a bubble of testing/synctest, a server that ends soon after it was told.
func inBubble() Serving {
	return Serving{Listener: testbed.NewPipes(), ShutdownTimeout: 20 * time.Millisecond}
}

// ask sends a request through the loopback, and returns the status and the body.
func (h *hooked) ask(t *testing.T, method, path string, body io.Reader) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, h.URL()+path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := h.loopback.Transport.RoundTrip(r)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	return response.StatusCode, string(content)
}

// becomesOK waits until a check is good: caches may not be filled yet.
func (h *hooked) becomesOK(t *testing.T, path string) {
	t.Helper()
	tick, late := time.NewTicker(time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for {
		code, body := h.ask(t, http.MethodGet, path, nil)
		if code == http.StatusOK {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("%s: %d %s", path, code, body)
		}
	}
}

// end stops the server, which must end without an error.
func (h *hooked) end(t *testing.T) {
	t.Helper()
	h.stop()
	if err := <-h.ended; err != nil {
		t.Error(err)
	}
}

func TestHookNames(t *testing.T) {
	for _, wrong := range [][]Hook{
		{{}}, {{Name: "a"}, {Name: "a"}}, {{Name: "A"}}, {{Name: "a b"}}, {{Name: "/a"}}, {{Name: "a-"}},
		{{Name: "a?"}},
	} {
		if _, err := newHooks(wrong); err == nil {
			t.Errorf("%v is accepted", wrong)
		}
	}
	if _, err := newHooks([]Hook{{Name: "rbac/bootstrap-roles"}, {Name: "a1"}}); err != nil {
		t.Error(err)
	}
}

// Every function of a hook reaches objects and the server, as the system's user.
func TestHookContext(t *testing.T) {
	var contexts []context.Context
	ran := make(chan struct{})
	keep := func(ctx context.Context) error { contexts = append(contexts, ctx); return nil }
	h := startHooked(t, Config{}, Hook{Name: "a", PostStart: keep, PreShutdown: keep,
		Run: func(ctx context.Context) error { defer close(ran); return keep(ctx) }})
	<-ran
	h.end(t)
	if len(contexts) != 3 {
		t.Fatalf("%d functions ran", len(contexts))
	}
	for i, ctx := range contexts {
		if user := auth.UserFrom(ctx); user.Name != "system:apiserver" || user.Groups[0] != auth.Masters {
			t.Errorf("%d: user %v", i, user)
		}
		if _, err := reach.Of[*widget](ctx); err != nil {
			t.Errorf("%d: %v", i, err)
		}
		if l := LoopbackFrom(ctx); l == nil || l.Host != h.URL() {
			t.Errorf("%d: loopback %v", i, l)
		}
		if ctx.Err() == nil {
			t.Errorf("%d: the context has not ended with the server", i)
		}
	}
}

// PostStart runs while the server accepts connections, at the same time as other hooks; until it returns, the health
// checks fail, and then Run begins.
func TestPostStart(t *testing.T) {
	for _, grace := range []time.Duration{0, time.Hour} {
		together, finish, ran := make(chan struct{}), make(chan struct{}), make(chan struct{})
		h := startHooked(t, Config{Serving: Serving{LivezGracePeriod: grace}},
			Hook{Name: "a", PostStart: func(ctx context.Context) error {
				connection, err := new(net.Dialer).DialContext(ctx, "tcp", LoopbackFrom(ctx).Host[len("https://"):])
				if err != nil {
					return err
				}
				together <- struct{}{}
				<-finish
				return connection.Close()
			}, Run: func(context.Context) error { close(ran); return nil }},
			Hook{Name: "b", PostStart: func(context.Context) error { <-together; return nil }})
		<-h.hooks[1].ended
		for _, path := range []string{"/readyz", "/healthz", "/livez"} {
			wanted := http.StatusInternalServerError
			if path == "/livez" && grace > 0 {
				wanted = http.StatusOK
			}
			code, body := h.ask(t, http.MethodGet, path+"?verbose", nil)
			if code != wanted || !strings.Contains(body, "[+]poststarthook/b ok") ||
				code != http.StatusOK && !strings.Contains(body, "[-]poststarthook/a failed: not finished") {
				t.Errorf("%s before the hook: %d %s", path, code, body)
			}
		}
		select {
		case <-ran:
			t.Error("Run has begun before PostStart returned")
		default:
		}
		close(finish)
		<-ran
		<-h.hooks[0].ended
		for _, path := range []string{"/readyz", "/healthz", "/livez", "/readyz/poststarthook/a"} {
			h.becomesOK(t, path)
		}
		h.end(t)
	}
}

// A hook that fails or panics ends the server, with an error that names it. The others end as at every shutdown.
func TestHookFails(t *testing.T) {
	broken := errors.New("broken")
	fail := func(context.Context) error { return broken }
	crash := func(context.Context) error { panic("broken") }
	for want, hook := range map[string]Hook{
		"hook a: broken":        {PostStart: fail, Run: func(context.Context) error { panic("it runs") }},
		"hook a: panic: broken": {PostStart: crash},
		"hook b: broken":        {Run: fail},
		"hook b: panic: broken": {Run: crash},
	} {
		t.Run(want, func(t *testing.T) {
			hook.Name = want[len("hook "):len("hook a")]
			h := startHooked(t, Config{}, hook, Hook{Name: "other", Run: func(ctx context.Context) error {
				<-ctx.Done()
				return ctx.Err()
			}})
			if err := <-h.ended; err == nil || err.Error() != want {
				t.Errorf("error %v", err)
			}
			if !h.log.has("a hook failed", "hook="+hook.Name, "broken") {
				t.Error("nothing is logged")
			}
			if strings.Contains(want, "panic") && !h.log.has("a hook panicked", "hook="+hook.Name, "hook_test.go") {
				t.Error("the stack is not logged")
			}
		})
	}
}

// An error after the end of the context is not a failure, and a hook whose context has ended doesn't begin to run.
func TestHookEnds(t *testing.T) {
	begun := make(chan struct{}) // of a hook; one that had not begun would not begin
	h := startHooked(t, Config{},
		Hook{Name: "a", Run: func(ctx context.Context) error {
			begun <- struct{}{}
			<-ctx.Done()
			return errors.New("it is late")
		}},
		Hook{Name: "b", PostStart: func(ctx context.Context) error { begun <- struct{}{}; <-ctx.Done(); return nil },
			Run: func(context.Context) error { panic("it runs") }})
	<-begun
	<-begun
	h.end(t)
	if !h.log.has("a hook ended with an error", "hook=a", "it is late") {
		t.Error("the error is not logged")
	}
}

// At a shutdown, the hooks prepare first, while the server still serves and is not ready, then requests are answered,
// and then the hooks' context ends.
func TestShutdownOrder(t *testing.T) {
	preparing, prepared, running := make(chan struct{}, 2), make(chan struct{}), make(chan context.Context, 1)
	prepare := func(context.Context) error { preparing <- struct{}{}; <-prepared; return nil }
	h := startHooked(t, Config{},
		Hook{Name: "a", PreShutdown: prepare, Run: func(ctx context.Context) error {
			running <- ctx
			<-ctx.Done()
			return nil
		}},
		Hook{Name: "b", PostStart: func(ctx context.Context) error { <-ctx.Done(); return nil }, PreShutdown: prepare})
	ctx := <-running
	body, rest := io.Pipe()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		if code, body := h.ask(t, http.MethodPost, "/apis/shop.example.com/v1/namespaces/x/widgets",
			body); code != 201 {
			t.Errorf("the request under way: %d %s", code, body)
		}
	}()
	if _, err := io.WriteString(rest, `{"metadata":{`); err != nil { // the request is in progress
		t.Fatal(err)
	}
	h.stop()
	<-preparing
	<-preparing
	if code, body := h.ask(t, http.MethodGet, "/readyz", nil); code != 500 ||
		!strings.Contains(body, "[-]shutdown failed") {
		t.Errorf("/readyz while hooks prepare: %d %s", code, body)
	}
	if _, body := h.ask(t, http.MethodGet, "/healthz?verbose", nil); strings.Contains(body, "shutdown") {
		t.Errorf("/healthz knows of a shutdown, which it doesn't in kube-apiserver: %s", body)
	}
	const list = "/apis/shop.example.com/v1/widgets"
	if code, body := h.ask(t, http.MethodGet, list, nil); code != 200 {
		t.Errorf("a request while hooks prepare: %d %s", code, body)
	}
	close(prepared)
	for code := 0; code != http.StatusServiceUnavailable; {
		code, _ = h.ask(t, http.MethodGet, list, nil)
	}
	if err := ctx.Err(); err != nil {
		t.Errorf("the hooks' context ended before the requests: %v", err)
	}
	if _, err := io.WriteString(rest, `"name":"w"}}`); err != nil {
		t.Fatal(err)
	}
	rest.Close()
	<-answered
	<-ctx.Done()
	if err := <-h.ended; err != nil {
		t.Error(err)
	}
}

// What goes wrong while hooks prepare is logged, and changes nothing.
func TestPreShutdownFails(t *testing.T) { synctest.Test(t, testPreShutdownFails) }

func testPreShutdownFails(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	h := startHooked(t, Config{Serving: inBubble()},
		Hook{Name: "error", PreShutdown: func(context.Context) error { return errors.New("no") }},
		Hook{Name: "panic", PreShutdown: func(context.Context) error { panic("no") }},
		Hook{Name: "hang", PreShutdown: func(ctx context.Context) error { <-ctx.Done(); <-release; return nil }})
	h.end(t)
	for _, want := range [][]string{
		{"a hook failed at the shutdown", "hook=error", "error=no"},
		{"a hook failed at the shutdown", "hook=panic", `error="panic: no"`},
		{"has not prepared for the shutdown in time", "hook=hang", "timeout=20ms"},
	} {
		if !h.log.has(want...) {
			t.Errorf("the log lacks %q", want)
		}
	}
}

// A hook that doesn't end can't keep the server from ending, which says its name.
func TestHookHangs(t *testing.T) { synctest.Test(t, testHookHangs) }

func testHookHangs(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	h := startHooked(t, Config{Serving: inBubble()},
		Hook{Name: "good", Run: func(ctx context.Context) error { <-ctx.Done(); return nil }},
		Hook{Name: "hang", Run: func(context.Context) error { <-release; return nil }})
	<-h.hooks[0].started
	<-h.hooks[1].started
	h.stop()
	if err := <-h.ended; err == nil || err.Error() != "hook hang: it did not end within 20ms" {
		t.Errorf("error %v", err)
	}
	if !h.log.has("a hook has not ended in time", "hook=hang") || h.log.has("hook=good") {
		t.Error("the log doesn't name the hook, or names another")
	}
}
