package filter

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
)

// broken is an authorizer that fails, with a decision.
type broken struct{ decision auth.Decision }

func (b broken) Authorize(_ context.Context, a auth.Attributes) (auth.Decision, string, error) {
	return b.decision, "", errors.New("<webhook> & failed")
}

// A request about which no authorizer could decide is answered 500, in kube-apiserver's words, and an impersonation
// 403.
func TestAuthorizerFails(t *testing.T) {
	for _, test := range []struct {
		decision auth.Decision
		as       string
		code     int
		body     string
	}{
		{auth.NoOpinion, "", 500,
			"Internal Server Error: \"/apis/g/v1/things?a=1\": &lt;webhook&gt; &amp; failed\n"},
		{auth.Deny, "", 500, "Internal Server Error: \"/apis/g/v1/things?a=1\": &lt;webhook&gt; &amp; failed\n"},
		{auth.Allow, "", 200, "root"},
		{auth.NoOpinion, "ann", 403, ""},
		{auth.Allow, "ann", 403, ""},
	} {
		handler := Chain(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("root"))
		}), RequestInfo(nil, nil), Deadline(time.Minute), Authenticate(one{}, slog.New(slog.DiscardHandler)),
			Impersonate(broken{test.decision}, nil), Authorize(broken{test.decision}))
		r := httptest.NewRequest(http.MethodGet, "/apis/g/v1/things?a=1", nil)
		if test.as != "" {
			r.Header.Set("Impersonate-User", test.as)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != test.code || test.body != "" && w.Body.String() != test.body {
			t.Errorf("%+v: %d %q", test, w.Code, w.Body)
		}
	}
}

// one authenticates everybody as root.
type one struct{}

func (one) Authenticate(*http.Request) (*auth.User, error) { return &auth.User{Name: "root"}, nil }
