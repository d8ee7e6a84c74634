package endpoint

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Large bodies are worked on one after another if there is no room for all; small ones never wait.
func TestWeigh(t *testing.T) {
	a := &API{bodies: newBudget(maxBodyBytes), user: func(context.Context) string { return "bob" }}
	r := httptest.NewRequest(http.MethodPost, "/x", nil)
	first, second := &resourceRequest{api: a, r: r}, &resourceRequest{api: a, r: r}
	small := &resourceRequest{api: a, r: r}
	if err := first.reserveBody(t.Context(), maxBodyBytes+1); err != nil {
		t.Fatalf("a single body is let through, however large: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := second.reserveBody(ended, smallBody+1); !apierrors.IsTooManyRequests(err) {
		t.Errorf("a second one got %v, want 429 at its deadline", err)
	}
	if err := small.reserveBody(ended, smallBody); err != nil {
		t.Errorf("a small one got %v", err)
	}
	first.releaseBody()
	first.releaseBody() // gives back once
	if err := second.reserveBody(t.Context(), maxBodyBytes); err != nil {
		t.Errorf("after the first: %v", err)
	}
	second.releaseBody()
	if a.bodies.free != maxBodyBytes {
		t.Error("room was not given back")
	}
}

// TestYAMLWeighsMore: of YAML fewer bytes are worked on at once.
func TestYAMLWeighsMore(t *testing.T) {
	for mediaType, want := range map[string]int64{"application/json": 1 << 20, "application/yaml": 2 << 20,
		"application/apply-patch+yaml": 2 << 20} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/x",
			strings.NewReader(strings.Repeat(" ", 1<<20)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", mediaType)
		c := &resourceRequest{api: &API{
			maxBody: 1 << 20, bodies: newBudget(maxBodyBytes), user: func(context.Context) string { return "bob" },
		}, r: r}
		if _, err := c.readBody(); err != nil || c.reserved != want {
			t.Errorf("%s weighs %d (%v), want %d", mediaType, c.reserved, err, want)
		}
	}
}
