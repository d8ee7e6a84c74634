package serviceaccount

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/access/meter"
	"apigen.dev/runtime/internal/access/tokencache"
	"apigen.dev/runtime/internal/audit/trail"
	asked "apigen.dev/runtime/internal/request"
)

// everything is a policy that records metadata.
type everything struct{}

func (everything) Decide(auth.Attributes) trail.Decision {
	return trail.Decision{Level: trail.Metadata}
}

// sink keeps the annotations of events.
type sink map[string]string

func (s sink) Process(event *trail.Event) bool {
	for _, annotation := range event.Annotations {
		s[annotation.Key] = annotation.Value
	}
	return true
}

// annotations authenticates a token, and returns the annotations of the request's record.
func annotations(t *testing.T, tokens auth.TokenAuthenticator, token string) sink {
	t.Helper()
	found := sink{}
	record := (&trail.Auditor{Policy: everything{}, Sink: found}).NewRecord(t.Context(), "id")
	ctx := asked.WithInfo(record, &asked.Info{Verb: "get"})
	if _, err := tokens.AuthenticateToken(ctx, token, nil); err != nil {
		t.Fatal(err)
	}
	record.Begin(httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
	return found
}

// TestStaleTokens: the record of audit says, in kube-apiserver's words, who uses an extended token that should have
// been replaced, whether the token was in the cache or not.
func TestStaleTokens(t *testing.T) {
	a := newAuthority(t, "ES256", someWorld())
	now := start
	a.now, a.metrics = func() time.Time { return now }, meter.NewAccounts()
	r := request(&auth.BoundObject{APIVersion: "v1", Kind: "Pod", Name: "web", UID: "pod-uid"})
	r.Seconds = 3607
	token := issue(t, a, r)
	const late = "subject: system:serviceaccount:shop:robot, seconds after warning threshold: 3593"
	for age, want := range map[time.Duration]string{time.Hour: "", 2 * time.Hour: late} {
		now = start.Add(age)
		cache := tokencache.New(a, tokencache.Config{})
		for _, from := range []string{"the authority", "the cache"} {
			if got := annotations(t, cache, token)["authentication.k8s.io/stale-token"]; got != want {
				t.Errorf("after %s, from %s: %q, want %q", age, from, got, want)
			}
		}
	}
}
