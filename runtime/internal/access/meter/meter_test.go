package meter

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/request"
	"github.com/prometheus/client_golang/prometheus"
)

// answers is an authenticator and an authorizer of tests.
type answers struct{ user *auth.User }

func (a answers) Authenticate(*http.Request) (*auth.User, error) {
	if a.user == nil {
		return nil, errRefused
	}
	return a.user, nil
}

var errRefused = errors.New("refused")

// The metrics cost a request no allocation.
func TestAccessMetricsAllocateNothing(t *testing.T) {
	a := NewAttempts()
	authenticator := a.Authenticator(a.Certificates(answers{&auth.User{Name: "bob"}}))
	decisions := NewDecisions().Authorizer("RBAC", "rbac", auth.Always(auth.Deny))
	refuser, authorizer := a.Authenticator(answers{}), a.Authorizer(decisions)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{{NotAfter: time.Now()}}}
	attributes := auth.Attributes{Info: &request.Info{}}
	allocations := testing.AllocsPerRun(100, func() {
		_, _ = authenticator.Authenticate(r)
		_, _ = refuser.Authenticate(r)
		_, _, _ = authorizer.Authorize(r.Context(), attributes)
	})
	if allocations > 0 {
		t.Errorf("%v allocations", allocations)
	}
}

// series returns the series of a collector with their values; of histograms, the counts.
func series(t *testing.T, collector prometheus.Collector) map[string]float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, label := range metric.GetLabel() {
				labels = append(labels, label.GetName()+"="+label.GetValue())
			}
			name := family.GetName() + "{" + strings.Join(labels, ",") + "}"
			found[name] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue() +
				float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return found
}

// has holds the series of a collector whose value isn't 0 against those wanted.
func has(t *testing.T, collector prometheus.Collector, want map[string]float64) {
	t.Helper()
	got := series(t, collector)
	maps.DeleteFunc(got, func(_ string, value float64) bool { return value == 0 })
	if !maps.Equal(got, want) {
		t.Errorf("series %v, want %v", got, want)
	}
}

func TestAdmissions(t *testing.T) {
	m := NewAdmissions()
	chain := admission.NewChain([]admission.Plugin{
		{Name: "changes", Admit: func(context.Context, *admission.Attributes) error { return nil }},
		{Name: "refuses", Validate: func(context.Context, *admission.Attributes) error { return errRefused }},
	}, m.Observe)
	a := &admission.Attributes{Operation: admission.Create}
	if err := chain.Admit(t.Context(), a); err != nil {
		t.Error(err)
	}
	if err := chain.Validate(t.Context(), a); err == nil {
		t.Error("the write isn't refused")
	}
	const calls, steps = "apiserver_admission_controller_admission_duration_seconds{",
		"apiserver_admission_step_admission_duration_seconds{"
	has(t, m, map[string]float64{
		calls + "name=changes,operation=CREATE,rejected=false,type=admit}":   1,
		calls + "name=refuses,operation=CREATE,rejected=true,type=validate}": 1,
		steps + "operation=CREATE,rejected=false,type=admit}":                1,
		steps + "operation=CREATE,rejected=true,type=validate}":              1,
	})
}

// lister is an authorizer that lists rules.
type lister struct{ auth.Always }

func TestDecisions(t *testing.T) {
	d := NewDecisions()
	for _, decision := range []auth.Decision{auth.Allow, auth.Allow, auth.Deny, auth.NoOpinion} {
		got, _, _ := d.Authorizer("Webhook", "w", auth.Always(decision)).Authorize(t.Context(), auth.Attributes{})
		if got != decision {
			t.Errorf("%v, want %v", got, decision)
		}
	}
	has(t, d, map[string]float64{
		"apiserver_authorization_decisions_total{decision=allowed,name=w,type=Webhook}": 2,
		"apiserver_authorization_decisions_total{decision=denied,name=w,type=Webhook}":  1,
	})
	resolver, _ := d.Authorizer("AlwaysAllow", "a", lister{auth.Always(auth.Allow)}).(auth.RuleResolver)
	if rules, complete, err := resolver.RulesFor(t.Context(), nil, ""); len(rules.Resources) != 1 || !complete ||
		err != nil {
		t.Errorf("the rules are lost: %v, %v, %v", rules, complete, err)
	}
	resolver, _ = d.Authorizer("Webhook", "w", silent{}).(auth.RuleResolver)
	if _, complete, err := resolver.RulesFor(t.Context(), nil, ""); complete || err != nil {
		t.Errorf("an authorizer without rules is complete: %v", err)
	}
}

// silent is an authorizer that lists no rules.
type silent struct{}

func (silent) Authorize(context.Context, auth.Attributes) (auth.Decision, string, error) {
	return auth.NoOpinion, "", nil
}

func TestTokenCache(t *testing.T) {
	m, begin := NewTokenCache(), time.Now()
	m.Hit(begin)
	waited, fetched := m.Miss(begin), m.Fetch()
	const prefix = "authentication_token_cache_"
	during := map[string]float64{
		prefix + "active_fetch_count{status=blocked}": 1, prefix + "active_fetch_count{status=in_flight}": 1,
		prefix + "request_total{status=hit}": 1, prefix + "request_duration_seconds{status=hit}": 1,
	}
	has(t, m, during)
	fetched(errRefused)
	m.Fetch()(nil)
	waited()
	has(t, m, map[string]float64{
		prefix + "request_total{status=hit}": 1, prefix + "request_duration_seconds{status=hit}": 1,
		prefix + "request_total{status=miss}": 1, prefix + "request_duration_seconds{status=miss}": 1,
		prefix + "fetch_total{status=error}": 1, prefix + "fetch_total{status=ok}": 1,
	})
	var none *TokenCache
	none.Hit(begin)
	none.Miss(begin)()
	none.Fetch()(nil)
}

