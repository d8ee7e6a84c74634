package definitions

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// binaryVariable names a kube-apiserver.
const binaryVariable = "KUBE_APISERVER"

// token is the administrator's.
const token = "administrator"

// instance is a server as a process of its own.
type instance struct {
	t         *testing.T
	arguments []string // the binary is the first
	log, url  string
	client    *http.Client
	command   *exec.Cmd
}

// newControlPlane prepares a server like examples/controlplane.
func newControlPlane(t *testing.T, binary, etcd string) *instance {
	t.Helper()
	return newInstance(t, etcd, "/ours", binary, "--data-dir="+t.TempDir())
}

// newKubeAPIServer prepares a kube-apiserver with its defaults and RBAC.
func newKubeAPIServer(t *testing.T, binary, etcd string) *instance {
	t.Helper()
	dir := t.TempDir()
	secret, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(dir, "sa.key")
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(secret)}
	if err := os.WriteFile(key, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	return newInstance(t, etcd, "/registry", binary, "--cert-dir="+dir, "--advertise-address=127.0.0.1",
		"--authorization-mode=RBAC", "--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+key, "--service-account-signing-key-file="+key,
		"--service-cluster-ip-range=10.0.0.0/24")
}

func newInstance(t *testing.T, etcd, prefix string, arguments ...string) *instance {
	t.Helper()
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(token+`,admin,1,"system:masters"`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true, DisableCompression: true,
	}
	i := &instance{t: t, url: "https://" + address, log: filepath.Join(dir, "log"),
		client: &http.Client{Transport: transport},
		arguments: append(arguments, "--bind-address=127.0.0.1", "--secure-port="+port, "--token-auth-file="+tokens,
			"--etcd-servers="+etcd, "--etcd-prefix="+prefix)}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		i.stop(os.Kill)
		if text, _ := os.ReadFile(i.log); t.Failed() {
			t.Logf("the log of %s ends with:\n%s", i.arguments[0], text[max(0, len(text)-5_000):])
		}
	})
	return i
}

// start starts the server, and returns the time until it is ready.
func (i *instance) start() time.Duration {
	i.t.Helper()
	log, err := os.OpenFile(i.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		i.t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	command := exec.Command(i.arguments[0], i.arguments[1:]...)
	command.Stdout, command.Stderr = log, log
	begin := time.Now()
	if err := command.Start(); err != nil {
		i.t.Fatal(err)
	}
	i.command = command
	i.until(10*time.Millisecond, "it is ready", func() bool {
		response, err := i.send(http.MethodGet, "/readyz", "", nil)
		return err == nil && response.status == http.StatusOK
	})
	return time.Since(begin)
}

// stop ends the server by a signal, and waits for its end.
func (i *instance) stop(signal os.Signal) {
	if i.command == nil {
		return
	}
	_ = i.command.Process.Signal(signal) // it may have ended
	_ = i.command.Wait()
	i.command = nil
}

// answer is an answer of a server.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// send sends a request. Accept and other fields of its header stand in pairs.
func (i *instance) send(method, path, contentType string, body []byte, header ...string) (*answer, error) {
	request, err := http.NewRequestWithContext(i.t.Context(), method, i.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	for n := 0; n < len(header); n += 2 {
		request.Header.Set(header[n], header[n+1])
	}
	response, err := i.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return &answer{response.StatusCode, response.Header, text}, err
}

// must sends a request, which must succeed.
func (i *instance) must(method, path, contentType string, body []byte, header ...string) *answer {
	i.t.Helper()
	got, err := i.send(method, path, contentType, body, header...)
	if err != nil {
		i.t.Fatal(err)
	}
	if got.status != http.StatusOK && got.status != http.StatusCreated {
		i.t.Fatalf("%s %s: %d %.1000s", method, path, got.status, got.body)
	}
	return got
}

func (i *instance) get(path string) []byte {
	i.t.Helper()
	return i.must(http.MethodGet, path, "", nil).body
}

// until repeats a step until it is done.
func (i *instance) until(pause time.Duration, what string, step func() bool) {
	i.t.Helper()
	ctx, cancel := context.WithTimeout(i.t.Context(), 10*time.Minute)
	defer cancel()
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for !step() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			i.t.Fatalf("%s: waited in vain until %s", i.arguments[0], what)
		}
	}
}

// proc returns a file that the system has for the process.
func (i *instance) proc(name string) string {
	i.t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(i.command.Process.Pid), name))
	if err != nil {
		i.t.Fatal(err)
	}
	return string(text)
}

// userHZ is how many ticks a second has in /proc, on every architecture.
const userHZ = 100

// cpu is the time that the process has run, in user and in system mode.
func (i *instance) cpu() time.Duration {
	i.t.Helper()
	text := i.proc("stat")
	fields := strings.Fields(text[strings.LastIndex(text, ")")+1:])
	ticks := 0
	for _, field := range fields[11:13] { // utime and stime; the first is the third of the line
		n, err := strconv.Atoi(field)
		if err != nil {
			i.t.Fatalf("%s: %v", text, err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / userHZ
}

// cost is the CPU time of a step, with what the server does before it rests again.
func (i *instance) cost(step func()) time.Duration {
	i.t.Helper()
	before := i.cpu()
	step()
	return i.rest() - before
}

// rest waits until the server uses less than a tenth of a CPU for three seconds, and returns its CPU time before them.
func (i *instance) rest() time.Duration {
	i.t.Helper()
	var times []time.Duration
	i.until(time.Second, "it rests", func() bool {
		times = append(times, i.cpu())
		n := len(times)
		return n > 3 && times[n-1]-times[n-4] < 300*time.Millisecond
	})
	return times[len(times)-4]
}

var (
	vmRSS     = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)
	heapAlloc = regexp.MustCompile(`# HeapAlloc = (\d+)`)
)

// resident returns the resident memory.
func (i *instance) resident() megabytes {
	i.t.Helper()
	return i.number(vmRSS, i.proc("status")) * 1024 / 1e6
}

// heap returns the live heap. What pools hold goes with the second garbage collection.
func (i *instance) heap() megabytes {
	i.t.Helper()
	i.get("/debug/pprof/heap?gc=1&debug=1")
	return i.number(heapAlloc, string(i.get("/debug/pprof/heap?gc=1&debug=1"))) / 1e6
}

func (i *instance) number(pattern *regexp.Regexp, text string) megabytes {
	i.t.Helper()
	found := pattern.FindStringSubmatch(text)
	if found == nil {
		i.t.Fatalf("no %s in %.1000s", pattern, text)
	}
	n, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		i.t.Fatal(err)
	}
	return megabytes(n)
}

// megabytes are 1,000,000 bytes each.
type megabytes float64

func (m megabytes) String() string { return fmt.Sprintf("%.0f MB", float64(m)) }
