package access

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin/delegated"
	"apigen.dev/runtime/conformance/apis"
	"apigen.dev/runtime/internal/host/kubeconfig"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	"github.com/spf13/cobra"
)

// inMemory is a backend in the process.
type inMemory struct{ storage.Embedded }

func (inMemory) Open(context.Context, string, storage.EmbeddedOptions) (storage.Backend, error) {
	return memory.New(), nil
}

// spy is a feature that records which authority signed the certificate of the proxy that is believed, and which users
// the proxy names.
type spy struct {
	server.Base
	auth.Authenticator

	mu     sync.Mutex // guards the fields below
	issuer string
	users  map[string]*auth.User // by the audit ID of the request
}

func (s *spy) Configure(context.Context, *server.Config) (server.Contribution, error) {
	return server.Contribution{Check: func(config *server.Config) error {
		s.Authenticator, config.Authentication.FrontProxy = config.Authentication.FrontProxy, s
		return nil
	}}, nil
}

func (s *spy) Authenticate(r *http.Request) (*auth.User, error) {
	user, err := s.Authenticator.Authenticate(r)
	if user != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.issuer = r.TLS.PeerCertificates[0].Issuer.CommonName
		if s.users == nil {
			s.users = map[string]*auth.User{}
		}
		s.users[r.Header.Get("Audit-Id")] = user
	}
	return user, err
}

func (s *spy) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.issuer = ""
}

func (s *spy) believed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.issuer
}

// user returns the user of a request through the proxy; nil if there was no such request.
func (s *spy) user(auditID string) *auth.User {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.users[auditID]
}

// startGuest runs a server whose host is the cluster, and returns its address.
func startGuest(t *testing.T, c *cluster, spy *spy) string {
	t.Helper()
	content, err := kubeconfig.Login{Name: "host", Server: c.url, Token: guestToken}.YAML()
	if err != nil {
		t.Fatal(err)
	}
	content = []byte(strings.Replace(string(content), "server: ", "insecure-skip-tls-verify: true\n    server: ", 1))
	host := c.write(t, "host.kubeconfig", content)
	command := server.Command(server.Program{
		Name: "guest", Groups: apis.Groups(), Embedded: inMemory{},
		Features: []server.Feature{&delegated.Feature{}, spy},
	})
	return run(t, command, "--data-dir="+filepath.Join(c.dir, "guest"), "--authentication-kubeconfig="+host,
		"--authorization-kubeconfig="+host, "--authorization-webhook-cache-unauthorized-ttl=0s")
}

