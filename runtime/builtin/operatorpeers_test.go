package builtin_test

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin/auditlog"
	"apigen.dev/runtime/builtin/cluster"
	"apigen.dev/runtime/builtin/delegated"
	"apigen.dev/runtime/builtin/oidc"
	"apigen.dev/runtime/builtin/webhookauth"
	"apigen.dev/runtime/internal/host/kubeconfig"
	"apigen.dev/runtime/internal/testbed"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
)

// The paths of what an operator has a server ask.
const (
	clusterSecret     = "/api/v1/namespaces/shop/secrets/serving"
	clusterService    = "/apis/apiregistration.k8s.io/v1/apiservices/v1.shop.example.com"
	clusterConfigMaps = "/api/v1/namespaces/kube-system/configmaps"
	clusterTokens     = "/apis/authentication.k8s.io/v1/tokenreviews"
	clusterAccess     = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
	keysOfIssuer      = "/.well-known/openid-configuration"
)

// tokenOfAlice is a token that a server doesn't know itself.
const tokenOfAlice = "of-alice"

// operatorPeer is all peers whose addresses an operator chooses: a cluster, an issuer of tokens, and webhooks. It
// records METHOD URI CREDENTIALS [HEADERS], and whether a user's token is sent along.
type operatorPeer struct {
	recorder
	*httptest.Server
	secret json.RawMessage // guarded by mu; what the server wrote
}

func startOperatorPeer(t *testing.T) *operatorPeer {
	t.Helper()
	p := &operatorPeer{recorder: recorder{asked: map[string]bool{}}}
	p.Server = httptest.NewTLSServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.Close)
	return p
}

// serve records a request. The resourceVersion and the timeout of a watch are whatever they are.
func (p *operatorPeer) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	query := r.URL.Query()
	for key := range query {
		if key == "timeoutSeconds" || key == "resourceVersion" {
			query.Set(key, "N")
		}
	}
	uri := r.URL.Path
	if len(query) > 0 {
		uri += "?" + query.Encode()
	}
	who := cmp.Or(r.Header.Get("Authorization"), "nobody")
	if len(r.TLS.PeerCertificates) > 0 {
		who += " " + r.TLS.PeerCertificates[0].Subject.CommonName
	}
	if bytes.Contains(body, []byte(tokenOfAlice)) {
		who += " with a user's token"
	}
	p.record(fmt.Sprint(r.Method, " ", uri, " ", who, " ", slices.Sorted(maps.Keys(r.Header))))
	w.Header().Set("Content-Type", "application/json")
	if query.Has("watch") {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return
	}
	p.reply(w, r, body)
}

func (p *operatorPeer) record(request string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked[request] = true
}

func (p *operatorPeer) reply(w http.ResponseWriter, r *http.Request, body []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Method == http.MethodPut && r.URL.Path == clusterSecret {
		p.secret = body
	}
	answers := map[string]string{
		clusterTokens:     `{"status":{"authenticated":true,"user":{"username":"alice"}}}`,
		"/tokens":         `{"status":{"authenticated":true,"user":{"username":"alice"}}}`,
		clusterAccess:     `{"status":{"allowed":true}}`,
		"/access":         `{"status":{"allowed":true}}`,
		clusterConfigMaps: `{"metadata":{"resourceVersion":"1"},"items":[]}`,
		clusterSecret:     cmp.Or(string(p.secret), `{"kind":"Secret","apiVersion":"v1"}`),
		clusterService:    `{"spec":{"service":{"namespace":"shop","name":"shop"}}}`,
		keysOfIssuer:      `{"issuer":"` + p.URL + `","jwks_uri":"` + p.URL + `/keys"}`,
		"/keys":           `{"keys":[]}`,
		"/events":         `{}`,
	}
	if answers[r.URL.Path] == "" {
		w.WriteHeader(http.StatusNotFound)
	}
	_, _ = io.WriteString(w, answers[r.URL.Path])
}

// kubeconfig writes a kubeconfig of the peer with a token of its own, which is the user's name.
func (p *operatorPeer) kubeconfig(t *testing.T, path, user string) string {
	t.Helper()
	content, err := kubeconfig.Login{Name: "peer", Server: p.URL + path, CA: p.ca(), Token: user}.YAML()
	if err != nil {
		t.Fatal(err)
	}
	return testbed.Write(t, filepath.Join(t.TempDir(), "kubeconfig"), content)
}

func (p *operatorPeer) ca() []byte { return (&peer{Server: p.Server}).ca() }

