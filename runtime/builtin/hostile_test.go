package builtin_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin/webhookauth"
	"apigen.dev/runtime/internal/audit/backend"
	"apigen.dev/runtime/internal/audit/trail"
	"apigen.dev/runtime/internal/host/kubeconfig"
	"apigen.dev/runtime/internal/request"
)

// peer is a server that this one asks: an honest one of widgets, until it turns hostile at some of its paths.
type peer struct {
	*httptest.Server

	mu      sync.Mutex // guards the following fields
	hostile http.HandlerFunc
	at      func(path string) bool
	asked   map[string]int // while it was hostile, by path
	most    int            // bytes that one endless answer has had
}

func startPeer(t *testing.T) *peer {
	t.Helper()
	p := &peer{asked: map[string]int{}}
	p.Server = httptest.NewUnstartedServer(p)
	p.Config.ErrorLog = log.New(io.Discard, "", 0)
	p.StartTLS()
	t.Cleanup(p.Close)
	return p
}

// turn makes the peer hostile at paths, and forgets what it was asked.
func (p *peer) turn(how http.HandlerFunc, at func(path string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hostile, p.at, p.asked = how, at, map[string]int{}
}

func (p *peer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	hostile := p.hostile
	if hostile == nil || !p.at(r.URL.Path) {
		hostile = nil
	} else {
		p.asked[r.URL.Path]++
	}
	p.mu.Unlock()
	if hostile != nil {
		_, _ = io.Copy(io.Discard, r.Body) // only then it notices that the client has gone
		hostile(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, map[bool]string{
		true: `{"kind":"APIResourceList","groupVersion":"shop.example.com/v1","resources":[
{"name":"widgets","kind":"Widget","namespaced":true,"verbs":["list","delete"]}]}`, false: `{"metadata":{},"items":[]}`,
	}[r.URL.Path == "/apis/shop.example.com/v1"])
}

func (p *peer) timesAsked(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked[path]
}

// endless is an answer of 500 MB, which begins like a document.
func (p *peer) endless(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	sent := 0
	for chunk := bytes.Repeat([]byte("["), 1<<20); sent < 500<<20; {
		n, err := w.Write(chunk)
		if sent += n; err != nil {
			break
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most = max(p.most, sent)
}

// mostSent is the size of the largest of what readers took of endless answers, in bytes.
func (p *peer) mostSent() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.most
}

// largest bounds what may be taken of an endless answer: a document of 32 MiB, and what connections hold.
const largest = 64 << 20

func (p *peer) ca() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw})
}

