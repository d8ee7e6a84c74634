package server

import (
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The metrics say how requests were authenticated and authorized, and when certificates end.
func TestAccessMetrics(t *testing.T) {
	tokens := filepath.Join(t.TempDir(), "tokens.csv")
	if err := os.WriteFile(tokens, []byte("t,bob@example.com,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, filepath.Join(t.TempDir(), "data"), "--token-auth-file="+tokens,
		"--authorization-mode=AlwaysDeny")
	admin := s.client(t)
	for _, token := range []string{"t", "wrong"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/metrics", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
		response, err := (&http.Client{Transport: transport}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		transport.CloseIdleConnections()
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Impersonate-User", "bob@example.com")
	response, err := admin.Do(r)
	if err != nil || response.StatusCode != http.StatusForbidden {
		t.Fatalf("impersonated: %v, %v", response, err)
	}
	response.Body.Close()
	_, metrics := get(t, admin, s.url+"/metrics")
	for _, want := range []string{
		`authentication_attempts{result="error"} 1`, `authentication_attempts{result="failure"} 0`,
		`authentication_duration_seconds_count{result="error"} 1`,
		`authenticated_user_requests{username="email_id"} 1`, `authorization_attempts_total{result="denied"} 2`,
		`authorization_duration_seconds_count{result="denied"} 2`,
		`apiserver_authorization_decisions_total{decision="denied",name="alwaysdeny",type="AlwaysDeny"} 2`,
		`apiserver_impersonation_attempts_total{decision="allowed",mode="user-info"} 1`,
		`apiserver_impersonation_authorization_attempts_total{decision="allowed",mode="user-info"} 2`,
		`apiserver_client_certificate_expiration_seconds_bucket{le="1.5552e+07"} 0`,
		`apigen_certificate_expiration_timestamp_seconds{name="ca"} `,
		`apigen_certificate_expiration_timestamp_seconds{name="admin"} `,
		`apigen_certificate_expiration_timestamp_seconds{name="server"} `,
	} {
		if !strings.Contains(metrics, "\n"+want) {
			t.Errorf("no %s in\n%s", want, metrics)
		}
	}
	if strings.Contains(metrics, "apiserver_client_certificate_expiration_seconds_count 0") {
		t.Error("the administrator's certificate is not counted")
	}
}
