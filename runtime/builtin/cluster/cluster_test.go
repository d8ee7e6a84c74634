package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/host/certs"
	"apigen.dev/runtime/internal/host/kubeconfig"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage/memory"
	"github.com/spf13/pflag"
)

// configure parses flags into a feature, and configures a server with it.
func configure(t *testing.T, config *server.Config, args ...string) error {
	t.Helper()
	feature, flags := &Feature{}, pflag.NewFlagSet("", pflag.ContinueOnError)
	feature.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return config.Use(t.Context(), feature)
}

// kubeconfig writes a kubeconfig of the host.
func (h *host) kubeconfig(t *testing.T) string {
	t.Helper()
	content, err := kubeconfig.Login{Name: "h", Server: h.url.String(), Token: "t"}.YAML()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A server is ready once it has a certificate of the Secret. It shows that to clients that ask for the Service, and its
// own certificate to others.
func TestServer(t *testing.T) {
	h := newHost(t)
	own, ownTrust, err := certs.SelfSigned("localhost")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config := server.Config{
		Groups: []registry.Group{{Name: "shop.example.com",
			Versions: []string{"v1"}}},
		Storage: server.Storage{Backend: memory.New()},
		Serving: server.Serving{Listener: listener, TLS: &tls.Config{
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return own, nil },
		}},
	}
	if err := configure(t, &config, "--cluster-certificate-secret="+testSecret.String(),
		"--cluster-certificate-service="+testService.String(),
		"--cluster-certificate-kubeconfig="+h.kubeconfig(t)); err != nil {
		t.Fatal(err)
	}
	ready := make(chan struct{})
	start := config.Hooks[0].PostStart
	config.Hooks[0].PostStart = func(ctx context.Context) error {
		defer close(ready)
		return start(ctx)
	}
	run(t, config)
	<-ready
	for name, trust := range map[string][]byte{"shop.shop.svc": h.bundle(t), "localhost": ownTrust} {
		if code := codeOf(t, "https://"+listener.Addr().String()+"/livez", name, trust); code != http.StatusOK {
			t.Errorf("%s: %d", name, code)
		}
	}
}

// codeOf returns the code of an answer of a server that shows a certificate for a name.
func codeOf(t *testing.T, url, name string, trust []byte) int {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(trust)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: name}}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Get(url)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	response.Body.Close()
	return response.StatusCode
}

// run runs a server until the test ends.
func run(t *testing.T, config server.Config) {
	t.Helper()
	s, err := server.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// The flags are refused where they say nothing that a server can do.
func TestFlags(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	for _, c := range []struct{ args, want string }{
		{"", ""},
		{"--cluster-certificate-service=shop/shop", "need --cluster-certificate-secret"},
		{"--cluster-certificate-secret=shop", `--cluster-certificate-secret: "shop" is no namespace/name`},
		{"--cluster-certificate-secret=shop/s", `--cluster-certificate-service: "" is no namespace/name`},
		{"--cluster-certificate-secret=shop/s --cluster-certificate-service=shop/../x", "is no namespace/name"},
		{"--cluster-certificate-secret=shop/s --cluster-certificate-service=shop/s", "runs in no pod"},
	} {
		config := server.Config{}
		err := configure(t, &config, strings.Fields(c.args)...)
		if c.want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || len(config.Hooks) > 0 {
			t.Errorf("%s: %v, want %s", c.args, err, c.want)
		}
	}
}

func TestAPIServiceNames(t *testing.T) {
	got := apiServices([]registry.Group{
		{Versions: []string{"v1"}}, {Name: "b.io", Versions: []string{"v2", "v1"}},
		{Name: "a.io", Versions: []string{"v1"}},
	})
	if want := []string{"v1.a.io", "v1.b.io", "v2.b.io"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