// startWithFlags starts a server with features, and sends it a request of a user whom a peer has to know.
func startWithFlags(t *testing.T, args []string, features ...server.Feature) {
	t.Helper()
	s := apitest.StartWith(t, func(c *server.Config) {
		c.Modes = map[string]auth.Authorizer{}
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		modes := flags.StringSlice("authorization-mode", nil, "")
		for _, feature := range features {
			feature.AddFlags(flags)
		}
		if err := flags.Parse(args); err != nil {
			t.Fatal(err)
		}
		for _, feature := range features {
			if err := c.Use(t.Context(), feature); err != nil {
				t.Fatal(err)
			}
		}
		for _, mode := range *modes {
			c.Authorizer = c.Modes[mode]
		}
	}, registry.Group{Name: "shop.example.com", Versions: []string{"v1"}})
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.CA)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	t.Cleanup(transport.CloseIdleConnections)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/version", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+tokenOfAlice)
	response, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	if response.Body.Close(); response.StatusCode != http.StatusOK {
		t.Fatal(response.Status)
	}
}

// TestRequestsToTheOperatorsPeers: all that a server asks the peers that its operator names is what this table has,
// each with the credentials for that peer and no others, and without a header that nobody needs.
func TestRequestsToTheOperatorsPeers(t *testing.T) {
	p := startOperatorPeer(t)
	policy := testbed.Write(t, filepath.Join(t.TempDir(), "policy"),
		"apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n")
	startWithFlags(t, []string{
		"--authentication-kubeconfig=" + p.kubeconfig(t, "", "authentication"),
		"--authorization-kubeconfig=" + p.kubeconfig(t, "", "authorization"),
		"--cluster-certificate-kubeconfig=" + p.kubeconfig(t, "", "certificate"),
		"--cluster-certificate-secret=shop/serving", "--cluster-certificate-service=shop/shop",
		"--oidc-issuer-url=" + p.URL, "--oidc-client-id=shop",
		"--oidc-ca-file=" + testbed.Write(t, filepath.Join(t.TempDir(), "ca"), p.ca()),
		"--audit-webhook-config-file=" + p.kubeconfig(t, "/events", "audit"),
		"--audit-webhook-mode=blocking", "--audit-policy-file=" + policy,
	}, &delegated.Feature{}, &cluster.Feature{}, &oidc.Feature{}, &auditlog.Feature{})
	startWithFlags(t, []string{
		"--authentication-token-webhook-config-file=" + p.kubeconfig(t, "/tokens", "token-webhook"),
		"--authorization-webhook-config-file=" + p.kubeconfig(t, "/access", "authorization-webhook"),
		"--authorization-mode=Webhook", "--authentication-token-webhook-version=v1",
		"--authorization-webhook-version=v1",
	}, &webhookauth.Authentication{}, &webhookauth.Authorization{})
	wanted := operatorRequests()
	var missing, unexpected []string
	untilTrue(t, "all requests of the table, or another one", func() bool {
		asked := p.all()
		missing, unexpected = without(wanted, asked), without(asked, wanted)
		return len(missing) == 0 || len(unexpected) > 0
	})
	if len(unexpected) > 0 {
		t.Errorf("the table doesn't have\n%s\nnobody asks\n%s", strings.Join(unexpected, "\n"),
			strings.Join(missing, "\n"))
	}
}

// operatorRequests are the requests of a server to peers that its operator names.
func operatorRequests() (wanted []string) {
	const (
		named   = "?fieldSelector=metadata.name%3Dextension-apiserver-authentication"
		follow  = named + "&resourceVersion=N&timeoutSeconds=N&watch=true"
		review  = "[Accept Accept-Encoding Authorization Content-Length Content-Type User-Agent]"
		read    = "[Accept Accept-Encoding Authorization User-Agent]"
		nothing = "[Accept-Encoding User-Agent]"
	)
	for _, row := range []struct{ request, who, headers string }{
		{"POST " + clusterTokens + "?timeout=10s", "Bearer authentication with a user's token", review},
		{"GET " + clusterConfigMaps + named, "Bearer authentication", read},
		{"GET " + clusterConfigMaps + follow, "Bearer authentication", read},
		{"POST " + clusterAccess + "?timeout=10s", "Bearer authorization", review},
		{"GET " + clusterSecret, "Bearer certificate", read},
		{"PUT " + clusterSecret, "Bearer certificate", review},
		{"GET " + clusterService, "Bearer certificate", read},
		{"PATCH " + clusterService, "Bearer certificate", review},
		{"GET " + keysOfIssuer, "nobody", nothing},
		{"GET /keys", "nobody", nothing},
		{"POST /events", "Bearer audit", review},
		{"POST /tokens?timeout=30s", "Bearer token-webhook with a user's token", review},
		{"POST /access?timeout=30s", "Bearer authorization-webhook", review},
	} {
		wanted = append(wanted, row.request+" "+row.who+" "+row.headers)
	}
	return wanted
}

// without returns the texts that others don't have.
func without(texts, others []string) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return slices.Contains(others, text) })
}
