package authorizationconfig

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
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
	"apigen.dev/runtime/internal/testbed"
	"apigen.dev/runtime/server"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/pflag"
)

// start returns the kubeconfig of a webhook with one answer, which may change, and how often it was asked.
func start(t *testing.T, name string) (path string, answer *atomic.Pointer[string], asked *atomic.Int64) {
	t.Helper()
	answer, asked = &atomic.Pointer[string]{}, &atomic.Int64{}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		if text := answer.Load(); text != nil {
			_, _ = io.WriteString(w, *text)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(s.Close)
	content, err := kubeconfig.Login{
		Name: name, Server: s.URL, CA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}),
	}.YAML()
	if err != nil {
		t.Fatal(err)
	}
	return testbed.Write(t, filepath.Join(t.TempDir(), name), string(content)), answer, asked
}

const head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n"

// asks is the entry of a webhook in a file.
func asks(name, path, policy string, conditions ...string) string {
	text := "- type: Webhook\n  name: " + name + "\n  webhook:\n    timeout: 3s\n    subjectAccessReviewVersion: v1\n" +
		"    matchConditionSubjectAccessReviewVersion: v1\n    failurePolicy: " + policy +
		"\n    connectionInfo: {type: KubeConfigFile, kubeConfigFile: " + path + "}\n    matchConditions:\n"
	for _, condition := range conditions {
		text += fmt.Sprintf("    - expression: %q\n", condition)
	}
	return text
}

// log collects what is logged.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), text)
}

func configure(t *testing.T, args ...string) (server.Config, *log, error) {
	t.Helper()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, name := range excluded {
		flags.String(name, "", "")
	}
	feature := &Feature{}
	feature.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	logged := &log{}
	config := server.Config{
		Log: slog.New(slog.NewTextHandler(logged, nil)),
		Contribution: server.Contribution{Modes: map[string]auth.Authorizer{
			"AlwaysAllow": auth.Always(auth.Allow), "AlwaysDeny": auth.Always(auth.Deny), "RBAC": roles{},
		}},
	}
	err := config.Use(t.Context(), feature)
	if err == nil && config.AuthorizerOf != nil {
		config.Authorizer, err = config.AuthorizerOf(config.Modes)
	}
	return config, logged, err
}

// roles stands for RBAC: it allows reader to get.
type roles struct{}

func (roles) Authorize(_ context.Context, a auth.Attributes) (auth.Decision, string, error) {
	if a.User.Name == "reader" && a.Verb == "get" {
		return auth.Allow, "by role", nil
	}
	return auth.NoOpinion, "no role", nil
}

func of(user, namespace string) auth.Attributes {
	return auth.Attributes{User: &auth.User{Name: user}, Info: &request.Info{
		IsResource: true, Verb: "get", Resource: "widgets", Namespace: namespace,
	}}
}

