package oidc

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/testbed"
	apiserver "apigen.dev/runtime/server"
	"github.com/go-jose/go-jose/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"
)

func file(t *testing.T, anonymous *Anonymous, all ...JWT) []byte {
	t.Helper()
	content, err := yaml.Marshal(Configuration{APIVersion: versions[0], Kind: kind, JWT: all, Anonymous: anonymous})
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func configured(t *testing.T, config *apiserver.Config, args ...string) error {
	t.Helper()
	var tokens Feature
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.Bool("anonymous-auth", false, "")
	tokens.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return config.Use(t.Context(), &tokens)
}

// issuing is an issuer of the server's own tokens.
type issuing struct{}

func (issuing) IssueToken(context.Context, auth.TokenRequest) (string, time.Time, error) {
	return "", time.Time{}, nil
}

func (issuing) LongestLife() time.Duration { return 0 }

func (issuing) Issuers() []string { return []string{"https://own.example.com"} }

func TestFlags(t *testing.T) {
	i := newTestIssuer(t)
	i.keys = []jose.JSONWebKey{testKeys["first"].public(), testKeys["second"].public()}
	dir := t.TempDir()
	ca := testbed.Write(t, filepath.Join(dir, "ca"), []byte(i.ca()))
	issuer := "--oidc-issuer-url=" + i.URL + " --oidc-client-id=shop --oidc-ca-file=" + ca + " "
	configuration := "--authentication-config=" +
		testbed.Write(t, filepath.Join(dir, "config"), file(t, nil, i.plain()))
	own := i.plain()
	own.Issuer.URL = "https://own.example.com"
	anonymous := "--authentication-config=" + testbed.Write(t, filepath.Join(dir, "anonymous"), file(t,
		&Anonymous{Enabled: true}))
	foreign := "--authentication-config=" + testbed.Write(t, filepath.Join(dir, "own"), file(t, nil, own))
	for args, want := range map[string]string{
		"":                                     "no authenticator",
		configuration:                          "joe groups=",
		issuer:                                 i.URL + "#joe groups=",
		issuer + "--oidc-username-prefix=-":    "joe groups=",
		issuer + "--oidc-username-prefix=p:":   "p:joe groups=",
		issuer + "--oidc-username-claim=email": "joe@example.com groups=",
		issuer + "--oidc-groups-claim=groups --oidc-groups-prefix=g:": i.URL + "#joe groups=g:a",
		issuer + "--oidc-required-claim=hd=x":                         "! required claim hd",
		issuer + "--oidc-required-claim=email=joe@example.com":        i.URL + "#joe groups=",
		issuer + "--oidc-signing-algs=ES256": `! unexpected signature algorithm ` +
			`"RS256"`,
		issuer + "--oidc-signing-algs=HS256": `!! --oidc-signing-algs: "HS256" ` +
			`is not one of`,
		"--oidc-issuer-url=" + i.URL:                                          "!! must be given together",
		"--oidc-client-id=a --oidc-issuer-url=http://a":                       "!! URL scheme must be https",
		"--oidc-client-id=a --oidc-issuer-url=https://own.example.com":        "!! must not overlap",
		"--oidc-client-id=a --oidc-issuer-url=https://a --oidc-ca-file=/none": "!! --oidc-ca-file",
		configuration + " --oidc-client-id=a":                                 "!! can't both be given",
		configuration + " --anonymous-auth":                                   "joe groups=",
		anonymous + " --anonymous-auth":                                       "!! --anonymous-auth can't be given",
		"--authentication-config=/none": "!! --authentication-config /none: " +
			"open /none",
		foreign: "!! must not overlap with " +
			"disallowed issuers",
	} {
		config := &apiserver.Config{
			Log: slog.New(slog.DiscardHandler), Contribution: apiserver.Contribution{Issuer: issuing{}},
		}
		mark := want[:len(want)-len(strings.TrimLeft(want, "! "))]
		got := outcome(t, i, config, configured(t, config, strings.Fields(args)...))
		if !strings.HasPrefix(got, mark) || !strings.Contains(got, strings.TrimPrefix(want, mark)) {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

// outcome says who has a token of the issuer; !! marks an error of the configuration, and ! one of the token.
func outcome(t *testing.T, i *testIssuer, config *apiserver.Config, err error) string {
	t.Helper()
	if err != nil {
		return "!! " + err.Error()
	}
	if len(config.Authentication.Tokens) == 0 {
		return "no authenticator"
	}
	token := testKeys["first"].sign(t, i.URL, map[string]any{"email": "joe@example.com", "groups": []string{"a"}})
	identity, err := config.Authentication.Tokens[0].AuthenticateToken(inServer(t.Context()), token, nil)
	if err != nil {
		return "! " + err.Error()
	}
	return fmt.Sprintf("%s groups=%s", identity.User.Name, strings.Join(identity.User.Groups, ","))
}

func TestAnonymous(t *testing.T) {
	for anonymous, want := range map[*Anonymous]string{
		nil:              "as without the file",
		{Enabled: false}: "",
		{Enabled: true}:  "/healthz /healthz/ /x",
		{Enabled: true, Conditions: []Condition{{"/healthz"}, {"/y"}}}: "/healthz",
	} {
		path := testbed.Write(t, filepath.Join(t.TempDir(), "config"), file(t, anonymous))
		config := &apiserver.Config{Log: slog.New(slog.DiscardHandler)}
		if err := configured(t, config, "--authentication-config="+path); err != nil {
			t.Fatal(err)
		}
		got := "as without the file"
		if config.Authentication.Anonymous != nil {
			var found []string
			for _, path := range []string{"/healthz", "/healthz/", "/x"} {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
				if config.Authentication.Anonymous(r) != nil {
					found = append(found, path)
				}
			}
			got = strings.Join(found, " ")
		}
		if got != want {
			t.Errorf("%+v: %q, want %q", anonymous, got, want)
		}
	}
}

// A changed file holds without a restart; a broken one changes nothing.
func TestReload(t *testing.T) {
	first := newTestIssuer(t)
	path := testbed.Write(t, filepath.Join(t.TempDir(), "config"), file(t, nil, first.plain()))
	files, err := open(path, func() []string { return nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	reloads := measure(files)
	var in live
	in.Store(&files.Value().issuers)
	var log bytes.Buffer
	ctx, stop := context.WithCancel(t.Context())
	ticks, ended := make(chan time.Time), make(chan struct{})
	go func() {
		defer close(ended)
		files.Follow(ctx, ticks, slog.New(slog.NewTextHandler(&log, nil)), "authentication configuration",
			func(l *loaded) { in.Store(&l.issuers) })
	}()
	other := first.plain()
	other.Issuer.URL = "https://other.example.com"
	twice := file(t, nil, other, other)
	for name, row := range map[string]struct {
		content []byte
		issuer  string
	}{
		"another issuer":    {file(t, nil, other), other.Issuer.URL},
		"broken":            {[]byte("nonsense: ["), other.Issuer.URL},
		"invalid":           {twice, other.Issuer.URL},
		"anonymous changed": {file(t, &Anonymous{Enabled: true}, first.plain()), other.Issuer.URL},
	} {
		for _, content := range [][]byte{file(t, nil, other), row.content} {
			testbed.Write(t, path, content)
			ticks <- time.Time{}
			ticks <- time.Time{} // the one before was worked off
		}
		if now := *in.Load(); len(now) != 1 || now[row.issuer] == nil {
			t.Errorf("%s: issuers %v", name, now)
		}
	}
	stop()
	<-ended
	if got := log.String(); strings.Count(got, "level=ERROR") != 3 || !strings.Contains(got, "changed from initial") {
		t.Errorf("logged %s", got)
	}
	shown := exposed(t, []prometheus.Collector{reloads})
	if !strings.Contains(shown, `automatic_reloads_total{apiserver_id_hash="",status="failure"} 3`) {
		t.Errorf("metrics:\n%s", shown)
	}
}

// TestMetrics: metrics tell how tokens were verified, and when the keys of their issuers were read.
func TestMetrics(t *testing.T) {
	i := newTestIssuer(t)
	i.keys = []jose.JSONWebKey{testKeys["first"].public()}
	path := testbed.Write(t, filepath.Join(t.TempDir(), "config"), file(t, nil, i.plain()))
	config := &apiserver.Config{Log: slog.New(slog.DiscardHandler)}
	if err := configured(t, config, "--authentication-config="+path); err != nil {
		t.Fatal(err)
	}
	good, bad := testKeys["first"].sign(t, i.URL, nil), testKeys["second"].sign(t, i.URL, nil)
	for _, token := range []string{good, good, bad, "of nobody"} {
		_, _ = config.Authentication.Tokens[0].AuthenticateToken(inServer(t.Context()), token, nil)
	}
	shown := exposed(t, config.Metrics)
	issuer := fmt.Sprintf(`jwt_issuer_hash="sha256:%x"`, sha256.Sum256([]byte(i.URL)))
	for _, want := range []string{
		`apiserver_authentication_jwt_authenticator_latency_seconds_count{` + issuer + `,result="success"} 1`,
		`apiserver_authentication_jwt_authenticator_latency_seconds_count{` + issuer + `,result="failure"} 1`,
		`apiserver_authentication_jwt_authenticator_jwks_fetch_last_timestamp_seconds{apiserver_id_hash="",` + issuer +
			`,result="success"} `,
		`apiserver_authentication_jwt_authenticator_jwks_fetch_last_key_set_info{apiserver_id_hash="",hash="sha256:`,
		`apiserver_authentication_config_controller_last_config_info{apiserver_id_hash="",hash="sha256:`,
		`authentication_token_cache_request_total{status="hit"} 1`,
		`authentication_token_cache_request_total{status="miss"} 3`,
		`authentication_token_cache_fetch_total{status="ok"} 2`,
		`authentication_token_cache_fetch_total{status="error"} 1`,
		`authentication_token_cache_active_fetch_count{status="in_flight"} 0`,
	} {
		if !strings.Contains(shown, "\n"+want) {
			t.Errorf("no %s in\n%s", want, shown)
		}
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