func hang(_ http.ResponseWriter, r *http.Request) {
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

// another answers a document that nobody asked for.
func another(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"stolen"},"data":{"a":"Yg=="}}`)
}

func redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusTemporaryRedirect) }
}

// untouched returns the address of a server that nobody should ask.
func untouched(t *testing.T) string {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect was followed: %s %s %v", r.Method, r.URL, r.Header)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// review reports how a question to a peer failed, "" if it didn't.
type review func(ctx context.Context) (failure string)

// reviews are the questions that a server asks webhooks, each of which has so much time.
func reviews(t *testing.T, front *apitest.Server, p *peer, within time.Duration) map[string]review {
	t.Helper()
	u, err := url.Parse(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	config := &kubeconfig.Config{Server: u.JoinPath("review"), CA: kubeconfig.Source{Data: p.ca()}, Token: "secret"}
	endpoint, err := webhookauth.NewEndpoint(config, "", within, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(endpoint.Close)
	tokens, err := webhookauth.NewTokens(endpoint, "v1", 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	authorizer, err := webhookauth.NewAuthorizer(endpoint, webhookauth.Config{Version: "v1", Log: log})
	if err != nil {
		t.Fatal(err)
	}
	client, err := config.Client(log, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	events := backend.Webhook{Client: client, URL: config.Server.String(), Timeout: within}
	event := []byte(trail.Head + `"auditID":"a"}`)
	attributes := auth.Attributes{User: &auth.User{Name: "alice"}, Info: &request.Info{Verb: "get", Path: "/x"}}
	write := func(context.Context) string {
		return refusal(t, front, http.MethodPost,
			"/api/v1/namespaces/default/configmaps?dryRun=All&timeout="+within.String(),
			`{"metadata":{"generateName":"x"}}`)
	}
	return map[string]review{
		"TokenReview": func(ctx context.Context) string {
			identity, err := tokens.AuthenticateToken(ctx, "token", nil)
			if identity != nil {
				return ""
			}
			return fmt.Sprint(err)
		},
		"SubjectAccessReview": func(ctx context.Context) string {
			decision, _, err := authorizer.Authorize(ctx, attributes)
			if decision != auth.NoOpinion {
				return ""
			}
			return fmt.Sprint(err)
		},
		"audit": func(ctx context.Context) string {
			if err := events.Deliver(ctx, [][]byte{event}); err != nil {
				return err.Error()
			}
			return ""
		},
		"admission": write,
		"conversion": func(context.Context) string {
			return refusal(t, front, http.MethodGet, "/apis/shop.example.com/v2/cables?timeout="+within.String(), "")
		},
	}
}

// refusal sends a request, and returns an answer that is a failure.
func refusal(t *testing.T, s *apitest.Server, method, path, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := s.Client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode < http.StatusBadRequest {
		return ""
	}
	return fmt.Sprint(response.StatusCode, " ", string(text))
}

const (
	definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	hooks       = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
)

// registerWebhooks makes a server ask webhooks at an address: one of admission about config maps, and one of conversion
// about an object that it has.
func registerWebhooks(t *testing.T, s *apitest.Server, address string, ca []byte) {
	t.Helper()
	client := fmt.Sprintf(`"clientConfig":{"url":%q,"caBundle":%q}`, address, base64.StdEncoding.EncodeToString(ca))
	until(t, s, http.MethodPost, definitions, `{"apiVersion":"apiextensions.k8s.io/v1",
"kind":"CustomResourceDefinition","metadata":{"name":"cables.shop.example.com"},"spec":{"group":"shop.example.com",
"scope":"Cluster","names":{"kind":"Cable","plural":"cables"},"conversion":{"strategy":"Webhook","webhook":{
"conversionReviewVersions":["v1"],`+client+`}},"versions":[
{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}},
{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`, http.StatusCreated)
	until(t, s, http.MethodPost, "/apis/shop.example.com/v1/cables",
		`{"apiVersion":"shop.example.com/v1","kind":"Cable","metadata":{"name":"c"}}`, http.StatusCreated)
	until(t, s, http.MethodPost, hooks, `{"metadata":{"name":"v"},"webhooks":[{"name":"v.example.com",`+client+`,
"sideEffects":"None","admissionReviewVersions":["v1"],"rules":[{"operations":["CREATE"],"apiGroups":[""],
"apiVersions":["v1"],"resources":["configmaps"],"scope":"Namespaced"}]}]}`, http.StatusCreated)
	until(t, s, http.MethodPost, "/api/v1/namespaces/default/configmaps?dryRun=All", `{"metadata":{"name":"x"}}`,
		http.StatusInternalServerError) // the configuration is in force
}

// TestHostileWebhooks: whatever a webhook answers that isn't its review is a failure, costs bounded bytes and time, and
// leads the server, with its credentials and what it sends, nowhere else.
func TestHostileWebhooks(t *testing.T) {
	front := complete(t)
	p, elsewhere := startPeer(t), untouched(t)
	every := func(string) bool { return true }
	p.turn(another, every)
	registerWebhooks(t, front, p.URL+"/review", p.ca())
	// One that hangs gets little time. It may pass before the webhook is asked.
	patient, quick := reviews(t, front, p, 30*time.Second), reviews(t, front, p, 100*time.Millisecond)
	for name, how := range map[string]http.HandlerFunc{
		"redirects to another host": redirect(elsewhere + "/x"),
		"redirects to this server":  redirect(front.URL + "/api/v1/namespaces"),
		"redirects to itself":       redirect("/again"),
		"sends 500 MB":              p.endless,
		"hangs":                     hang,
		"answers something else":    another,
	} {
		all := patient
		if name == "hangs" {
			all = quick
		}
		for what, ask := range all {
			if what == "conversion" && name == "hangs" {
				continue // it has half a minute: apiextensions.TestHangingConversion
			}
			p.turn(how, every)
			failure := ask(t.Context())
			codeAlone := what == "audit" && (name == "sends 500 MB" || name == "answers something else")
			if (failure == "") != codeAlone {
				t.Errorf("%s, the webhook %s: the failure is %q", what, name, failure)
			}
			if strings.Contains(failure, "Yg==") {
				t.Errorf("%s, the webhook %s: %s", what, name, failure)
			}
			if p.timesAsked("/review") == 0 && name != "hangs" || p.timesAsked("/again") > 0 {
				t.Errorf("%s, the webhook %s: it was asked %v", what, name, p.asked)
			}
		}
	}
	if sent := p.mostSent(); sent > largest {
		t.Errorf("%d bytes of an answer were read", sent)
	}
}
