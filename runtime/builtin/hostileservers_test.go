package builtin_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/apiregistration"
	"apigen.dev/runtime/server"
	corev1 "k8s.io/api/core/v1"
)

// TestHostileServers: a server behind this one that redirects, never ends an answer, or answers something else, costs
// bounded bytes, leads this server nowhere else, and puts nothing into its documents.
func TestHostileServers(t *testing.T) {
	elsewhere := untouched(t)
	for name, how := range map[string]func(p *peer, self string) http.HandlerFunc{
		"redirects to another host": func(*peer, string) http.HandlerFunc { return redirect(elsewhere + "/x") },
		"redirects to this server": func(_ *peer, self string) http.HandlerFunc {
			return redirect(self + "/api/v1/namespaces")
		},
		"sends 500 MB":           func(p *peer, _ string) http.HandlerFunc { return p.endless },
		"answers something else": func(*peer, string) http.HandlerFunc { return another },
	} {
		for _, document := range []string{"/apis", "/openapi/v2", "/openapi/v3"} {
			t.Run(name+" at "+document, func(t *testing.T) {
				p := startPeer(t)
				front := startBefore(t, p)
				p.turn(how(p, front.URL), func(path string) bool { return path == document })
				until(t, front, http.MethodPost, services, registration("hostile", true, nil), http.StatusCreated)
				available(t, front, "True", "Passed")
				untilTrue(t, "the question", func() bool { return p.timesAsked(document) > 0 })
				for _, path := range []string{"/apis", "/openapi/v2", "/openapi/v3"} {
					text := string(send[raw](t, front, http.MethodGet, path, "", http.StatusOK))
					if strings.Contains(text, "Yg==") || strings.Contains(text, "[[[[") {
						t.Errorf("%s has what the other server sent", path)
					}
				}
				wantChecked(t, front, p, how(p, front.URL))
			})
		}
	}
}

// wantChecked makes a peer hostile wherever the server asks whether it is available, and wants a redirect not to count,
// and little to be read of the answer.
func wantChecked(t *testing.T, front *apitest.Server, p *peer, how http.HandlerFunc) {
	t.Helper()
	p.turn(how, func(string) bool { return true })
	until(t, front, http.MethodPatch, services+"/v1.shop.example.com", `{"spec":{"service":{"port":444}}}`,
		http.StatusOK)
	untilTrue(t, "the check", func() bool { return p.timesAsked("/apis/shop.example.com/v1") > 0 })
	// What isn't a redirect has a code of success, which is all that counts.
	if strings.Contains(t.Name(), "redirects") {
		available(t, front, "False", "FailedDiscoveryCheck")
	}
	if sent := p.mostSent(); sent > largest {
		t.Errorf("%d bytes of an answer were read", sent)
	}
}

// startBefore starts a server before a peer, which finds it behind every service.
func startBefore(t *testing.T, p *peer) *apitest.Server {
	t.Helper()
	return startFeatures(t, func(c *server.Config) {
		c.Services = func(context.Context, string, string, int32) (string, error) {
			return p.Listener.Addr().String(), nil
		}
	}, &apiregistration.Feature{})
}

// raw is an answer as it is.
type raw []byte

// UnmarshalJSON implements json.Unmarshaler.
func (r *raw) UnmarshalJSON(data []byte) error { *r = data; return nil }

// TestHostileLists: a namespace stays, and says why, while the server of some of its objects redirects the question
// about them, or doesn't end its answer.
func TestHostileLists(t *testing.T) {
	p, elsewhere := startPeer(t), untouched(t)
	front := startBefore(t, p)
	until(t, front, http.MethodPost, services, registration("hostile", true, nil), http.StatusCreated)
	available(t, front, "True", "Passed")
	for name, how := range map[string]http.HandlerFunc{
		"another-host": redirect(elsewhere + "/x"), "this-server": redirect(front.URL + "/api/v1/secrets"),
		"endless": p.endless,
	} {
		p.turn(how, func(path string) bool { return strings.HasSuffix(path, "/widgets") })
		path := "/api/v1/namespaces/" + name
		until(t, front, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"`+name+`"}}`, http.StatusCreated)
		until(t, front, http.MethodDelete, path, "", http.StatusOK)
		untilObject(t, front, path, func(namespace *corev1.Namespace) bool {
			for _, c := range namespace.Status.Conditions {
				if c.Type == corev1.NamespaceDeletionContentFailure && c.Status == corev1.ConditionTrue {
					return strings.Contains(c.Message, "widgets")
				}
			}
			return false
		})
	}
	if sent := p.mostSent(); sent > largest {
		t.Errorf("%d bytes of an answer were read", sent)
	}
	p.turn(nil, nil)
	for _, name := range []string{"another-host", "this-server", "endless"} {
		until(t, front, http.MethodGet, "/api/v1/namespaces/"+name, "", http.StatusNotFound)
	}
}

// TestRelayedWebhooks: a webhook that copies the bytes of its connections to this server asks it as nobody, whatever
// path of this server its address names.
func TestRelayedWebhooks(t *testing.T) {
	front := complete(t)
	for _, path := range []string{
		"/api/v1/namespaces/default/configmaps", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
		"/apis/shop.example.com/v2/cables",
	} {
		r := startRelay(t)
		r.to(t, front)
		registerWebhooks(t, front, "https://"+r.Addr().String()+path, front.CA)
		refused := refusal(t, front, http.MethodPost, "/api/v1/namespaces/default/configmaps",
			`{"metadata":{"name":"x"}}`)
		if !strings.Contains(refused, "failed to call webhook: Unauthorized") {
			t.Errorf("admission by %s: %q", path, refused)
		}
		refused = refusal(t, front, http.MethodGet, "/apis/shop.example.com/v2/cables", "")
		if !strings.Contains(refused, "the server has asked for the client to provide credentials") {
			t.Errorf("conversion by %s: %q", path, refused)
		}
		if turns := r.accepted.Load(); turns == 0 || turns > 4 {
			t.Errorf("%s: %d connections came back to the server", path, turns)
		}
		until(t, front, http.MethodDelete, hooks+"/v", "", http.StatusOK)
		until(t, front, http.MethodDelete, definitions+"/cables.shop.example.com", "", http.StatusOK)
		until(t, front, http.MethodGet, definitions+"/cables.shop.example.com", "", http.StatusNotFound)
	}
}