func TestChain(t *testing.T) {
	first, firstAnswer, firstAsked := start(t, "first")
	second, secondAnswer, _ := start(t, "second")
	path := testbed.Write(t, filepath.Join(t.TempDir(), "config"), head+
		asks("first.example.com", first, "NoOpinion", "has(request.resourceAttributes)",
			"request.resourceAttributes.namespace.startsWith('tenant-')")+
		asks("second", second, "Deny", "request.extra['k'] == ['v'] || request.user != 'extra'")+
		"- {type: RBAC, name: rbac}\n")
	config, _, err := configure(t, "--authorization-config="+path)
	if err != nil {
		t.Fatal(err)
	}
	const yes, no, never = `{"status":{"allowed":true}}`, `{"status":{}}`, `{"status":{"denied":true,"reason":"never"}}`
	set := func(p *atomic.Pointer[string], text string) {
		if p.Store(nil); text != "" {
			p.Store(&text)
		}
	}
	n := 0
	for _, test := range []struct {
		user, namespace, first, second string
		want                           auth.Decision
		reason, err                    string
		asked                          int64
	}{
		{"reader", "ns", "", no, auth.Allow, "by role", "", 0},
		{"reader", "tenant-a", yes, no, auth.Allow, "", "", 1},
		{"writer", "tenant-a", no, no, auth.NoOpinion, "no role", "", 1},
		{"reader", "tenant-a", never, yes, auth.Deny, "never", "", 1},
		{"writer", "tenant-a", "", yes, auth.Allow, "", "", 1},
		{"writer", "tenant-a", "", no, auth.NoOpinion, "no role", "unknown", 1},
		{"reader", "ns", "", "", auth.Deny, "", "unknown", 0},
		{"extra", "ns", "", yes, auth.Deny, "", "no such key: k", 0},
	} {
		set(firstAnswer, test.first)
		set(secondAnswer, test.second)
		firstAsked.Store(0)
		n++
		a := of(test.user, test.namespace)
		a.Name = fmt.Sprint(n) // no answer is kept
		got, reason, err := config.Authorizer.Authorize(t.Context(), a)
		if got != test.want || reason != test.reason || firstAsked.Load() != test.asked ||
			(err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%+v: %v, %q, %v, asked %d times", test, got, reason, err, firstAsked.Load())
		}
	}
	if _, complete, _ := config.Authorizer.(auth.RuleResolver).RulesFor(t.Context(), &auth.User{}, ""); complete {
		t.Error("webhooks list no rules")
	}
	shown := exposed(t, config.Metrics)
	for _, want := range []string{
		`decisions_total{decision="allowed",name="first.example.com",type="Webhook"} 1`,
		`decisions_total{decision="denied",name="first.example.com",type="Webhook"} 1`,
		`decisions_total{decision="allowed",name="second",type="Webhook"} 1`,
		`decisions_total{decision="denied",name="second",type="Webhook"} 2`,
		`decisions_total{decision="allowed",name="rbac",type="RBAC"} 1`,
		`webhook_evaluations_total{name="first.example.com",result="success"} 3`,
		`webhook_evaluations_total{name="first.example.com",result="error"} 2`,
		`webhook_evaluations_total{name="second",result="error"} 1`,
		`webhook_duration_seconds_count{name="second",result="success"} 4`,
		`webhook_evaluations_fail_open_total{name="first.example.com",result="error"} 2`,
		`match_condition_exclusions_total{name="first.example.com",type="Webhook"} 3`,
		`match_condition_evaluation_errors_total{name="second",type="Webhook"} 1`,
		`match_condition_evaluation_seconds_count{name="first.example.com",type="Webhook"} 8`,
	} {
		if !strings.Contains(shown, "\napiserver_authorization_"+want+"\n") {
			t.Errorf("no %s in\n%s", want, shown)
		}
	}
	if strings.Contains(shown, "fail_open_total{name=\"second\"") {
		t.Error("a webhook that denies if it fails is said to fail open")
	}
}

// exposed is what /metrics shows of metrics.
func exposed(t *testing.T, all []prometheus.Collector) string {
	t.Helper()
	registry, w := prometheus.NewRegistry(), httptest.NewRecorder()
	registry.MustRegister(all...)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	return w.Body.String()
}

// A changed file is read without a restart; a broken one, and one that drops a mode, change nothing.
func TestFileIsFollowed(t *testing.T) {
	path := testbed.Write(t, filepath.Join(t.TempDir(), "config"), head+"- {type: RBAC, name: rbac}\n")
	config, logged, err := configure(t, "--authorization-config="+path)
	if err != nil {
		t.Fatal(err)
	}
	decides := func(want auth.Decision) func() bool {
		return func() bool {
			got, _, err := config.Authorizer.Authorize(t.Context(), of("writer", "ns"))
			return got == want && err == nil
		}
	}
	await := func(holds func() bool) {
		t.Helper()
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for late := time.After(time.Minute); !holds(); {
			select {
			case <-tick.C:
			case <-late:
				t.Fatal("it does not come true")
			}
		}
	}
	await(decides(auth.NoOpinion))
	testbed.Write(t, path, head+"- {type: RBAC, name: rbac}\n- {type: AlwaysAllow, name: alwaysallow}\n")
	await(decides(auth.Allow))
	for _, wrong := range []struct{ content, want string }{
		{head + "- {type: AlwaysAllow, name: alwaysallow}\n", "missing required types: [RBAC]"},
		{"{", "failed to load AuthorizationConfiguration"},
		{head + "- {type: RBAC, name: rbac, x: 1}\n", "unknown field"},
	} {
		testbed.Write(t, path, wrong.content)
		await(func() bool { return decides(auth.Allow)() && logged.has(wrong.want) })
	}
	testbed.Write(t, path, head+"- {type: RBAC, name: rbac}\n- {type: AlwaysDeny, name: alwaysdeny}\n")
	await(decides(auth.Deny))
}

func TestVersions(t *testing.T) {
	for _, version := range []string{"v1", "v1beta1", "v1alpha1"} {
		file := strings.Replace(head, "/v1", "/"+version, 1) + "- {type: RBAC, name: rbac}"
		if _, err := Parse([]byte(file)); err != nil {
			t.Error(err)
		}
	}
	_, err := Parse([]byte(strings.Replace(head, "/v1", "/v2", 1)))
	if err == nil || !strings.Contains(err.Error(), "want an AuthorizationConfiguration of") {
		t.Error(err)
	}
}

