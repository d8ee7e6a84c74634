package conformance

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/internal/etcdtest"
	"k8s.io/client-go/rest"
)

// The quickstart's server without the embedded etcd is small, and soon there: with all that builtin.Standalone has, and
// without features.
func TestFootprint(t *testing.T) {
	store := etcdtest.Start(t)
	etcd := []string{"Embedded:", `storage/embedded"`}
	for _, test := range []struct {
		name        string
		without     []string // what a line of the main has that is left out
		size        int64    // in bytes
		residentKiB int
	}{
		{"no features", append([]string{"Features:", `runtime/builtin"`}, etcd...), 30_000_000, 50_000},
		{"builtin.Standalone", etcd, 52_000_000, 70_000},
	} {
		t.Run(test.name, func(t *testing.T) {
			binary := buildLean(t, test.without)
			info, err := os.Stat(binary)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("stripped: %d bytes", info.Size())
			if info.Size() >= test.size {
				t.Errorf("the binary has %d bytes", info.Size())
			}
			if memory := startSoon(t, binary, store); memory >= test.residentKiB {
				t.Errorf("%d KiB are resident", memory)
			}
		})
	}
}

// startSoon starts a server, which must be ready within a second, and returns its resident memory in KiB.
func startSoon(t *testing.T, binary string, store *etcdtest.Process) int {
	t.Helper()
	best, dir := time.Hour, t.TempDir()
	var memory int
	// the best counts: the machine may be busy
	for tries, late := 0, time.Now().Add(bound); tries < 5 || best > time.Second && time.Now().Before(late); tries++ {
		p := &process{t: t, binary: binary, dir: dir, log: filepath.Join(dir, "server.log"), arguments: []string{
			"--data-dir=" + filepath.Join(dir, "data"), "--secure-port=" + strconv.Itoa(etcdtest.FreePort(t)),
			"--etcd-servers=" + store.Endpoint()}}
		t.Cleanup(p.kill)
		begin := time.Now()
		p.start()
		p.ready()
		best = min(best, time.Since(begin))
		memory = residentKiB(t, p.command.Process.Pid)
		p.kill()
	}
	t.Logf("from exec to /readyz: %s; resident: %d KiB", best, memory)
	if best > time.Second {
		t.Errorf("ready after %s", best)
	}
	return memory
}

// buildLean builds the quickstart's command without the lines that have one of some texts, the embedded etcd among
// them.
func buildLean(t *testing.T, without []string) string {
	t.Helper()
	const project = "../../examples/quickstart"
	path, err := filepath.Abs(filepath.Join(project, "cmd", "shop", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lean := source
	for _, text := range without {
		before := lean
		lean = regexp.MustCompile(`(?m)^.*`+regexp.QuoteMeta(text)+`.*\n`).ReplaceAll(lean, nil)
		if bytes.Equal(lean, before) {
			t.Fatalf("the main is not as it was:\n%s", source)
		}
	}
	dir := t.TempDir()
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: filepath.Join(dir, "main.go")}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"main.go": lean, "overlay.json": overlay} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	binary := filepath.Join(dir, "shop")
	goRun(t, "build", "-C", project, "-overlay", filepath.Join(dir, "overlay.json"), "-ldflags=-s -w", "-o",
		binary, "./cmd/shop")
	if out, err := exec.Command("go", "version", "-m", binary).Output(); err != nil ||
		strings.Contains(string(out), "go.etcd.io/etcd/server") {
		t.Errorf("the etcd server is linked: %v", err)
	}
	return binary
}

// residentKiB is 0 where the system doesn't tell.
func residentKiB(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	found := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		t.Fatalf("no VmRSS in %s", status)
	}
	n, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A server for a test answers its first request within 50 ms.
func TestHarnessIsQuick(t *testing.T) {
	best := time.Hour
	for tries, late := 0, time.Now().Add(bound); tries < 5 ||
		best > 50*time.Millisecond && time.Now().Before(late); tries++ {
		begin := time.Now()
		server := apitest.Start(t, groups()...)
		response, err := server.Client.Get(server.URL + "/apis/wardle.example.com/v1beta1/flunders")
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		best = min(best, time.Since(begin))
	}
	t.Logf("the first answer came after %s", best)
	if best > 50*time.Millisecond {
		t.Errorf("the first answer came after %s", best)
	}
}

// ready waits until the server says so.
func (p *process) ready() {
	p.t.Helper()
	client, err := rest.HTTPClientFor(newTarget(p.t, p.kubeconfig()).config)
	if err != nil {
		p.t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	url := newTarget(p.t, p.kubeconfig()).config.Host + "/readyz"
	eventually(p.t, func() bool {
		response, err := client.Get(url)
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	}, func() string { return "the server does not get ready" })
}
