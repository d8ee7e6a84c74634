package recorded

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/server"
	"sigs.k8s.io/yaml"

	"example.com/kubernetes/internal/program"
)

// show prints our answers to writes without a recorded one.
var show = flag.Bool("show", false, "print the answers to writes that have none")

// start runs the program of this project, and returns it as a peer.
func start(t *testing.T) (*peer, string) {
	t.Helper()
	dir := t.TempDir()
	ctx, stop := context.WithCancel(context.Background())
	out, in := io.Pipe()
	command := server.Command(program.New())
	command.SetArgs([]string{"--bind-address=127.0.0.1", "--secure-port=0", "--data-dir=" + dir,
		"--disable-admission-plugins=ServiceAccount"})
	command.SetOut(in)
	ended := make(chan error, 1)
	go func() {
		err := command.ExecuteContext(ctx)
		_ = in.Close() // it never fails
		ended <- err
	}()
	lines := bufio.NewScanner(out)
	path := ""
	for path == "" && lines.Scan() {
		_, path, _ = strings.Cut(lines.Text(), "kubeconfig: ")
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	if path == "" {
		stop()
		t.Fatalf("the server ended: %v", <-ended)
	}
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	p := readKubeconfig(t, path)
	p.until(t, http.MethodGet, "/readyz", "", http.StatusOK)
	return p, path
}

// readKubeconfig reads the kubeconfig of an administrator, which has a client certificate.
func readKubeconfig(t *testing.T, path string) *peer {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Clusters []struct {
			Cluster struct {
				Server string
				CA     []byte `json:"certificate-authority-data"`
			}
		}
		Users []struct {
			User struct {
				Certificate []byte `json:"client-certificate-data"`
				Key         []byte `json:"client-key-data"`
			}
		}
	}
	if err := yaml.Unmarshal(data, &config); err != nil {
		t.Fatal(err)
	}
	cluster, user := config.Clusters[0].Cluster, config.Users[0].User
	pair, err := tls.X509KeyPair(user.Certificate, user.Key)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(cluster.CA)
	return &peer{url: strings.TrimSuffix(cluster.Server, "/"), client: &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{
			RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12,
		},
		ForceAttemptHTTP2: true,
	}}}
}

// until repeats a request until it is answered with a code.
func (p *peer) until(t *testing.T, method, path, body string, wanted ...int) {
	t.Helper()
	var last string
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); <-time.After(50 * time.Millisecond) {
		code, answer, err := p.send(t.Context(), method, path, "application/json", body)
		for _, want := range wanted {
			if err == nil && code == want {
				return
			}
		}
		if last = string(answer); err != nil {
			last = err.Error()
		}
	}
	t.Fatalf("%s %s: %s", method, path, last)
}

// enter creates the namespace of the scripts.
func (p *peer) enter(t *testing.T) {
	t.Helper()
	p.until(t, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"writes"}}`, http.StatusCreated,
		http.StatusConflict)
}

// measured are the kinds of which at least ten writes are refused.
var measured = []string{
	"pods", "deployments", "services", "jobs", "statefulsets", "persistentvolumes", "persistentvolumeclaims",
	"ingresses", "networkpolicies", "horizontalpodautoscalers", "roles", "clusterrolebindings",
}

// wanted is the answer that ours is to give.
func (w *write) wanted() string {
	if w.why != "" {
		return w.ours
	}
	return w.answer
}

// goValue finds a Go value in an error, which kube-apiserver shows by the names of its internal types.
var goValue = regexp.MustCompile(`(Invalid|Unsupported|Duplicate) value: (\{.*?\}|\[\{.*?\}\]): `)

// same compares two answers, but for such values.
func same(a, b string) bool {
	hide := func(text string) string {
		return goValue.ReplaceAllString(lastValue.ReplaceAllString(text, "$1"), "$1 value: ")
	}
	return hide(a) == hide(b)
}

// lastValue finds a Go value at the end of an error.
var lastValue = regexp.MustCompile(`(?m)(Duplicate value): \{.*\}$`)

// TestWrites: each write is answered as kube-apiserver answered it.
func TestWrites(t *testing.T) {
	ours, _ := start(t)
	ours.enter(t)
	for _, s := range readScripts(t) {
		t.Run(strings.TrimSuffix(filepath.Base(s.file), ".txt"), func(t *testing.T) {
			ours.prepare(t, s)
			refused := 0
			for _, w := range s.writes {
				got := ours.ask(t, s, w)
				switch {
				case w.answer == "" && *show:
					t.Logf("%s %s\n%s", w.name(), w.patch, got)
				case w.answer == "":
					t.Errorf("%s %s: no answer is recorded", w.name(), w.patch)
				case w.why != "" && same(w.answer, w.ours):
					t.Errorf("%s %s: no difference any more", w.name(), w.patch)
				case !same(got, w.wanted()):
					t.Errorf("%s %s\nwant\n%sgot\n%s", w.name(), w.patch, w.wanted(), got)
				}
				if strings.HasPrefix(got, "= 4") {
					refused++
				}
			}
			if name := filepath.Base(t.Name()); slices.Contains(measured, name) && refused < 10 {
				t.Errorf("%d writes are refused", refused)
			}
		})
	}
}