func TestRefusals(t *testing.T) {
	file := func(content string) string { return testbed.Write(t, filepath.Join(t.TempDir(), "config"), content) }
	good, _, _ := start(t, "good")
	plugin := file("current-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n" +
		"clusters: [{name: a, cluster: {server: 'https://h'}}]\nusers: [{name: a, user: {exec: {}}}]\n")
	for _, test := range []struct{ content, want string }{
		{"", "authorizers: Required value: at least one authorization mode must be defined"},
		{"kind: AuthorizationConfiguration", `it is a "AuthorizationConfiguration" of ""`},
		{"apiVersion: v1\nkind: Pod", `it is a "Pod" of "v1"`},
		{head + "- {type: ABAC, name: abac}", "this server has no mode ABAC"},
		{head + "- {type: Node, name: node}",
			`authorizers[0].type: Unsupported value: "Node": supported values: "AlwaysAllow", "AlwaysDeny", ` +
				`"RBAC", "Webhook"`},
		{head + "- {type: RBAC, name: roles}", "expected name rbac for authorizer RBAC instead of roles"},
		{head + "- {type: RBAC, name: rbac}\n- {type: RBAC, name: rbac2}",
			`authorizers[1].type: Duplicate value: "RBAC"`},
		{head + "- {type: RBAC, name: rbac, webhook: {}}", "may only be specified when type=Webhook"},
		{head + "- {type: Webhook, name: w}", "required when type=Webhook"},
		{head + asks("w", "relative", "Deny"), "must be an absolute path"},
		{head + asks("w", "/none", "Deny"), "error loading file"},
		{head + asks("w", good, "Maybe"), `failurePolicy: Unsupported value: "Maybe"`},
		{head + asks("w", good, "Deny", "request.user"), "must evaluate to bool but got string"},
		{head + asks("w", good, "Deny", "true", "true"), `matchConditions[1].expression: Duplicate value: "true"`},
		{head + asks("W", good, "Deny"), "authorizer name is invalid"},
		{head + asks("w", plugin, "Deny"), "authorizer w: kubeconfig"},
		{head + strings.Replace(asks("w", good, "Deny"), "3s", "31s", 1), "must be > 0s and <= 30s"},
		{head + strings.Replace(asks("w", good, "Deny"), "KubeConfigFile", "InClusterConfig", 1),
			"can only be set when type=KubeConfigFile"},
	} {
		_, _, err := configure(t, "--authorization-config="+file(test.content))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s\n%v, want %q", test.content, err, test.want)
		}
	}
	for _, other := range excluded {
		_, _, err := configure(t, "--authorization-config=x", "--"+other+"=1s")
		if err == nil || err.Error() != "--authorization-config can not be specified when --authorization-mode or "+
			"--authorization-webhook-* flags are defined" {
			t.Errorf("%s: %v", other, err)
		}
	}
	if _, _, err := configure(t, "--authorization-config=/none"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if config, _, err := configure(t); err != nil || config.Authorizer != nil {
		t.Errorf("without the flag: %v, %v", config.Authorizer, err)
	}
}

func TestInCluster(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	path := testbed.Write(t, filepath.Join(t.TempDir(), "c"), head+strings.Replace(asks("w", "x", "Deny"),
		"{type: KubeConfigFile, kubeConfigFile: x}", "{type: InClusterConfig}", 1))
	if _, _, err := configure(t, "--authorization-config="+path); !errors.Is(err, kubeconfig.ErrNotInCluster) {
		t.Error(err)
	}
}

// A configuration is refused, or all its authorizers are known.
func FuzzParse(f *testing.F) {
	f.Add([]byte(head + asks("w", "/dev/null", "Deny", "request.user == 'a'") + "- {type: RBAC, name: rbac}\n"))
	f.Add([]byte(head + "- {type: AlwaysAllow, name: alwaysallow}\n"))
	types := []string{"AlwaysAllow", "RBAC", "Webhook"}
	f.Fuzz(func(t *testing.T, content []byte) {
		config, err := Parse(content)
		if err != nil || config.validate(types, nil) != nil {
			return
		}
		for _, a := range config.Authorizers {
			if (a.Type == typeWebhook) != (a.Webhook != nil) || a.Name == "" {
				t.Errorf("%+v", a)
			}
		}
	})
}
