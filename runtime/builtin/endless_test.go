package builtin_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/apiregistration"
	"apigen.dev/runtime/server"
	corev1 "k8s.io/api/core/v1"
)

// treadmill is a server of widgets whose list doesn't end, as long as endless is true.
type treadmill struct {
	endless atomic.Bool
	lists   atomic.Int64
}

func (m *treadmill) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/apis/shop.example.com/v1":
		_, _ = io.WriteString(w, `{"kind":"APIResourceList","groupVersion":"shop.example.com/v1","resources":[
{"name":"widgets","kind":"Widget","namespaced":true,"verbs":["list","delete"]}]}`)
	case !strings.HasSuffix(r.URL.Path, "/widgets"):
		http.NotFound(w, r)
	case m.endless.Load():
		m.lists.Add(1)
		_, _ = io.WriteString(w, `{"metadata":{"continue":"again"},"items":[]}`)
	default:
		_, _ = io.WriteString(w, `{"metadata":{},"items":[]}`)
	}
}

// TestEndlessListElsewhere: while the list of another server doesn't end, each namespace that is being deleted says so,
// and is gone once the list ends.
func TestEndlessListElsewhere(t *testing.T) {
	m := &treadmill{}
	m.endless.Store(true)
	behind := httptest.NewTLSServer(m)
	t.Cleanup(behind.Close)
	front := startFeatures(t, func(c *server.Config) {
		c.Services = func(context.Context, string, string, int32) (string, error) {
			return behind.Listener.Addr().String(), nil
		}
	}, &apiregistration.Feature{})
	until(t, front, http.MethodPost, services, registration("treadmill", true, nil), http.StatusCreated)
	available(t, front, "True", "Passed")
	const namespaces = 3
	for i := range namespaces {
		until(t, front, http.MethodPost, "/api/v1/namespaces", fmt.Sprintf(`{"metadata":{"name":"ns%d"}}`, i),
			http.StatusCreated)
		until(t, front, http.MethodPost, fmt.Sprintf("/api/v1/namespaces/ns%d/configmaps", i),
			`{"metadata":{"name":"c"}}`, http.StatusCreated)
		until(t, front, http.MethodDelete, fmt.Sprintf("/api/v1/namespaces/ns%d", i), "", http.StatusOK)
	}
	for i := range namespaces {
		untilBlamed(t, front, fmt.Sprintf("/api/v1/namespaces/ns%d", i))
		until(t, front, http.MethodGet, fmt.Sprintf("/api/v1/namespaces/ns%d/configmaps/c", i), "", http.StatusNotFound)
	}
	m.endless.Store(false)
	for i := range namespaces {
		until(t, front, http.MethodGet, fmt.Sprintf("/api/v1/namespaces/ns%d", i), "", http.StatusNotFound)
	}
}

// untilBlamed waits until the conditions of a namespace say that the list of widgets doesn't end.
func untilBlamed(t *testing.T, s *apitest.Server, path string) {
	t.Helper()
	untilObject(t, s, path, func(namespace *corev1.Namespace) bool {
		return slices.ContainsFunc(namespace.Status.Conditions, func(c corev1.NamespaceCondition) bool {
			return c.Type == corev1.NamespaceDeletionContentFailure && c.Status == corev1.ConditionTrue &&
				strings.Contains(c.Message, "the server of widgets.shop.example.com")
		})
	})
}