// run runs a server in the test's process until the test ends, and returns its address.
func run(t *testing.T, command *cobra.Command, args ...string) string {
	t.Helper()
	command.SetArgs(append([]string{"--secure-port=0"}, args...))
	out, said := io.Pipe()
	command.SetOut(said)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		err := command.ExecuteContext(ctx)
		_ = said.CloseWithError(err)
		ended <- err
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("%s ended with: %v", command.Name(), err)
		}
	})
	var address string
	if _, err := fmt.Fscanf(out, "serving %s", &address); err != nil {
		t.Fatalf("%s does not serve: %v", command.Name(), err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return address
}

const (
	rbac     = "/apis/rbac.authorization.k8s.io/v1"
	group    = "/apis/wardle.example.com/v1beta1"
	flunders = group + "/namespaces/shop/flunders"
	flunder  = `{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder","metadata":{"name":"a"}}`
)

// prepare gives the guest its rights in the cluster, and makes the service account shop/viewer, which may read flunders
// in its namespace. It returns the token of the account.
func prepare(t *testing.T, c *cluster) string {
	t.Helper()
	const guest = `"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"guest"}]`
	c.create(t, "/api/v1/namespaces", `{"metadata":{"name":"shop"}}`)
	c.create(t, "/api/v1/namespaces", `{"metadata":{"name":"other"}}`)
	c.create(t, rbac+"/clusterrolebindings", `{"metadata":{"name":"guest"},"roleRef":{"kind":"ClusterRole",
		"apiGroup":"rbac.authorization.k8s.io","name":"system:auth-delegator"},`+guest+`}`)
	c.until(t, adminToken, "GET", rbac+"/namespaces/kube-system/roles/extension-apiserver-authentication-reader", "",
		200, "")
	c.create(t, rbac+"/namespaces/kube-system/rolebindings", `{"metadata":{"name":"guest"},"roleRef":{"kind":"Role",
		"apiGroup":"rbac.authorization.k8s.io","name":"extension-apiserver-authentication-reader"},`+guest+`}`)
	c.create(t, rbac+"/namespaces/shop/roles", `{"metadata":{"name":"reader"},"rules":[{"verbs":["get","list"],
		"apiGroups":["wardle.example.com"],"resources":["flunders"]}]}`)
	c.create(t, rbac+"/namespaces/shop/rolebindings", `{"metadata":{"name":"reader"},"roleRef":{"kind":"Role",
		"apiGroup":"rbac.authorization.k8s.io","name":"reader"},
		"subjects":[{"kind":"ServiceAccount","namespace":"shop","name":"viewer"}]}`)
	c.create(t, "/api/v1/namespaces/shop/serviceaccounts", `{"metadata":{"name":"viewer"}}`)
	var request struct {
		Status struct {
			Token string `json:"token"`
		} `json:"status"`
	}
	answer := c.create(t, "/api/v1/namespaces/shop/serviceaccounts/viewer/token",
		`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}`)
	if err := json.Unmarshal([]byte(answer), &request); err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

// register makes the group of the guest one of the cluster.
func register(t *testing.T, c *cluster, address string) {
	t.Helper()
	port := address[strings.LastIndex(address, ":")+1:]
	if !c.noServices {
		c.create(t, "/api/v1/namespaces/shop/services",
			`{"metadata":{"name":"guest"},"spec":{"type":"ExternalName","externalName":"localhost"}}`)
	}
	c.create(t, "/apis/apiregistration.k8s.io/v1/apiservices", `{"metadata":{"name":"v1beta1.wardle.example.com"},
		"spec":{"group":"wardle.example.com","version":"v1beta1","groupPriorityMinimum":1000,"versionPriority":10,
		"insecureSkipTLSVerify":true,"service":{"namespace":"shop","name":"guest","port":`+port+`}}}`)
	c.until(t, adminToken, "GET", group, "", 200, "flunders")
}

// A service account of the cluster sees through the aggregator, and at the guest, what the cluster's RBAC allows.
func TestGuestOfCluster(t *testing.T) { testGuest(t, startCluster(t)) }

// So it does where the cluster is a server of apigen.
func TestGuestOfControlPlane(t *testing.T) { testGuest(t, startControlPlane(t)) }

func testGuest(t *testing.T, c *cluster) {
	viewer := prepare(t, c)
	spy := &spy{}
	guest := startGuest(t, c, spy)
	register(t, c, guest)
	c.create(t, flunders, flunder)
	direct := insecure(t)
	for _, test := range []struct {
		token, method, path, body string
		code                      int
		text                      string
	}{
		{viewer, "GET", flunders, "", 200, `"name":"a"`},
		{viewer, "GET", flunders + "/a", "", 200, `"name":"a"`},
		{viewer, "GET", group + "/namespaces/other/flunders", "", 403,
			`User \"system:serviceaccount:shop:viewer\" cannot list resource \"flunders\" in API group ` +
				`\"wardle.example.com\" in the namespace \"other\"`},
		{viewer, "GET", group + "/flunders", "", 403, "at the cluster scope"},
		{viewer, "DELETE", flunders + "/a", "", 403, "cannot delete resource"},
		{viewer, "POST", flunders, flunder, 403, "cannot create resource"},
		{viewer, "GET", flunders + "?watch=true", "", 403, "cannot watch resource"},
		{adminToken, "GET", group + "/flunders", "", 200, `"name":"a"`},
		{"wrong", "GET", flunders, "", 401, "Unauthorized"},
	} {
		if code, body := c.ask(t, test.token, test.method, test.path, test.body); code != test.code ||
			!strings.Contains(body, test.text) {
			t.Errorf("through the aggregator: %s %s: %d %s, want %d %s", test.method, test.path, code, body, test.code,
				test.text)
		}
		if code, body := ask(t, direct, guest, test.token, test.method, test.path, test.body); code != test.code ||
			!strings.Contains(body, test.text) {
			t.Errorf("at the guest: %s %s: %d %s, want %d %s", test.method, test.path, code, body, test.code, test.text)
		}
	}
	if got := spy.believed(); got != "front proxy" {
		t.Errorf("the aggregator came with a certificate of %q", got)
	}
	t.Run("certificates", func(t *testing.T) { certificates(t, c, guest) })
	t.Run("a binding holds for the next request", func(t *testing.T) {
		c.create(t, rbac+"/namespaces/other/rolebindings",
			`{"metadata":{"name":"reader"},"roleRef":{"kind":"ClusterRole",
			"apiGroup":"rbac.authorization.k8s.io","name":"cluster-admin"},
			"subjects":[{"kind":"ServiceAccount","namespace":"shop","name":"viewer"}]}`)
		c.until(t, viewer, "GET", group+"/namespaces/other/flunders", "", 200, "FlunderList")
	})
	t.Run("rotation", func(t *testing.T) { rotate(t, c, spy, guest, viewer) })
}

// certificates are asked for at the guest: those of the cluster's clients hold, and headers need the front proxy's.
func certificates(t *testing.T, c *cluster, guest string) {
	stranger := newAuthority(t, "stranger")
	for name, test := range map[string]struct {
		client *http.Client
		code   int
	}{
		"administrator of the cluster": {insecure(t, c.clients.pair(t, "root", auth.Masters)), 200},
		"user without rights":          {insecure(t, c.clients.pair(t, "bob")), 403},
		"stranger":                     {insecure(t, stranger.pair(t, "root", auth.Masters)), 401},
		"stranger as aggregator":       {insecure(t, stranger.pair(t, "aggregator")), 401},
		"another name":                 {insecure(t, c.front.pair(t, "other")), 401},
		"nobody":                       {insecure(t), 401},
		"aggregator":                   {insecure(t, c.front.pair(t, "aggregator")), 200},
	} {
		code, body := ask(t, test.client, guest, "", "GET", group+"/flunders", "", "X-Remote-User", "root",
			"X-Remote-Group", auth.Masters)
		if code != test.code {
			t.Errorf("%s: %d %s, want %d", name, code, body, test.code)
		}
	}
}

// rotate replaces the authority of the front proxy, first where it is believed and then where it signs. The guest
// answers all the time.
func rotate(t *testing.T, c *cluster, spy *spy, guest, viewer string) {
	renewed := newAuthority(t, "renewed")
	stop := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if code, body := c.ask(t, viewer, "GET", flunders, ""); code != 200 {
				t.Errorf("during the rotation: %d %s", code, body)
				return
			}
		}
	})
	c.write(t, "front.crt", append(c.front.pem(), renewed.pem()...))
	proxy := insecure(t, renewed.pair(t, "aggregator"))
	until(t, func() (bool, string) {
		code, body := ask(t, proxy, guest, "", "GET", flunders, "", "X-Remote-User", "root", "X-Remote-Group",
			auth.Masters)
		return code == 200, body
	})
	c.writeProxy(t, renewed, "aggregator")
	spy.forget()
	until(t, func() (bool, string) {
		_, body := c.ask(t, viewer, "GET", flunders, "")
		return spy.believed() == "renewed", body
	})
	close(stop)
	asking.Wait()
}
