package filter

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/request"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// tokens are the users of the tests: the bearer token is the name.
type tokens map[string]*auth.User

func (t tokens) Authenticate(r *http.Request) (*auth.User, error) {
	token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !found {
		return nil, nil
	}
	if user := t[token]; user != nil {
		return user, nil
	}
	return nil, errors.New("unknown")
}

var users = tokens{
	"admin": {Name: "admin", Groups: []string{auth.Masters}},
	"bob":   {Name: "bob"},
}

func isHealth(path string) bool { return path == "/readyz" }

// healthIsPublic lets everybody read /readyz without credentials, and ask for two other paths.
var healthIsPublic = auth.Authentication{FrontProxy: users, Anonymous: func(r *http.Request) *auth.User {
	if isRead(r) && isHealth(r.URL.Path) {
		return auth.AnonymousUser
	}
	return auth.AnonymousAt("/open", "/closed")(r)
}}

// chain is the order of the server, with a handler that tells who arrived.
func chain(handler http.HandlerFunc) http.Handler {
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	return Chain(handler, Recover(log), RequestInfo(nil, nil), Deadline(time.Minute), Authenticate(healthIsPublic, log),
		Impersonate(auth.MastersOnly{}, nil), MaxInFlight(1, 1, isHealth), Authorize(auth.Union{auth.MastersOnly{},
			auth.Paths{"/readyz", "/open"}}))
}

func whoami(w http.ResponseWriter, r *http.Request) {
	user := auth.UserFrom(r.Context())
	_, _ = io.WriteString(w, user.Name+" "+strings.Join(user.Groups, ","))
}

func status(t *testing.T, body string) metav1.Status {
	t.Helper()
	var s metav1.Status
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		t.Fatalf("no status: %v in %q", err, body)
	}
	return s
}

func TestChain(t *testing.T) {
	for _, test := range []struct {
		name, method, path, token string
		header                    http.Header
		code                      int
		body, message             string
	}{
		{name: "admin", path: "/apis/g/v1/things", token: "admin", code: 200,
			body: "admin system:masters,system:authenticated"},
		{name: "nobody", path: "/apis/g/v1/things", code: 401, message: "Unauthorized"},
		{name: "wrong token", path: "/apis/g/v1/things", token: "eve", code: 401, message: "Unauthorized"},
		{name: "nobody asks for health", path: "/readyz", code: 200, body: "system:anonymous system:unauthenticated"},
		{name: "nobody posts health", method: "POST", path: "/readyz", code: 401, message: "Unauthorized"},
		{name: "nobody posts to a path of everybody's", method: "POST", path: "/open", code: 200,
			body: "system:anonymous system:unauthenticated"},
		{name: "wrong token for health", path: "/readyz", token: "eve", code: 401, message: "Unauthorized"},
		{name: "bob asks for health", path: "/readyz", token: "bob", code: 200, body: "bob system:authenticated"},
		{name: "nobody reads what is not allowed", path: "/closed", code: 403,
			message: `forbidden: User "system:anonymous" cannot get path "/closed"`},
		{name: "bob lists", path: "/apis/g/v1/namespaces/n/things", token: "bob", code: 403,
			message: `things.g is forbidden: User "bob" cannot list resource "things" in API group "g" in the ` +
				`namespace "n"`},
		{name: "bob gets a status", path: "/apis/g/v1/things/a/status", token: "bob", code: 403,
			message: `things.g "a" is forbidden: User "bob" cannot get resource "things/status" in API group "g" at ` +
				`the cluster scope`},
		{name: "bob reads metrics", path: "/metrics", token: "bob", code: 403,
			message: `forbidden: User "bob" cannot get path "/metrics"`},
		{name: "a bad timeout", path: "/apis/g/v1/things?timeout=soon", token: "admin", code: 400,
			message: `invalid timeout specified in the request URL - time: invalid duration "soon"`},
		{name: "admin as bob", path: "/apis/g/v1/things", token: "admin",
			header: http.Header{"Impersonate-User": {"bob"}}, code: 403,
			message: `things.g is forbidden: User "bob" cannot list resource "things" in API group "g" at the ` +
				`cluster scope`},
		{name: "admin as another admin", path: "/x", token: "admin",
			header: http.Header{"Impersonate-User": {"root"}, "Impersonate-Group": {auth.Masters}},
			code:   200, body: "root system:masters,system:authenticated"},
		{name: "bob as admin", path: "/x", token: "bob", header: http.Header{"Impersonate-User": {"admin"}}, code: 403,
			message: `forbidden: User "bob" cannot impersonate-on:user-info:get path "/x"`},
		{name: "a group without a user", path: "/x", token: "admin",
			header: http.Header{"Impersonate-Group": {"g"}}, code: 400,
			message: "requested Impersonate-Group, Impersonate-Uid or Impersonate-Extra- without impersonating a user"},
	} {
		t.Run(test.name, func(t *testing.T) {
			method := test.method
			if method == "" {
				method = "GET"
			}
			r := httptest.NewRequest(method, test.path, nil)
			for name, values := range test.header {
				r.Header[name] = values
			}
			if test.token != "" {
				r.Header.Set("Authorization", "Bearer "+test.token)
			}
			w := httptest.NewRecorder()
			chain(whoami).ServeHTTP(w, r)
			if w.Code != test.code {
				t.Fatalf("code %d, want %d: %s", w.Code, test.code, w.Body)
			}
			if test.body != "" && w.Body.String() != test.body {
				t.Errorf("answer %q, want %q", w.Body, test.body)
			}
			if test.message != "" {
				if s := status(t, w.Body.String()); s.Message != test.message || int(s.Code) != test.code {
					t.Errorf("status %d %q, want %q", s.Code, s.Message, test.message)
				}
			}
		})
	}
}

