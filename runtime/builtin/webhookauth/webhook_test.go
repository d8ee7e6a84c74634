package webhookauth

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/host/kubeconfig"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/review"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// start returns an endpoint at an HTTPS server, which repeats without delay.
func start(t *testing.T, handler http.HandlerFunc) *Endpoint {
	t.Helper()
	endpoint, err := NewEndpoint(serve(t, handler), "", 0, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(endpoint.Close)
	endpoint.backoff.Duration = time.Microsecond
	return endpoint
}

func serve(t *testing.T, handler http.HandlerFunc) *kubeconfig.Config {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return &kubeconfig.Config{Server: u.JoinPath("review"), CA: kubeconfig.Source{Data: ca}}
}

// answers returns a handler that writes a text, and keeps the questions.
func answers(text string, questions *[]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		question, _ := io.ReadAll(r.Body)
		*questions = append(*questions, r.Method+" "+r.URL.String()+" "+string(question))
		_, _ = io.WriteString(w, text)
	}
}

func newAuthorizer(t *testing.T, endpoint *Endpoint, config Config) *Authorizer {
	t.Helper()
	config.Log = slog.New(slog.DiscardHandler)
	authorizer, err := NewAuthorizer(endpoint, config)
	if err != nil {
		t.Fatal(err)
	}
	return authorizer
}

