package faults

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"apigen.dev/runtime/internal/etcdtest"
	"sigs.k8s.io/yaml"
)

// startTimeout bounds how long a server may take to be ready.
const startTimeout = 3 * time.Minute

// library is the server of examples/library, a downstream repository like any other; controlplane has definitions of
// resources, roles and bindings.
var (
	library      = program("library", "./cmd/library")
	controlplane = program("controlplane", ".")
)

// program builds a package of an example once, where a test wants it.
func program(example, of string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		dir, err := binaries()
		if err != nil {
			return "", err
		}
		path := filepath.Join(dir, example)
		command := exec.Command("go", "build", "-o", path, of)
		command.Dir = filepath.Join("..", "..", "examples", example)
		if output, err := command.CombinedOutput(); err != nil {
			return "", fmt.Errorf("building the server: %w\n%s", err, output)
		}
		return path, nil
	})
}

// binaries makes the directory of what was built; built is where it is, if any test wanted it.
var (
	binaries = sync.OnceValues(func() (string, error) {
		dir, err := os.MkdirTemp("", "apigen-faults-")
		built.Store(&dir)
		return dir, err
	})
	built atomic.Pointer[string]
)

func TestMain(m *testing.M) {
	code := m.Run()
	if dir := built.Load(); dir != nil {
		os.RemoveAll(*dir)
	}
	os.Exit(code)
}

// replica is a server process. What changes it is called from one goroutine.
type replica struct {
	t         testing.TB
	binary    func() (string, error)
	dir, home string // of its log, and its data directory
	arguments []string
	url       string
	caFile    string // of a further authority that clients trust, if any
	// client waits long, for requests; watcher has no deadline.
	client, watcher *http.Client

	command *exec.Cmd
	done    chan struct{}
}

// startReplica runs a server on a free port and waits until it is ready.
func startReplica(t testing.TB, flags ...string) *replica {
	t.Helper()
	r := launchReplica(t, flags...)
	r.await()
	return r
}

func launchReplica(t testing.TB, flags ...string) *replica {
	t.Helper()
	r := newReplica(t, flags...)
	r.launch()
	return r
}

// newReplica is a server that was not launched yet; there is no home.
func newReplica(t testing.TB, flags ...string) *replica {
	t.Helper()
	dir, port := t.TempDir(), etcdtest.FreePort(t)
	r := &replica{t: t, binary: library, dir: dir, home: filepath.Join(dir, "data"),
		url: fmt.Sprintf("https://127.0.0.1:%d", port)}
	r.arguments = append([]string{"--data-dir=" + r.home, fmt.Sprintf("--secure-port=%d", port),
		"--watch-cache-consistency-check=1s"}, flags...)
	t.Cleanup(func() {
		if r.command != nil {
			r.kill()
		}
		if err := r.crashed("\npanic: ", "\nfatal error: "); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Logf("the log of %s:\n%s", r.url, tail(string(log), 4000))
		}
	})
	return r
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// launch starts the process.
func (r *replica) launch() {
	r.t.Helper()
	path, err := r.binary()
	if err != nil {
		r.t.Fatal(err)
	}
	log, err := os.OpenFile(filepath.Join(r.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		r.t.Fatal(err)
	}
	defer log.Close()
	command := exec.Command(path, r.arguments...)
	command.Env = append(os.Environ(), "APIGEN_VERIFY=1")
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = dieWithParent()
	if err := command.Start(); err != nil {
		r.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		_ = command.Wait() // how it ended is in its log
		close(done)
	}()
	r.command, r.done = command, done
}

// crashed is an error where the log has a sign of the server's end by itself: its checks panic.
func (r *replica) crashed(signs ...string) error {
	log, err := os.ReadFile(filepath.Join(r.dir, "log"))
	if err != nil {
		return err
	}
	for _, sign := range signs {
		if at := strings.Index("\n"+string(log), sign); at >= 0 {
			return fmt.Errorf("a server crashed: %.4000s", log[at:])
		}
	}
	return nil
}

// await waits until the server is ready.
func (r *replica) await() {
	r.t.Helper()
	deadline := time.After(startTimeout)
	for {
		if r.ready() {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-r.done:
			log, _ := os.ReadFile(filepath.Join(r.dir, "log"))
			r.t.Fatalf("the server ended:\n%s", tail(string(log), 4000))
		case <-deadline:
			log, _ := os.ReadFile(filepath.Join(r.dir, "log"))
			r.t.Fatalf("the server is not ready after %s:\n%s", startTimeout, tail(string(log), 4000))
		}
	}
}

func (r *replica) ready() bool {
	if r.client == nil && !r.connect() {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), haste)
	defer cancel()
	code, _, err := r.do(ctx, http.MethodGet, "/readyz", "", nil)
	return err == nil && code == http.StatusOK
}

