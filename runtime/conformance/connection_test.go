package conformance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	clientauthv1 "k8s.io/client-go/pkg/apis/clientauthentication/v1"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// credentialVariable makes the test binary a plugin for credentials: its value is the file that holds the token.
const credentialVariable = "CONFORMANCE_CREDENTIAL"

// tellCredential is what such a plugin prints.
func tellCredential(file string) error {
	token, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(clientauthv1.ExecCredential{
		TypeMeta: metav1.TypeMeta{APIVersion: clientauthv1.SchemeGroupVersion.String(), Kind: "ExecCredential"},
		Status:   &clientauthv1.ExecCredentialStatus{Token: strings.TrimSpace(string(token))},
	})
}

// uses writes, reads and watches through a config.
func uses(t *testing.T, config *rest.Config, name string) {
	t.Helper()
	client := newDynamic(t, config).Resource(flunders).Namespace("default")
	list, err := client.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	watching, err := client.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.GetResourceVersion(),
		FieldSelector: "metadata.name=" + name})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer watching.Stop()
	if _, err := client.Create(t.Context(), flunder(name), metav1.CreateOptions{}); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if got := take(t, watching, 1); got[0] != string(watch.Added)+" "+name {
		t.Errorf("%s: %s", name, got)
	}
}

// Whatever a client's transport is set to, the server gets along with it.
func TestTransports(t *testing.T) {
	onEach(t, func(t *testing.T, server *target) {
		var protocol atomic.Value
		for name, set := range map[string]func(*rest.Config){
			"usual": func(*rest.Config) {},
			"http1": func(c *rest.Config) { c.NextProtos = []string{"http/1.1"} },
			"plain": func(c *rest.Config) { c.DisableCompression = true },
			"bound": func(c *rest.Config) { c.Timeout = bound },
			"named": func(c *rest.Config) { c.UserAgent = "somebody/1.0 (with a very/odd name; x)" },
			"as": func(c *rest.Config) {
				c.Impersonate = rest.ImpersonationConfig{UserName: "other", Groups: []string{"system:masters"}}
			},
		} {
			config := rest.CopyConfig(server.config)
			set(config)
			config.Wrap(func(next http.RoundTripper) http.RoundTripper {
				return roundTripper(func(r *http.Request) (*http.Response, error) {
					answer, err := next.RoundTrip(r)
					if err == nil {
						protocol.Store(answer.Proto)
					}
					return answer, err
				})
			})
			uses(t, config, name)
			if want := map[bool]string{true: "HTTP/1.1", false: "HTTP/2.0"}[name == "http1"]; protocol.Load() != want {
				t.Errorf("%s: %s", name, protocol.Load())
			}
		}
	})
}

// proxy is one that connects whoever asks, as those of companies do, and counts them.
func proxy(t *testing.T) (address *url.URL, connected *atomic.Int64) {
	t.Helper()
	connected = new(atomic.Int64)
	var tunnels sync.WaitGroup
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			http.Error(w, "this proxy connects", http.StatusMethodNotAllowed)
			return
		}
		there, err := net.Dial("tcp", r.Host)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		here, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		connected.Add(1)
		fmt.Fprint(here, "HTTP/1.1 200 Connection established\r\n\r\n")
		tunnels.Go(func() { tunnel(there, here, buffered.Reader) })
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return address, connected
}

// tunnel copies both ways until one side ends.
func tunnel(there, here net.Conn, from *bufio.Reader) {
	defer there.Close()
	defer here.Close()
	go func() {
		_, _ = io.Copy(there, from) // either side may end it
		_ = there.Close()
	}()
	_, _ = io.Copy(here, there)
}

// A client reaches the server through a proxy.
func TestThroughAProxy(t *testing.T) {
	t.Parallel()
	server := startMemory(t)
	address, connected := proxy(t)
	for _, protocols := range [][]string{nil, {"http/1.1"}} {
		config := rest.CopyConfig(server.config)
		config.Proxy, config.NextProtos = http.ProxyURL(address), protocols
		uses(t, config, fmt.Sprintf("proxied-%d", len(protocols)))
	}
	if connected.Load() == 0 {
		t.Error("nobody came through the proxy")
	}
}

// A token that a client reads from a file, or gets of a plugin, is another one later.
// A plugin is asked again after a 401.
func TestTokensThatRotate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	known, held := filepath.Join(dir, "known.csv"), filepath.Join(dir, "token")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	write(known, `first,somebody,1,"system:masters"`+"\n")
	p := startProcess(t, "--token-auth-file="+known)
	base := rest.AnonymousClientConfig(newTarget(t, p.kubeconfig()).config)
	file, plugin := rest.CopyConfig(base), rest.CopyConfig(base)
	file.BearerTokenFile = held
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plugin.ExecProvider = &clientcmdapi.ExecConfig{
		Command: self, Env: []clientcmdapi.ExecEnvVar{{Name: credentialVariable, Value: held}},
		APIVersion: clientauthv1.SchemeGroupVersion.String(), InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
	}
	write(held, "first")
	uses(t, file, "file-first")
	uses(t, plugin, "plugin-first")
	write(known, `second,somebody,1,"system:masters"`+"\n")
	p.crash()
	write(held, "second")
	uses(t, file, "file-second")
	client := newDynamic(t, plugin).Resource(flunders)
	list := func() error {
		_, err := client.List(t.Context(), metav1.ListOptions{})
		return err
	}
	if err := insist(t.Context(), list); !apierrors.IsUnauthorized(err) {
		t.Errorf("with a token that was: %v", err)
	}
	if err := list(); err != nil {
		t.Errorf("with the token that the plugin tells now: %v", err)
	}
	if _, err := newDynamic(t, base).Resource(flunders).
		List(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("without a token: %v", err)
	}
}