func newTokens(t *testing.T, endpoint *Endpoint, version string, ttl time.Duration) auth.TokenAuthenticator {
	t.Helper()
	tokens, err := NewTokens(endpoint, version, ttl, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

var alice = &auth.User{Name: "alice", UID: "7", Groups: []string{"dev"}, Extra: map[string][]string{"k": {"v"}}}

func TestQuestionAboutAccess(t *testing.T) {
	list := &request.Info{
		IsResource: true, Verb: "list", Group: "shop.example.com", Version: "v1", Resource: "widgets", Namespace: "ns",
		Subresource: "status", Name: "n", FieldSelector: "spec.a=1,spec.b!=2",
		LabelSelector: "x,!y,z in (2,1),w notin (3),v>5,u=6",
	}
	const user = `"user":"alice","%s":["dev"],"extra":{"k":["v"]},"uid":"7"`
	for name, test := range map[string]struct {
		version string
		info    *request.Info
		want    string
	}{
		"resource": {"v1", list, `{"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","spec":{` +
			`"resourceAttributes":{"namespace":"ns","verb":"list","group":"shop.example.com","version":"v1",` +
			`"resource":"widgets","subresource":"status","name":"n",` +
			`"fieldSelector":{"requirements":[{"key":"spec.a","operator":"In","values":["1"]},` +
			`{"key":"spec.b","operator":"NotIn","values":["2"]}]},` +
			`"labelSelector":{"requirements":[{"key":"u","operator":"In","values":["6"]},` +
			`{"key":"w","operator":"NotIn","values":["3"]},{"key":"x","operator":"Exists"},` +
			`{"key":"y","operator":"DoesNotExist"},{"key":"z","operator":"In","values":["1","2"]}]}},` +
			fmt.Sprintf(user, "groups") + `}}`},
		"path": {"v1beta1", &request.Info{Verb: "get", Path: "/metrics"},
			`{"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1beta1","spec":{` +
				`"nonResourceAttributes":{"path":"/metrics","verb":"get"},` + fmt.Sprintf(user, "group") + `}}`},
		"wrong selectors": {"v1", &request.Info{IsResource: true, FieldSelector: "a", LabelSelector: "(", Verb: "list"},
			`{"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","spec":{` +
				`"resourceAttributes":{"verb":"list"},` + fmt.Sprintf(user, "groups") + `}}`},
	} {
		var questions []string
		authorizer := newAuthorizer(t, start(t, answers(`{"status":{"allowed":true}}`, &questions)),
			Config{Version: test.version})
		got, _, err := authorizer.Authorize(t.Context(), auth.Attributes{User: alice, Info: test.info})
		if got != auth.Allow || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if want := "POST /review?timeout=30s " + test.want; len(questions) != 1 || questions[0] != want {
			t.Errorf("%s: asked\n%s\nwant\n%s", name, questions, want)
		}
	}
}

var get = &request.Info{Verb: "get", Path: "/metrics"}

func TestAnswersAboutAccess(t *testing.T) {
	for answer, want := range map[string]struct {
		decision auth.Decision
		reason   string
		err      string
	}{
		`{"status":{"allowed":true,"reason":"because"}}`: {auth.Allow, "because", ""},
		`{"status":{"allowed":false,"reason":"unknown"}}`: {auth.NoOpinion, "unknown",
			""},
		`{"status":{"denied":true,"reason":"never"}}`: {auth.Deny, "never", ""},
		`{"status":{"denied":true,"allowed":true}}`: {auth.Deny, "",
			"both allow and deny"},
		`{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview"}`: {auth.NoOpinion, "", ""},
		`{"apiVersion":"authorization.k8s.io/v1beta1","status":{"allowed":true}}`: {0, "",
			"want a SubjectAcc"},
		`{"kind":"TokenReview","status":{"allowed":true}}`:                                 {0, "", `"TokenReview"`},
		`{"status":{"Allowed":true}}`:                                                      {0, "", ""},
		`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","code":403}`: {0, "", "no"},
		`{"kind":"Status","apiVersion":"v1","status":"Success"}`: {0, "",
			"want a SubjectAcc"},
		`k8s` + "\x00" + `protobuf`: {0, "", "no JSON object"},
		``: {0, "",
			"0-length response with status code: 200"},
		`[]`: {0, "", "no JSON object"},
		`{"status":{"allowed":"true"}}`: {0, "",
			"the answer of the webhook"},
		`<html>` + strings.Repeat("x", 100):    {0, "", "no JSON object"},
		`{"status":{"allowed":true}} trailing`: {0, "", "no JSON object"},
	} {
		for _, policy := range []auth.Decision{auth.NoOpinion, auth.Deny} {
			authorizer := newAuthorizer(t, start(t, answers(answer, new([]string))),
				Config{Version: "v1", OnFailure: policy})
			decision, reason, err := authorizer.Authorize(t.Context(), auth.Attributes{User: alice, Info: get})
			wanted := want.decision
			if want.err != "" && wanted == auth.NoOpinion {
				wanted = policy
			}
			if decision != wanted || reason != want.reason || (err == nil) != (want.err == "") ||
				err != nil && !strings.Contains(err.Error(), want.err) {
				t.Errorf("%s: %v, %q, %v; want %v", answer, decision, reason, err, want)
			}
		}
	}
}

// Whatever a server does hurts the one review, within its deadline and in bounded memory.
func TestHostileServers(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done() // until the client gives up
		panic(http.ErrAbortHandler)
	}
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		err     string
		tries   int64
	}{
		"200 MB": {func(w http.ResponseWriter, _ *http.Request) {
			chunk := bytes.Repeat([]byte("x"), 1<<20)
			for range 200 {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}, kubeconfig.ErrTooLarge.Error(), 1},
		"hangs": {hang, "deadline exceeded", 1},
		"hangs in body": {func(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush(); hang(w, r) },
			"deadline", 1},
		"resets": {reset, "reset", 5},
		"closes": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF", 1},
		"redirects": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/x",
				http.StatusTemporaryRedirect)
		}, "307", 1},
		"huge header": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("A",
				strings.Repeat("x", 2<<20))
		}, "header", 1},
		"500":            {code(500, ""), "an error on the server", 5},
		"504":            {code(504, ""), "time allotted", 5},
		"429":            {code(429, ""), "too many requests", 5},
		"503 with delay": {code(503, "1"), "unable to handle the request", 5},
		"503":            {code(503, ""), "unable to handle the request", 1},
		"404":            {code(404, ""), "could not find", 1},
		"401":            {code(401, ""), "provide credentials", 1},
	} {
		t.Run(name, func(t *testing.T) {
			var tries atomic.Int64
			endpoint := start(t, func(w http.ResponseWriter, r *http.Request) {
				tries.Add(1)
				_, _ = io.Copy(io.Discard, r.Body)
				test.handler(w, r)
			})
			ctx := t.Context()
			if strings.HasPrefix(name, "hangs") {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
				defer cancel()
			}
			decision, _, err := newAuthorizer(t, endpoint, Config{Version: "v1"}).Authorize(ctx,
				auth.Attributes{User: alice, Info: get})
			if decision != auth.NoOpinion || err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%v, %v; want %q", decision, err, test.err)
			}
			if n := tries.Load(); n != test.tries && !strings.HasPrefix(name,
				"hangs") { // its time may end before a try
				t.Errorf("%d tries, want %d", n, test.tries)
			}
		})
	}
}

