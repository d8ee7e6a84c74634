package access

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin/webhookauth"
	"apigen.dev/runtime/internal/host/kubeconfig"
	"apigen.dev/runtime/internal/request"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	authorizationcel "k8s.io/apiserver/pkg/authorization/cel"
	"k8s.io/apiserver/pkg/endpoints/filters"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	theirtokens "k8s.io/apiserver/plugin/pkg/authenticator/token/webhook"
	theiraccess "k8s.io/apiserver/plugin/pkg/authorizer/webhook"
	"k8s.io/apiserver/plugin/pkg/authorizer/webhook/metrics"
	"k8s.io/client-go/rest"
)

// recorder is a webhook with one answer for both sides.
type recorder struct {
	*httptest.Server

	mu        sync.Mutex // guards the following fields
	answer    func(http.ResponseWriter)
	questions []string
}

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	w := &recorder{}
	w.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		question, _ := io.ReadAll(r.Body)
		w.mu.Lock()
		w.questions = append(w.questions, string(question))
		answer := w.answer
		w.mu.Unlock()
		answer(out)
	}))
	w.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	w.StartTLS()
	t.Cleanup(w.Close)
	return w
}

func (w *recorder) set(answer func(http.ResponseWriter)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
}

// asked returns the questions since the last call, without what a question has no use for: metadata and status.
func (w *recorder) asked(t *testing.T) (questions []any) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, question := range w.questions {
		var object map[string]any
		if err := json.Unmarshal([]byte(question), &object); err != nil {
			t.Fatal(err)
		}
		delete(object, "metadata")
		delete(object, "status")
		questions = append(questions, object)
	}
	w.questions = nil
	return questions
}

func (w *recorder) ca() []byte { return encode("CERTIFICATE", w.Certificate().Raw) }