func TestReviews(t *testing.T) {
	r := NewReviews()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	r.Evaluated(t.Context(), "w", 0, nil)
	r.Evaluated(t.Context(), "w", 0, context.DeadlineExceeded)
	r.Evaluated(over, "w", 0, context.Canceled)
	r.Evaluated(t.Context(), "w", 0, errRefused)
	r.FailedOpen(t.Context(), "w", errRefused)
	r.FailedOpen(over, "w", errRefused)
	r.Matched("w", 0, true, false)
	r.Matched("w", 0, false, true)
	const prefix = "apiserver_authorization_"
	want := map[string]float64{
		prefix + "webhook_evaluations_fail_open_total{name=w,result=error}":     1,
		prefix + "match_condition_evaluation_errors_total{name=w,type=Webhook}": 1,
		prefix + "match_condition_exclusions_total{name=w,type=Webhook}":        1,
		prefix + "match_condition_evaluation_seconds{name=w,type=Webhook}":      2,
	}
	for _, result := range []string{"success", "timeout", "canceled", "error"} {
		want[prefix+"webhook_evaluations_total{name=w,result="+result+"}"] = 1
		want[prefix+"webhook_duration_seconds{name=w,result="+result+"}"] = 1
	}
	has(t, r, want)
}

func TestDelegated(t *testing.T) {
	peer := httptest.NewServer(http.NotFoundHandler())
	d := NewDelegated()
	client := &http.Client{Transport: d.Authentication(http.DefaultTransport)}
	for range 2 {
		if response, err := client.Get(peer.URL); err == nil {
			response.Body.Close()
		}
		client.CloseIdleConnections()
		peer.Close()
	}
	const prefix = "apiserver_delegated_authn_request_"
	has(t, d, map[string]float64{
		prefix + "total{code=404}": 1, prefix + "duration_seconds{code=404}": 1,
		prefix + "total{code=<error>}": 1, prefix + "duration_seconds{code=<error>}": 1,
	})
}

func TestIssuers(t *testing.T) {
	i := NewIssuers()
	at := time.Unix(100, 0)
	i.Verified("https://a", 0, nil)
	i.Verified("https://a", 0, errRefused)
	i.Fetched("https://a", []byte("keys"), at, nil)
	i.Fetched("https://a", nil, at.Add(time.Second), errRefused)
	i.Fetched("https://b", nil, at, errRefused)
	i.Keep([]string{"https://a"})
	const prefix, server = "apiserver_authentication_jwt_authenticator_", "apiserver_id_hash=,"
	got := series(t, i)
	for name, value := range map[string]float64{
		"jwks_fetch_last_timestamp_seconds{" + server + "ISSUER,result=success}":               100,
		"jwks_fetch_last_timestamp_seconds{" + server + "ISSUER,result=failure}":               101,
		"jwks_fetch_last_key_set_info{" + server + "hash=" + hash([]byte("keys")) + ",ISSUER}": 1,
		"latency_seconds{ISSUER,result=success}":                                               1,
		"latency_seconds{ISSUER,result=failure}":                                               1,
	} {
		name = prefix + strings.ReplaceAll(name, "ISSUER", "jwt_issuer_hash="+hash([]byte("https://a")))
		if got[name] != value {
			t.Errorf("%s is %v, want %v", name, got[name], value)
		}
	}
	if len(got) != 5 {
		t.Errorf("series %v", slices.Sorted(maps.Keys(got)))
	}
}

func TestReloads(t *testing.T) {
	r := NewReloads("authorization")
	const prefix = "apiserver_authorization_config_controller_"
	r.Loaded([]byte("first"))
	has(t, r, map[string]float64{
		prefix + "last_config_info{apiserver_id_hash=,hash=" + hash([]byte("first")) + "}": 1,
	})
	r.Reloaded([]byte("bad"), errRefused)
	r.Reloaded([]byte("second"), nil)
	got := series(t, r)
	for name, value := range map[string]float64{
		"last_config_info{apiserver_id_hash=,hash=" + hash([]byte("second")) + "}": 1,
		"automatic_reloads_total{apiserver_id_hash=,status=success}":               1,
		"automatic_reloads_total{apiserver_id_hash=,status=failure}":               1,
	} {
		if got[prefix+name] != value {
			t.Errorf("%s is %v, want %v", name, got[prefix+name], value)
		}
	}
}

func TestImpersonation(t *testing.T) {
	i := NewImpersonation()
	i.Attempted("", 0, nil)
	i.Attempted("impersonate:user-info", 0, nil)
	i.Attempted("", 0, errRefused)
	authorizer := i.Authorizer(auth.Always(auth.NoOpinion))
	verb := &request.Info{Verb: "impersonate-on:serviceaccount:get"}
	_, _, _ = authorizer.Authorize(t.Context(), auth.Attributes{Info: verb})
	want := map[string]float64{}
	for _, labels := range []string{"allowed,mode=legacy", "allowed,mode=user-info", "denied,mode="} {
		want["apiserver_impersonation_attempts_total{decision="+labels+"}"] = 1
		want["apiserver_impersonation_attempts_duration_seconds{decision="+labels+"}"] = 1
	}
	for _, name := range []string{"total", "duration_seconds"} {
		want["apiserver_impersonation_authorization_attempts_"+name+"{decision=denied,mode=serviceaccount}"] = 1
	}
	has(t, i, want)
}

// TestShared: features that ask for the same metrics get the same.
func TestShared(t *testing.T) {
	all := []prometheus.Collector{NewDecisions()}
	first, second := Shared(&all, NewTokenCache), Shared(&all, NewTokenCache)
	if first != second || len(all) != 2 {
		t.Errorf("%d collectors", len(all))
	}
}