func code(status int, retryAfter string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(status)
	}
}

func reset(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	inner := conn.(interface{ NetConn() net.Conn }).NetConn().(*net.TCPConn)
	_ = inner.SetLinger(0)
	_ = inner.Close()
}

func TestTryHasATimeout(t *testing.T) {
	release := make(chan struct{})
	endpoint := start(t, func(http.ResponseWriter, *http.Request) { <-release })
	t.Cleanup(func() { close(release) })
	endpoint.timeout = 20 * time.Millisecond
	_, _, err := newAuthorizer(t, endpoint, Config{Version: "v1"}).Authorize(t.Context(),
		auth.Attributes{User: alice, Info: get})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestAccessIsKept(t *testing.T) {
	for answer, ttl := range map[string]time.Duration{
		`{"status":{"allowed":true}}`: time.Minute, `{"status":{"allowed":false}}`: time.Second,
	} {
		var questions []string
		authorizer := newAuthorizer(t, start(t, answers(answer, &questions)),
			Config{Version: "v1", AuthorizedTTL: time.Minute, UnauthorizedTTL: time.Second})
		now := time.Now()
		authorizer.answers.now = func() time.Time { return now }
		ask := func(want int, a auth.Attributes) {
			t.Helper()
			if _, _, err := authorizer.Authorize(t.Context(), a); err != nil || len(questions) != want {
				t.Errorf("%d questions, want %d: %v", len(questions), want, err)
			}
		}
		ask(1, auth.Attributes{User: alice, Info: get})
		now = now.Add(ttl - 1)
		ask(1, auth.Attributes{User: alice, Info: get})
		ask(2, auth.Attributes{User: &auth.User{Name: "alice"}, Info: get})
		ask(3, auth.Attributes{User: alice, Info: &request.Info{Verb: "get", Path: "/metric"}})
		now = now.Add(1)
		ask(4, auth.Attributes{User: alice, Info: get})
		long := &request.Info{Verb: "get", Path: strings.Repeat("x", keptRequest)}
		ask(5, auth.Attributes{User: alice, Info: long})
		ask(6, auth.Attributes{User: alice, Info: long})
	}
}

func TestLargeReasonsAreNotKept(t *testing.T) {
	var questions []string
	reason := strings.Repeat("r", keptReason+1)
	authorizer := newAuthorizer(t, start(t, answers(`{"status":{"allowed":true,"reason":"`+reason+`"}}`, &questions)),
		Config{Version: "v1", AuthorizedTTL: time.Minute})
	for range 2 {
		if _, got, _ := authorizer.Authorize(t.Context(), auth.Attributes{Info: get}); got != reason {
			t.Errorf("%.20q", got)
		}
	}
	if len(questions) != 2 {
		t.Errorf("%d questions", len(questions))
	}
}

func TestMatch(t *testing.T) {
	broken := errors.New("broken")
	for _, test := range []struct {
		matches bool
		err     error
		want    auth.Decision
		asked   int
	}{{true, nil, auth.Allow, 1}, {false, nil, auth.NoOpinion, 0}, {false, broken, auth.Deny, 0}} {
		var questions []string
		authorizer := newAuthorizer(t, start(t, answers(`{"status":{"allowed":true}}`, &questions)), Config{
			Version: "v1", OnFailure: auth.Deny,
			Match: func(_ context.Context, spec *AccessReviewSpec) (bool, error) {
				return test.matches && spec.User == "alice", test.err
			},
		})
		got, _, err := authorizer.Authorize(t.Context(), auth.Attributes{User: alice, Info: get})
		if got != test.want || !errors.Is(err, test.err) || len(questions) != test.asked {
			t.Errorf("%v, %v, %d questions; want %v", got, err, len(questions), test)
		}
	}
}

func TestReviewsOfTokens(t *testing.T) {
	const found = `"authenticated":true,"user":{"username":"alice","uid":"7","groups":["dev"],"extra":{"k":["v"]}}`
	for _, test := range []struct {
		name           string
		own, audiences []string
		answer         string
		asked          string
		user           bool
		valid          string
		err            string
	}{
		{"found", nil, nil, found, `"t"}`, true, "", ""},
		{"own", []string{"a"}, nil, found, `"t","audiences":["a"]}`, true, "a", ""},
		{"its audiences", []string{"a", "b"}, nil, found + `,"audiences":["b","c"]`, `"t","audiences":["a","b"]}`, true,
			"b", ""},
		{"other audiences", []string{"a"}, nil, found + `,"audiences":["c"]`, `"t","audiences":["a"]}`, false, "", ""},
		{"asked audiences", []string{"a"}, []string{"x"}, found + `,"audiences":["x"]`, `"t","audiences":["x"]}`, true,
			"x", ""},
		{"asked, unknown to the webhook", []string{"a"}, []string{"x"}, found, `"t","audiences":["x"]}`, false, "", ""},
		{"not found", nil, nil, `"authenticated":false`, `"t"}`, false, "", ""},
		{"wrong", nil, nil, `"error":"expired"`, `"t"}`, false, "", "expired"},
		{"without a name", nil, nil, `"authenticated":true`, `"t"}`, false, "", "without a name"},
	} {
		for _, version := range []string{"v1", "v1beta1"} {
			var questions []string
			tokens := newTokens(t, start(t, answers(`{"status":{`+test.answer+`}}`, &questions)), version, 0)
			ctx := auth.WithAccess(t.Context(), &auth.Access{Audiences: test.own})
			got, err := tokens.AuthenticateToken(ctx, "t", test.audiences)
			if (got != nil) != test.user || (err == nil) != (test.err == "") || err != nil && err.Error() != test.err &&
				!strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: %v, %v", test.name, got, err)
			}
			if got != nil && (fmt.Sprint(got.User) != fmt.Sprint(alice) ||
				strings.Join(got.Audiences, ",") != test.valid) {
				t.Errorf("%s: %v, %v", test.name, got.User, got.Audiences)
			}
			want := `POST /review?timeout=30s {"kind":"TokenReview","apiVersion":"authentication.k8s.io/` + version +
				`","spec":{"token":` + test.asked + `}`
			if len(questions) != 1 || questions[0] != want {
				t.Errorf("%s: asked %s, want %s", test.name, questions, want)
			}
		}
	}
}

