//go:build unix

package conformance

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// BenchmarkBuildWardle measures a build of wardle with all emitters, and a second one where nothing has changed: the CPU
// of the process and of those it starts, and the most memory that one of them held.
func BenchmarkBuildWardle(b *testing.B) {
	cache := strings.TrimSpace(run(b, ".", "go", "env", "GOCACHE"))
	dir := newWardle(b, emitted.MatchString)
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

// measure runs a build with a cache of its own for what it remembers of earlier ones.
func measure(b *testing.B, dir, goCache, userCache string) cost {
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
func clean(b *testing.B, dir string) {
	b.Helper()
	for _, file := range generated(b, dir) {
		if err := os.Remove(file); err != nil {
			b.Fatal(err)
		}
	}
}
