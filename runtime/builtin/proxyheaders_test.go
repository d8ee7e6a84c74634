package builtin_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"apigen.dev/runtime/builtin/apiregistration"
	"apigen.dev/runtime/builtin/frontproxy"
	"apigen.dev/runtime/internal/testbed"
	"apigen.dev/runtime/server"
	corev1 "k8s.io/api/core/v1"
)

// TestHeadersToBackends: a client puts no user into a request to a server behind this one, whatever that server takes
// for the name of a user: the usual headers, those of the flags --requestheader-*, or those of former flags.
func TestHeadersToBackends(t *testing.T) {
	seen := make(chan http.Header, 1)
	p := &peer{Server: httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/widgets/seen") {
			seen <- r.Header.Clone()
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"kind": "APIResourceList"})
	}))}
	t.Cleanup(p.Close)
	trust, err := frontproxy.NewTrust(testbed.NewAuthority(t).PEM(), nil, frontproxy.Headers{
		Username: []string{"X-Now-User"}, UID: []string{"x-now-uid"}, Group: []string{"X-Now-Group"},
		ExtraPrefixes: []string{"X-Now-Extra-"},
	})
	if err != nil {
		t.Fatal(err)
	}
	front := startFeatures(t, func(c *server.Config) {
		c.Authentication.FrontProxy = frontproxy.New(func() *frontproxy.Trust { return trust })
		c.Services = func(context.Context, string, string, int32) (string, error) {
			return p.Listener.Addr().String(), nil
		}
	}, &apiregistration.Feature{})
	until(t, front, http.MethodPost, services, registration("seen", true, nil), http.StatusCreated)
	available(t, front, "True", "Passed")
	const published = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
	publishes := func(config *corev1.ConfigMap) bool {
		return config.Data["requestheader-username-headers"] == `["X-Now-User"]` &&
			config.Data["requestheader-extra-headers-prefix"] == `["X-Now-Extra-"]`
	}
	until(t, front, http.MethodGet, published, "", http.StatusOK)
	untilObject(t, front, published, publishes)
	// As a replica with the former flags publishes it.
	until(t, front, http.MethodPatch, published, `{"data":{"requestheader-username-headers":"[\"X-Old-User\"]",
"requestheader-uid-headers":"[\"X-Old-Uid\"]","requestheader-group-headers":"[\"x-old-group\",\"Authorization\"]",
"requestheader-extra-headers-prefix":"[\"X-Old-Extra-\",\"X-\"]"}}`, http.StatusOK)
	untilObject(t, front, published, publishes)
	client := &http.Client{Transport: transportOf(t, front, false)} // HTTP/1.1 keeps names as they are
	defer client.CloseIdleConnections()
	for _, name := range []string{
		"X-Remote-User", "x-remote-user", "X-REMOTE-USER", "X-Remote-Uid", "X-Remote-Group", "x-remote-group",
		"X-Remote-Extra-Scopes", "x-remote-extra-a%2fb", "X_Remote_User", "X-Remote_Group", "x_remote_extra_a",
		"X-Now-User", "x-now-uid", "X-NOW-GROUP", "X-Now-Extra-Scopes", "x-now-extra-a%2Fb",
		"X-Old-User", "x-old-uid", "X-OLD-GROUP", "X-Old-Extra-Scopes", "x-old-extra-a%2Fb",
		"Impersonate_User", "Cookie", "Cookie2", "Proxy-Authorization", "Proxy_Authorization",
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			front.URL+"/apis/shop.example.com/v1/namespaces/ns/widgets/seen", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{
			"X-Kept": {"yes"}, name: {"evil", "evil, two"}, "Authorization": {"Bearer " + front.Token},
		}
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", name, response.Status)
		}
		got := <-seen
		text, err := json.Marshal(got)
		if err != nil || strings.Contains(string(text), "evil") || got.Get("X-Remote-User") != "apitest:admin" ||
			len(got["X-Remote-User"]) != 1 || got.Get("X-Kept") != "yes" {
			t.Errorf("%s: the other server got %s (%v)", name, text, err)
		}
	}
}