func TestTokensAreKept(t *testing.T) {
	var asked atomic.Int64
	var fails, unknown atomic.Bool
	tokens := newTokens(t, start(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		if fails.Load() {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprintf(w, `{"status":{"authenticated":%t,"user":{"username":"alice"}}}`, !unknown.Load())
	}), "v1", time.Minute)
	ask := func(want int64, token string, audiences ...string) {
		t.Helper()
		identity, err := tokens.AuthenticateToken(t.Context(), token, audiences)
		if fails.Load() == (err == nil) || err == nil && len(audiences) == 0 && (identity == nil) != unknown.Load() {
			t.Errorf("%v, %v", identity, err)
		}
		if n := asked.Load(); n != want {
			t.Errorf("%d questions, want %d", n, want)
		}
	}
	ask(1, "t")
	ask(1, "t")
	ask(2, "u")
	ask(3, "t", "a")
	ask(3, "t", "a")
	unknown.Store(true)
	ask(4, "x")
	ask(4, "x")
	fails.Store(true)
	ask(5, "v")
	ask(6, "v")
}

// Requests with one token share a review, and none of them waits longer than it may.
func TestReviewsAreShared(t *testing.T) {
	release, asked := make(chan struct{}), make(chan struct{}, 8)
	tokens := newTokens(t, start(t, func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		<-release
		_, _ = io.WriteString(w, `{"status":{"authenticated":true,"user":{"username":"alice"}}}`)
	}), "v1", time.Minute)
	hurried, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if _, err := tokens.AuthenticateToken(hurried, "t", nil); !errors.Is(err, context.Canceled) {
			t.Errorf("the one that goes: %v", err)
		}
	})
	<-asked
	cancel()
	waiting.Wait()
	for range 4 {
		waiting.Go(func() {
			if identity, err := tokens.AuthenticateToken(t.Context(), "t", nil); err != nil || identity == nil {
				t.Errorf("%v, %v", identity, err)
			}
		})
	}
	close(release)
	waiting.Wait()
	if n := len(asked); n != 0 {
		t.Errorf("%d more reviews", n)
	}
}

