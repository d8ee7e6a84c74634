package footprint

import (
	"os"
	"reflect"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
)

// percent returns by how much the heap may grow until it is collected.
func percent() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestCollectOften: the heap is collected more often until end is called, which may be called again.
func TestCollectOften(t *testing.T) {
	t.Setenv("GOGC", "")
	usual := percent()
	end := CollectOften()
	if got := percent(); got != startGrowth {
		t.Errorf("it grows by %d %%, want %d", got, startGrowth)
	}
	end()
	if got := percent(); got != usual {
		t.Errorf("it grows by %d %% afterwards, want %d", got, usual)
	}
	next := CollectOften()
	defer next()
	end()
	if got := percent(); got != startGrowth {
		t.Errorf("the first end, called again, ends the second: it grows by %d %%", got)
	}
}

// TestCollectOftenByGOGC: what the operator sets stays.
func TestCollectOftenByGOGC(t *testing.T) {
	t.Setenv("GOGC", "100")
	usual := percent()
	defer CollectOften()()
	if got := percent(); got != usual {
		t.Errorf("it grows by %d %%, want %d", got, usual)
	}
}

const smaps = `00400000-01a2b000 r-xp 00000000 fe:00 1234                     /bin/server
Size:              22700 kB
Rss:               10000 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
01a2b000-03000000 r--p 0162b000 fe:00 1234                     /bin/server
Rss:               10000 kB
Anonymous:             4 kB
03000000-03100000 rw-p 02c00000 fe:00 1234                     /bin/server
Anonymous:             0 kB
03100000-03200000 r--p 02d00000 fe:00 1234                     /bin/server
Anonymous:             0 kB
c000000000-c004000000 rw-p 00000000 00:00 0 
Anonymous:             0 kB
7f0000000000-7f0000001000 r-xp 00000000 fe:00 99               /lib/other.so
Anonymous:             0 kB
zz-7f00 r-xp 00000000 fe:00 1234                               /bin/server
Anonymous:             0 kB
`

// TestUnchanged: parts that the process may write to, or has changed, and those of other files, are left alone.
func TestUnchanged(t *testing.T) {
	got := unchanged(smaps, "/bin/server")
	want := []span{{0x400000, 0x162b000}, {0x3100000, 0x100000}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}

// resident returns how many pages of files the process has in memory.
func resident(t *testing.T) string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "RssFile:")
	kB, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	return kB
}

// TestRelease: the program has fewer pages afterwards, and runs on.
func TestRelease(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems give no part of a program back")
	}
	before := resident(t)
	if err := Release(); err != nil {
		t.Fatal(err)
	}
	after := resident(t)
	t.Logf("%s kB of files, %s kB afterwards", before, after)
	if len(after) > len(before) || len(after) == len(before) && after >= before {
		t.Errorf("%s kB of files, %s kB afterwards", before, after)
	}
	runtime.GC() // reads the runtime's tables, which are in the program
}