// The credentials of a request go no further than authentication.
func TestCredentialsAreRemoved(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/x", nil)
	r.Header.Set("Authorization", "Bearer admin")
	r.Header.Set("Impersonate-User", "root")
	r.Header.Set("Impersonate-Group", auth.Masters)
	r.Header.Set("Impersonate-Extra-Scope", "a")
	chain(func(_ http.ResponseWriter, r *http.Request) {
		for name := range r.Header {
			if name == "Authorization" || strings.HasPrefix(name, "Impersonate-") {
				t.Errorf("the handler saw %s", name)
			}
		}
	}).ServeHTTP(httptest.NewRecorder(), r)
}

func TestPanicIsAnswered(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/x", nil)
	r.Header.Set("Authorization", "Bearer admin")
	w := httptest.NewRecorder()
	chain(func(http.ResponseWriter, *http.Request) { panic("secret detail") }).ServeHTTP(w, r)
	if w.Code != 500 || strings.Contains(w.Body.String(), "secret") || strings.Contains(w.Body.String(), "goroutine") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// A panic behind the beginning of an answer aborts the connection: nobody must take half an answer for a whole one.
func TestPanicAfterAnswerAborts(t *testing.T) {
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
			t.Errorf("recovered %v, want http.ErrAbortHandler", err)
		}
	}()
	r := httptest.NewRequest(http.MethodGet, "/x", nil)
	r.Header.Set("Authorization", "Bearer admin")
	chain(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")
		panic("then")
	}).ServeHTTP(httptest.NewRecorder(), r)
}

func TestMaxInFlight(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	handler := Chain(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/block" {
			close(entered)
			<-leave
		}
	}), MaxInFlight(1, 1, isHealth))
	serve := func(method, path string, user *auth.User) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, nil)
		r = r.WithContext(request.WithInfo(auth.WithUser(r.Context(), user), &request.Info{Path: path}))
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
	done := make(chan struct{})
	go func() { defer close(done); serve("GET", "/block", users["bob"]) }()
	<-entered
	if w := serve("GET", "/x", users["bob"]); w.Code != 429 || w.Header().Get("Retry-After") == "" {
		t.Errorf("a second read: %d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
	}
	if w := serve("POST", "/x", users["bob"]); w.Code != 200 {
		t.Errorf("a write beside a read: %d", w.Code)
	}
	if w := serve("GET", "/x", users["admin"]); w.Code != 200 {
		t.Errorf("an administrator's read: %d", w.Code)
	}
	if w := serve("GET", "/readyz", nil); w.Code != 200 {
		t.Errorf("a question for health: %d", w.Code)
	}
	close(leave)
	<-done
	if w := serve("GET", "/x", users["bob"]); w.Code != 200 {
		t.Errorf("a read after the other ended: %d", w.Code)
	}
}