func TestCacheIsBounded(t *testing.T) {
	c := newCache[int]()
	key := func(i int) digest { return digest{byte(i), byte(i >> 8), byte(i >> 16)} }
	for i := range cacheSize + 10 {
		c.put(key(i), i, time.Minute)
		c.get(key(0))
	}
	if len(c.entries) != cacheSize || c.used.Len() != cacheSize {
		t.Errorf("%d entries, %d", len(c.entries), c.used.Len())
	}
	if _, ok := c.get(key(0)); !ok {
		t.Error("the entry that was used is gone")
	}
	if _, ok := c.get(key(5)); ok {
		t.Error("the entry that was used longest ago is there")
	}
	c.put(key(1<<20), 1, 0)
	if _, ok := c.get(key(1 << 20)); ok {
		t.Error("an entry is kept for no time")
	}
}

func TestVersions(t *testing.T) {
	const want = `version "v2", supported versions are "v1", "v1beta1"`
	if _, err := NewTokens(nil, "v2", 0, nil); err == nil || err.Error() != "unsupported authentication webhook "+want {
		t.Error(err)
	}
	if _, err := NewAuthorizer(nil, Config{Version: "v2"}); err == nil ||
		err.Error() != "unsupported webhook authorizer "+want {
		t.Error(err)
	}
}

func decodeAs[A any](body []byte, kind schema.GroupVersionKind) (answer A, err error) {
	err = review.Decode(body, kind, &answer)
	return answer, err
}

// An answer is decoded or refused.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","status":{"allowed":true}}`))
	f.Add([]byte(`{"status":{"authenticated":true,"user":{"username":"a","extra":{"k":["v"]}},"audiences":["x"]}}`))
	f.Add([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","details":{"retryAfterSeconds":1}}`))
	access, tokens := (&Authorizer{}).kind, (&tokens{}).kind
	access.Kind, access.Version, access.Group = "SubjectAccessReview", "v1", "authorization.k8s.io"
	tokens.Kind, tokens.Version, tokens.Group = "TokenReview", "v1", "authentication.k8s.io"
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := decodeAs[accessAnswer](body, access); err == nil && !json.Valid(body) {
			t.Error("it is no JSON")
		} else {
			_ = mayPass(err)
		}
		answer, err := decodeAs[tokenAnswer](body, tokens)
		if err != nil {
			return
		}
		identity, err := identityOf(&answer.Status, []string{"x"}, nil)
		if identity != nil && (err != nil || identity.User.Name == "" || !answer.Status.Authenticated) {
			t.Errorf("%v, %v", identity, err)
		}
	})
}

func writeKubeconfig(t *testing.T, config *kubeconfig.Config) string {
	t.Helper()
	content, err := kubeconfig.Login{Name: "w", Server: config.Server.String(), CA: config.CA.Data}.YAML()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
