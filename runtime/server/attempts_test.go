package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/request"
	"github.com/prometheus/client_golang/prometheus"
)

// The metrics say how requests were authenticated and authorized, and when certificates end.
func TestAccessMetrics(t *testing.T) {
	tokens := filepath.Join(t.TempDir(), "tokens.csv")
	if err := os.WriteFile(tokens, []byte("t,bob@example.com,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, filepath.Join(t.TempDir(), "data"), "--token-auth-file="+tokens)
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
	_, metrics := get(t, admin, s.url+"/metrics")
	for _, want := range []string{
		`authentication_attempts{result="error"} 1`, `authentication_attempts{result="failure"} 0`,
		`authentication_duration_seconds_count{result="error"} 1`,
		`authenticated_user_requests{username="email_id"} 1`, `authorization_attempts_total{result="no-opinion"} 1`,
		`authorization_duration_seconds_count{result="no-opinion"} 1`,
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
	a := newAttempts(prometheus.NewRegistry())
	authenticator := a.authenticator(a.certificates(answers{&auth.User{Name: "bob"}}))
	refuser, authorizer := a.authenticator(answers{}), a.authorizer(auth.Always(auth.Deny))
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