func TestDrain(t *testing.T) {
	drain := NewDrain(Ending{})
	entered, leave := make(chan struct{}, 2), make(chan struct{})
	watchEnded := make(chan struct{})
	handler := Chain(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			entered <- struct{}{}
			<-leave
		case "/watch":
			entered <- struct{}{}
			<-r.Context().Done()
			close(watchEnded)
		}
	}), drain.Filter(isHealth))
	serve := func(path string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		info := &request.Info{Path: path, IsResource: path == "/watch", Verb: "watch", LongRunning: path == "/watch"}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r.WithContext(request.WithInfo(r.Context(), info)))
		return w
	}
	slowEnded := make(chan int)
	go func() { slowEnded <- serve("/slow").Code }()
	go serve("/watch")
	<-entered
	<-entered
	drain.Start()
	<-watchEnded
	if w := serve("/new"); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("a new request: %d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
	}
	if w := serve("/readyz"); w.Code != 200 {
		t.Errorf("health: %d", w.Code)
	}
	short, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := drain.Wait(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting while a request is under way: %v", err)
	}
	close(leave)
	if code := <-slowEnded; code != 200 {
		t.Errorf("the request under way ended with %d", code)
	}
	if err := drain.Wait(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestObserve(t *testing.T) {
	var seen []Observation
	handler := Chain(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/teapot":
			w.WriteHeader(http.StatusTeapot)
		case "/panic":
			panic("x")
		}
		_, _ = io.WriteString(w, "body")
	}), Recover(slog.New(slog.NewTextHandler(io.Discard, nil))), RequestInfo(nil, nil), Observe(func(o Observation) {
		seen = append(seen, o)
	}))
	for _, path := range []string{"/ok", "/teapot", "/panic"} {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
	}
	for i, want := range []int{200, 418, 500} {
		if seen[i].Code != want || seen[i].Info == nil {
			t.Errorf("observation %d: %+v, want code %d", i, seen[i], want)
		}
	}
}

// Deleting what can't be read needs a verb of its own.
func TestMayDeleteUnreadable(t *testing.T) {
	var verbs []string
	may := MayDeleteUnreadable(authorizerFunc(func(a auth.Attributes) auth.Decision {
		verbs = append(verbs, a.Verb+" "+a.Resource+" "+a.Name)
		if a.User.Name == "admin" {
			return auth.Allow
		}
		return auth.NoOpinion
	}))
	handler := chain(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"admin", "bob"} {
			err := may(r.WithContext(auth.WithUser(r.Context(), users[name])))
			if (err == nil) != (name == "admin") {
				t.Errorf("%s: %v", name, err)
			}
			if err != nil && !strings.Contains(err.Error(),
				`User "bob" cannot unsafe-delete-ignore-read-errors resource "things" in API group "g"`) {
				t.Error(err)
			}
		}
	})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodDelete, "/apis/g/v1/things/a", nil)
	r.Header.Set("Authorization", "Bearer admin")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	if w.Code != http.StatusOK || len(verbs) != 2 || verbs[0] != "unsafe-delete-ignore-read-errors things a" {
		t.Errorf("%d %s, asked %v", w.Code, w.Body, verbs)
	}
}

type authorizerFunc func(a auth.Attributes) auth.Decision

func (f authorizerFunc) Authorize(_ context.Context, a auth.Attributes) (auth.Decision, string, error) {
	return f(a), "", nil
}

// Why credentials are refused is nobody's business but the operator's.
func TestRefusedCredentialsAreTold(t *testing.T) {
	var heard strings.Builder
	log := slog.New(slog.NewTextHandler(&heard, &slog.HandlerOptions{Level: slog.LevelDebug}))
	handler := Chain(http.HandlerFunc(whoami), Authenticate(users, log))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/apis", nil)
	r.Header.Set("Authorization", "Bearer eve")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	if w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "unknown") ||
		!strings.Contains(heard.String(), "error=unknown") {
		t.Errorf("%d %s, the log has %q", w.Code, w.Body, heard.String())
	}
}