// program runs the server's program with other arguments, on its data directory.
func (r *replica) program(arguments ...string) (string, error) {
	path, err := r.binary()
	if err != nil {
		return "", err
	}
	output, err := exec.Command(path, append(arguments, r.arguments[0])...).CombinedOutput()
	return string(output), err
}

// connect reads the admin kubeconfig, once it is there.
func (r *replica) connect() bool {
	content, err := os.ReadFile(filepath.Join(r.home, "admin.kubeconfig"))
	if err != nil {
		return false
	}
	var file struct {
		Clusters []struct {
			Cluster struct {
				CA []byte `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Certificate []byte `json:"client-certificate-data"`
				Key         []byte `json:"client-key-data"`
			} `json:"user"`
		} `json:"users"`
	}
	if err := yaml.Unmarshal(content, &file); err != nil || len(file.Clusters) == 0 || len(file.Users) == 0 {
		return false // it is being written
	}
	pair, err := tls.X509KeyPair(file.Users[0].User.Certificate, file.Users[0].User.Key)
	if err != nil {
		r.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(file.Clusters[0].Cluster.CA)
	if r.caFile != "" {
		authority, err := os.ReadFile(r.caFile)
		if err != nil {
			r.t.Fatal(err)
		}
		roots.AppendCertsFromPEM(authority)
	}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair},
			MinVersion: tls.VersionTLS12},
		MaxIdleConnsPerHost: 100,
	}
	r.t.Cleanup(transport.CloseIdleConnections)
	r.watcher = &http.Client{Transport: transport}
	r.client = &http.Client{Transport: transport, Timeout: startTimeout}
	return true
}

// do makes a request; a failure leaves open whether it was carried out.
func (r *replica) do(ctx context.Context, method, path, contentType string, body []byte) (int, []byte, error) {
	return r.as(ctx, "", method, path, contentType, body)
}

// as is do, as a user whom the administrator impersonates; "" is the administrator.
func (r *replica) as(
	ctx context.Context, user, method, path, contentType string, body []byte,
) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, r.url+path, strings.NewReader(string(body)))
	if err != nil {
		return 0, nil, err
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	if user != "" {
		request.Header.Set("Impersonate-User", user)
	}
	response, err := r.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// kill is kill -9.
func (r *replica) kill() {
	r.t.Helper()
	if err := r.command.Process.Kill(); err != nil && !r.ended() {
		r.t.Fatal(err)
	}
	<-r.done
	r.command = nil
}

// terminate is SIGTERM; the server ends by itself.
func (r *replica) terminate() {
	r.t.Helper()
	r.signal(syscall.SIGTERM)
	select {
	case <-r.done:
	case <-time.After(startTimeout):
		r.t.Fatalf("the server goes on %s after SIGTERM", startTimeout)
	}
	if code := r.command.ProcessState.ExitCode(); code != 0 {
		r.t.Errorf("the server exited with %d after SIGTERM", code)
	}
	r.command = nil
}

func (r *replica) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// restart starts a killed server again, with the same data and port, and waits until it is ready.
func (r *replica) restart() {
	r.t.Helper()
	r.launch()
	r.await()
}

func (r *replica) stop()   { r.signal(syscall.SIGSTOP) }
func (r *replica) resume() { r.signal(syscall.SIGCONT) }

func (r *replica) signal(s syscall.Signal) {
	r.t.Helper()
	if r.ended() {
		r.t.Fatal("the server has ended by itself")
	}
	if err := r.command.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}
