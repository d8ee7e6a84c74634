//go:build unix

package conformance

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkBuildWardle measures a build of wardle with all emitters, and a second one where nothing has changed: the CPU
// of the process and of those it starts, and the most memory that one of them held.
func BenchmarkBuildWardle(b *testing.B) {
	cache := strings.TrimSpace(run(b, ".", "go", "env", "GOCACHE"))
	dir := addWardle(b, newServerModule(b), emitted.MatchString)
	measure(b, dir, cache, b.TempDir()) // the compiler's cache is warm from here on
	var first, second cost
	for b.Loop() {
		clean(b, dir)
		own := b.TempDir()
		first.add(measure(b, dir, cache, own))
		second.add(measure(b, dir, cache, own))
	}
	n := float64(b.N)
	b.ReportMetric(first.cpu.Seconds()/n, "first-cpu-s/op")
	b.ReportMetric(second.cpu.Seconds()/n, "second-cpu-s/op")
	b.ReportMetric(float64(first.peak)/(1<<20), "first-peak-MiB")
	b.ReportMetric(float64(second.peak)/(1<<20), "second-peak-MiB")
	b.ReportMetric(0, "ns/op")
}

// TestBuildCost holds a build of wardle to what is promised of it, with room for a slower machine: the benchmark tells
// the numbers.
func TestBuildCost(t *testing.T) {
	cache := strings.TrimSpace(run(t, ".", "go", "env", "GOCACHE"))
	dir := addWardle(t, newServerModule(t), emitted.MatchString)
	measure(t, dir, cache, t.TempDir()) // the compiler's cache is warm from here on
	clean(t, dir)
	own := t.TempDir()
	first := measure(t, dir, cache, own)
	second := measure(t, dir, cache, own)
	if first.cpu > 2500*time.Millisecond || second.cpu > 300*time.Millisecond {
		t.Errorf("a build took %v of CPU, an unchanged one %v", first.cpu, second.cpu)
	}
	if first.peak > 250<<20 || second.peak > 250<<20 {
		t.Errorf("a build held %d MiB, an unchanged one %d", first.peak>>20, second.peak>>20)
	}
}

// TestKubernetesCost holds everything for core/v1 and apps/v1 to a fifth of the user CPU that deepcopy-gen, openapi-gen, client-gen
// and applyconfiguration-gen take one after another, 2.9 + 4.3 + 2.9 + 4.0 seconds: copies, OpenAPI, clients, apply
// configurations, and what apigen writes beyond.
func TestKubernetesCost(t *testing.T) {
	cache := strings.TrimSpace(run(t, ".", "go", "env", "GOCACHE"))
	dir := newModule(t)
	addKubernetes(t, dir)
	doc := filepath.Join(dir, "api", "apps", "v1", "doc.go")
	write(t, doc, strings.Replace(read(t, doc), "// +k8s:deepcopy-gen=package", "// +k8s:deepcopy-gen=package\n// +groupName=apps", 1))
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	mod := filepath.Join(dir, "go.mod")
	write(t, mod, read(t, mod)+"\nrequire apigen.dev v0.0.0\n\nreplace apigen.dev => "+filepath.ToSlash(root)+"\n")
	write(t, filepath.Join(dir, "tidy.go"), "package conformance\n\nimport (\n\t_ \"apigen.dev/runtime/registry\"\n\t_ \"k8s.io/client-go/informers\"\n\t_ \"k8s.io/client-go/kubernetes/fake\"\n)\n")
	run(t, dir, "go", "mod", "tidy")
	measure(t, dir, cache, t.TempDir()) // the compiler's cache is warm from here on
	for _, group := range []string{"core", "apps"} {
		if _, err := os.Stat(filepath.Join(dir, "api", group, "wiring", "zz_generated.openapi.v1.json.gz")); err != nil {
			t.Error(err)
		}
		for _, pkg := range []string{"clientset/versioned/typed", "applyconfiguration"} {
			if _, err := os.Stat(filepath.Join(dir, "client", pkg, group, "v1")); err != nil {
				t.Error(err)
			}
		}
	}
	run(t, dir, "sh", "-c", "rm -r client api/*/wiring api/*/v1/zz_generated.d*.go")
	c := measure(t, dir, cache, t.TempDir())
	t.Logf("user CPU %v, with the system's %v, at most %d MiB", c.user, c.cpu, c.peak>>20)
	if limit := (2900 + 4300 + 2900 + 4000) * time.Millisecond / 5; c.user > limit || c.peak > 250<<20 {
		t.Errorf("a build took %v of user CPU and %d MiB, more than %v or 250 MiB", c.user, c.peak>>20, limit)
	}
}

// measure runs a build with a cache of its own for what it remembers of earlier ones.
func measure(b testing.TB, dir, goCache, userCache string) cost {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), apigen(b), "build", "./...")
	cmd.Dir = dir
	cmd.Env = append(environment(dir), "GOCACHE="+goCache, "XDG_CACHE_HOME="+userCache)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return costOf(cmd.ProcessState)
}

// clean removes what was generated.
func clean(b testing.TB, dir string) {
	b.Helper()
	for _, file := range append(generated(b, dir), serving(b, dir)...) {
		if err := os.Remove(file); err != nil {
			b.Fatal(err)
		}
	}
}
