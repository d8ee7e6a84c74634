package definitions

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// leftOut are the tests of the suites, or parts of them, that don't run here, and why. All others must pass.
var leftOut = map[string]string{
	"TestCBORStorageEnablement":    "it switches CBOR off by a feature gate in its own process",
	"TestCBORServingEnablement":    "it switches CBOR off by a feature gate in its own process",
	"TestPruningFromStorage":       "it reads a configuration that only a server of apiextensions-apiserver has",
	"TestFieldSelectorDropFields":  "it runs the server as Kubernetes 1.31, without selectable fields",
	"TestFieldSelectorDisablement": "it runs the server as Kubernetes 1.31, without selectable fields",
	"TestRatchetingDropFields":     "it runs the server as Kubernetes 1.32, without optionalOldSelf",
	"TestEtcdStorage": "it wants definitions stored as apiextensions.k8s.io/v1beta1; ours are stored as v1, under " +
		"the same keys",
	"TestFieldSelectorOpenAPI/OpenAPIv2": "it wants values of extensions in protobuf as indented YAML; ours are " +
		"JSON, which is YAML",
}

// TestSuites runs the integration suites of apiextensions-apiserver against examples/controlplane. Their package of
// fixtures, which starts a server, is replaced by testdata/server.go.txt.
func TestSuites(t *testing.T) {
	dir := t.TempDir()
	suites := copySuites(t, dir)
	t.Setenv("CONTROLPLANE", build(t, dir, "../../../examples/controlplane", "."))
	t.Setenv("KUBE_INTEGRATION_ETCD_URL", startEtcd(t, build(t, dir, "../../..", "go.etcd.io/etcd/server/v3")))
	for _, suite := range []string{"test/integration", "test/integration/conversion"} {
		binary := filepath.Join(dir, filepath.Base(suite)+".test")
		command(t, suites, "go", "test", "-c", "-o", binary, "./"+suite)
		listed := command(t, filepath.Join(suites, suite), binary, "-test.list", ".")
		ran := 0
		for _, name := range strings.Fields(listed) {
			if strings.HasPrefix(name, "Test") && leftOut[name] == "" {
				ran++
				runTest(t, filepath.Join(suites, suite), binary, name)
			}
		}
		t.Logf("%s: %d tests ran", suite, ran)
	}
}

// runTest runs one test in a process of its own.
func runTest(t *testing.T, dir, binary, name string) {
	t.Run(name, func(t *testing.T) {
		args := []string{"-test.v", "-test.timeout", "5m", "-test.run", "^" + name + "$"}
		var skip []string
		for left := range leftOut {
			if strings.Contains(left, "/") {
				skip = append(skip, "^"+strings.ReplaceAll(left, "/", "$/^")+"$")
			}
		}
		args = append(args, "-test.skip", strings.Join(skip, "|"))
		cmd := exec.CommandContext(t.Context(), binary, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, faults(out))
		}
	})
}

var interesting = regexp.MustCompile(`_test\.go:\d+:|FAIL|panic:|Error`)

// faults returns the lines that say what failed.
func faults(out []byte) string {
	var lines []string
	for line := range strings.Lines(string(out)) {
		if interesting.MatchString(line) && len(lines) < 30 {
			lines = append(lines, fmt.Sprintf("%.400s", line))
		}
	}
	return strings.Join(lines, "")
}

func copySuites(t *testing.T, dir string) string {
	source := strings.TrimSpace(command(t, ".", "go", "list", "-m", "-f", "{{.Dir}}",
		"k8s.io/apiextensions-apiserver"))
	suites := filepath.Join(dir, "suites")
	if err := os.CopyFS(suites, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	fixture, err := os.ReadFile("testdata/server.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(suites, "test", "integration", "fixtures", "server.go")
	if err := os.Remove(target); err != nil { // the module cache is read-only
		t.Fatal(err)
	}
	if err := os.WriteFile(target, fixture, 0o600); err != nil {
		t.Fatal(err)
	}
	return suites
}

func build(t *testing.T, dir, module, program string) string {
	binary := filepath.Join(dir, filepath.Base(module)+"-"+filepath.Base(program))
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	command(t, module, "go", "build", "-o", binary, program)
	return binary
}

func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	var failed bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &failed
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, failed.Bytes())
	}
	return string(out)
}

// startEtcd starts an etcd, and returns its URL.
func startEtcd(t *testing.T, binary string) string {
	client, peer := "http://"+freeAddress(t), "http://"+freeAddress(t)
	cmd := exec.Command(binary, "--data-dir", t.TempDir(), "--listen-client-urls", client,
		"--advertise-client-urls", client, "--listen-peer-urls", peer, "--unsafe-no-fsync")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, client+"/health", nil)
		if err != nil {
			t.Fatal(err)
		}
		if response, err := http.DefaultClient.Do(request); err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return client
			}
		}
		select {
		case <-ctx.Done():
			t.Fatal("etcd doesn't start")
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func freeAddress(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}