// endpoint is that of our side.
func (w *recorder) endpoint(t *testing.T) *webhookauth.Endpoint {
	t.Helper()
	u, err := url.Parse(w.URL)
	if err != nil {
		t.Fatal(err)
	}
	endpoint, err := webhookauth.NewEndpoint(&kubeconfig.Config{Server: u, CA: kubeconfig.Source{Data: w.ca()}}, "", 0,
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(endpoint.Close)
	return endpoint
}

// config is that of their side.
func (w *recorder) config() *rest.Config {
	if block, _ := pem.Decode(w.ca()); block == nil {
		panic("no certificate")
	}
	return &rest.Config{Host: w.URL, TLSClientConfig: rest.TLSClientConfig{CAData: w.ca()}, QPS: -1,
		Timeout: 30 * time.Second}
}

var backoff = wait.Backoff{Duration: time.Millisecond, Factor: 1.5, Steps: 5}

func text(body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { _, _ = io.WriteString(w, body) }
}

func failing(code int, contentType, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// common are the answers that both kinds of webhooks may give by mistake.
var common = map[string]func(http.ResponseWriter){
	"nothing": text(""), "another version": text(
		`{"apiVersion":"authorization.k8s.io/v9","kind":"SubjectAccessReview"}`),
	"another kind": text(`{"apiVersion":"v1","kind":"Pod"}`), "no JSON": text("<html>"), "a list": text("[]"),
	"a status": text(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no",` +
		`"reason":"Forbidden","code":403}`),
	"403": failing(403, "text/plain", "go away"),
	"403 with status": failing(403, "application/json",
		`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","reason":"Forbidden","code":403}`),
	"404": failing(404, "application/octet-stream", "\x00"),
	"503": failing(503, "text/html", "<b>later</b>"),
	"301": failing(301, "text/html", ""),
	"401": failing(401, "text/plain", "who"),
	"400": failing(400, "text/plain", "what"),
	"418": failing(418, "text/plain", "teapot"),
}

// A server of ours asks a webhook what k8s.io/apiserver asks, and decides the same.
func TestAccessWebhooks(t *testing.T) {
	hook := newRecorder(t)
	answers := map[string]func(http.ResponseWriter){
		"allowed":    text(`{"status":{"allowed":true,"reason":"r"}}`),
		"not":        text(`{"status":{"allowed":false,"reason":"r"}}`),
		"denied":     text(`{"status":{"denied":true,"reason":"r"}}`),
		"both":       text(`{"status":{"denied":true,"allowed":true}}`),
		"wrong type": text(`{"status":{"allowed":"yes"}}`), "evaluation error": text(
			`{"status":{"evaluationError":"e"}}`),
	}
	for name, answer := range common {
		answers[name] = answer
	}
	paths := []string{
		"GET /metrics", "GET /apis/g/v1/namespaces/ns/widgets/a/status",
		"GET /api/v1/pods?watch=1&fieldSelector=a%3Db,c!%3Dd",
		"GET /apis/g/v1/widgets?labelSelector=x,!y,z+in+(b,a),w!%3D1,v%3E5,u%3D%3D2",
		"POST /apis/g/v1/namespaces/ns/widgets",
		"DELETE /apis/g/v1/widgets?labelSelector=((&fieldSelector=a",
		"GET /apis/g/v1/widgets?fieldSelector=metadata.name%3Dn",
		"PUT /apis/g/v1/widgets/n?fieldSelector=a%3Db", "GET /healthz/%2e",
		"GET /apis/g/v1/widgets?fieldSelector=a%3Db,",
	}
	for _, version := range []string{"v1", "v1beta1"} {
		for name, answer := range answers {
			hook.set(answer)
			for _, path := range paths {
				for _, policy := range []auth.Decision{auth.NoOpinion, auth.Deny} {
					ours, theirs := newAccess(t, hook, version, policy)
					line := strings.Fields(path)
					got := ours(httptest.NewRequest(line[0], line[1], nil))
					gotAsked := hook.asked(t)
					want := theirs(httptest.NewRequest(line[0], line[1], nil))
					if diff := cmp.Diff(hook.asked(t), gotAsked); diff != "" {
						t.Errorf("%s, %s: the questions differ: %s", version, path, diff)
					}
					if got != want && !sameFailure(got, want) {
						t.Errorf("%s, %s, %s:\nours   %+v\ntheirs %+v", version, name, path, got, want)
					}
				}
				if name != "allowed" {
					break // one question is enough
				}
			}
		}
	}
}

// verdict is what one side makes of an answer.
type verdict struct {
	decision    string
	reason, err string
}

// sameFailure reports whether both sides fail with the same decision, in words that differ because one decodes by a
// scheme of types.
func sameFailure(ours, theirs verdict) bool {
	decoded := []string{"no kind", "couldn't get version/kind", "converting", "unable to decode",
		"unexpected end of JSON",
		"invalid character", "cannot unmarshal", "unexpected response", "is not suitable for converting"}
	return ours.decision == theirs.decision && ours.reason == theirs.reason && ours.err != "" &&
		slices.ContainsFunc(decoded, func(text string) bool { return strings.Contains(theirs.err, text) })
}

var alice = struct {
	name, uid string
	groups    []string
	extra     map[string][]string
}{"alice", "7", []string{"dev", "ops"}, map[string][]string{"example.com/k": {"a", "b"}}}

func newAccess(
	t *testing.T, hook *recorder, version string, policy auth.Decision,
) (ours, theirs func(*http.Request) verdict) {
	t.Helper()
	our, err := webhookauth.NewAuthorizer(hook.endpoint(t), webhookauth.Config{
		Version: version, OnFailure: policy, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	onError := map[auth.Decision]authorizer.Decision{
		auth.NoOpinion: authorizer.DecisionNoOpinion, auth.Deny: authorizer.DecisionDeny,
	}[policy]
	their, err := theiraccess.New(hook.config(), version, 0, 0, backoff, onError, nil, "w",
		metrics.NoopAuthorizerMetrics{}, authorizationcel.NewDefaultCompiler())
	if err != nil {
		t.Fatal(err)
	}
	ours = func(r *http.Request) verdict {
		info, err := request.New(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		decision, reason, err := our.Authorize(r.Context(), auth.Attributes{Info: info,
			User: &auth.User{Name: alice.name, UID: alice.uid, Groups: alice.groups, Extra: alice.extra}})
		return verdict{map[auth.Decision]string{auth.Allow: "allow", auth.Deny: "deny"}[decision], reason, wordsOf(err)}
	}
	theirs = func(r *http.Request) verdict {
		resolver := &apirequest.RequestInfoFactory{APIPrefixes: set("api", "apis"), GrouplessAPIPrefixes: set("api")}
		info, err := resolver.NewRequestInfo(r)
		if err != nil {
			t.Fatal(err)
		}
		ctx := apirequest.WithUser(apirequest.WithRequestInfo(r.Context(), info), &user.DefaultInfo{
			Name: alice.name, UID: alice.uid, Groups: alice.groups, Extra: alice.extra})
		attributes, err := filters.GetAuthorizerAttributes(ctx)
		if err != nil {
			t.Fatal(err)
		}
		decision, reason, err := their.Authorize(ctx, attributes)
		return verdict{map[authorizer.Decision]string{
			authorizer.DecisionAllow: "allow", authorizer.DecisionDeny: "deny",
		}[decision], reason, wordsOf(err)}
	}
	return ours, theirs
}

func wordsOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A server of ours asks a webhook about a token what k8s.io/apiserver asks, and finds the same user.
func TestTokenWebhooks(t *testing.T) {
	const found = `"authenticated":true,"user":{"username":"alice","uid":"7","groups":["dev"],"extra":{"k":["v"]}}`
	hook := newRecorder(t)
	answers := map[string]func(http.ResponseWriter){
		"found": text(`{"status":{` + found + `}}`), "not": text(`{"status":{"authenticated":false}}`),
		"its audiences":    text(`{"status":{` + found + `,"audiences":["b","c","a"]}}`),
		"other audiences":  text(`{"status":{` + found + `,"audiences":["x"]}}`),
		"error":            text(`{"status":{"error":"expired"}}`),
		"error, and found": text(`{"status":{"error":"expired",` + found + `}}`),
	}
	for name, answer := range common {
		answers[name] = answer
	}
	for _, version := range []string{"v1", "v1beta1"} {
		for name, answer := range answers {
			hook.set(answer)
			for _, own := range [][]string{nil, {"a"}, {"b", "a"}} {
				ours := askOurs(t, hook, version, own)
				gotAsked := hook.asked(t)
				theirs := askTheirs(t, hook, version, own)
				if diff := cmp.Diff(hook.asked(t), gotAsked); diff != "" {
					t.Errorf("%s, %s: the questions differ: %s", version, name, diff)
				}
				if ours != theirs && !sameFailure(ours, theirs) {
					t.Errorf("%s, %s, %v:\nours   %+v\ntheirs %+v", version, name, own, ours, theirs)
				}
			}
		}
	}
}

func askOurs(t *testing.T, hook *recorder, version string, own []string) verdict {
	t.Helper()
	tokens, err := webhookauth.NewTokens(hook.endpoint(t), version, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := auth.WithAccess(t.Context(), &auth.Access{Audiences: own})
	identity, err := tokens.AuthenticateToken(ctx, "t", nil)
	if identity == nil {
		return verdict{"", "", wordsOf(err)}
	}
	u := identity.User
	return verdict{"found", asText(t, u.Name, u.UID, u.Groups, u.Extra, identity.Audiences), wordsOf(err)}
}

func askTheirs(t *testing.T, hook *recorder, version string, own []string) verdict {
	t.Helper()
	tokens, err := theirtokens.New(hook.config(), version, own, backoff)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if len(own) > 0 {
		ctx = authenticator.WithAudiences(ctx, own)
	}
	response, ok, err := tokens.AuthenticateToken(ctx, "t")
	if !ok {
		return verdict{"", "", wordsOf(err)}
	}
	u := response.User
	return verdict{"found", asText(t, u.GetName(), u.GetUID(), u.GetGroups(), u.GetExtra(),
		[]string(response.Audiences)),
		wordsOf(err)}
}

func asText(t *testing.T, values ...any) string {
	t.Helper()
	out, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(out), "[]", "null")
}

//nolint:staticcheck // SA1019: the factory of k8s.io/apiserver takes this type
func set(values ...string) sets.String { return sets.NewString(values...) }
