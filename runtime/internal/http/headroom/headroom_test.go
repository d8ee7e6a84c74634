package headroom

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const mib = 1 << 20

type exemption struct{}

// desk is an Account of 1000 MiB whose readings and clock the test sets.
type desk struct {
	*Account
	used   int64
	cycles uint64
	reads  int
	time   time.Time
}

func newDesk() *desk {
	d := &desk{time: time.Unix(1, 0)}
	d.Account = &Account{
		limit:  1000 * mib,
		exempt: func(ctx context.Context) bool { return ctx.Value(exemption{}) != nil },
		read: func() Reading {
			d.reads++
			return Reading{Used: d.used, Collections: d.cycles}
		},
		now: func() time.Time { return d.time },
	}
	return d
}

// use sets what is in use, and lets the last reading grow old.
func (d *desk) use(mebibytes int64) {
	d.used, d.time = mebibytes*mib, d.time.Add(readInterval)
}

// hold returns the claims of requests that hold some MiB each.
func (d *desk) hold(t *testing.T, mebibytes ...int64) []*Claim {
	t.Helper()
	var all []*Claim
	for _, n := range mebibytes {
		c := d.Claim(t.Context(), Read)
		if err := c.Hold(n * mib); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

func isRefused(err error) bool { return apierrors.IsTooManyRequests(err) }

func TestAllPassBelowTheThreshold(t *testing.T) {
	d := newDesk()
	d.use(300)
	d.hold(t, 250, 250, 50)
	c := d.Claim(t.Context(), Read)
	if err := c.Hold(150*mib + 1); !isRefused(err) {
		t.Errorf("150 MiB of 850 that are taken: got %v, want 429", err)
	}
}

// Above the threshold a claim may hold what each of all claims could hold of the rest.
func TestLargestIsRefusedFirst(t *testing.T) {
	d := newDesk()
	d.use(700)
	d.hold(t, 20, 20, 110)
	for _, try := range []struct {
		mebibytes int64
		pass      bool
	}{{149, false}, {38, false}, {37, true}} { // 150 are left for 4 claims
		c := d.Claim(t.Context(), Read)
		if err := c.Hold(try.mebibytes * mib); isRefused(err) == try.pass {
			t.Errorf("%d MiB: got %v, want passed: %t", try.mebibytes, err, try.pass)
		}
		c.Release()
	}
}

// A claim that grows is refused when it is larger than its share, and one that holds little may grow on.
func TestGrowingClaims(t *testing.T) {
	d := newDesk()
	d.use(640)
	both := d.hold(t, 200, 10)
	large, little := both[0], both[1]
	if err := large.Hold(mib); !isRefused(err) {
		t.Errorf("a claim of 200 MiB grew where 350 are left for two: %v", err)
	}
	if err := little.Hold(mib); err != nil {
		t.Error(err)
	}
	large.Release()
	if err := little.Hold(150 * mib); err != nil {
		t.Errorf("after the large claim was released: %v", err)
	}
}

// What a collection has found alive doesn't count twice, but for what is only expected; and what was released since
// doesn't count any more.
func TestCollectionCounts(t *testing.T) {
	d := newDesk()
	d.use(100)
	held := d.hold(t, 300, 100)
	expecting := d.Claim(t.Context(), Read)
	if err := expecting.Expect(50 * mib); err != nil {
		t.Fatal(err)
	}
	inUse := func(want int64) {
		t.Helper()
		d.mu.Lock()
		defer d.mu.Unlock()
		d.refresh()
		if got := (d.reading.Used + d.fresh + d.expected - d.gone) / mib; got != want {
			t.Errorf("%d MiB are in use, want %d", got, want)
		}
	}
	inUse(550)
	d.cycles++
	d.use(500)
	inUse(550)
	if err := held[0].Hold(10 * mib); err != nil {
		t.Fatal(err)
	}
	inUse(560)
	held[0].Release()
	inUse(250)
	expecting.Release()
	inUse(200)
	d.cycles++
	d.use(200)
	inUse(200)
	held[1].Release()
	inUse(100)
	if d.claimed != 0 || d.claims != 0 || d.fresh != 0 || d.expected != 0 {
		t.Errorf("%d bytes of %d claims are left, %d fresh, %d expected", d.claimed, d.claims, d.fresh, d.expected)
	}
}

func TestSmallClaimsPassWithoutMemory(t *testing.T) {
	d := newDesk()
	d.use(1200)
	c := d.Claim(t.Context(), Read)
	if err := c.Hold(small); err != nil {
		t.Error(err)
	}
	if err := c.Hold(1); !isRefused(err) {
		t.Errorf("one byte more than small: got %v, want 429", err)
	}
}

func TestExemptRequestsPass(t *testing.T) {
	d := newDesk()
	d.use(990)
	c := d.Claim(context.WithValue(t.Context(), exemption{}, true), Read)
	if err := c.Hold(500 * mib); err != nil {
		t.Error(err)
	}
	if got := d.claimed; got != 500*mib {
		t.Errorf("%d bytes are claimed: an exempt request counts as well", got)
	}
}

func TestRefusal(t *testing.T) {
	d := newDesk()
	d.use(900)
	read, write := d.Claim(t.Context(), Read), d.Claim(t.Context(), Write)
	err := read.Hold(200*mib + 1)
	if seconds, _ := apierrors.SuggestsClientDelay(err); !isRefused(err) || seconds != 1 ||
		!strings.Contains(err.Error(), "short of memory, and this request needs about 201 MiB of it at once: ") {
		t.Errorf("got %v after %d s", err, seconds)
	}
	for range 2 {
		if err := write.Hold(200 * mib); !isRefused(err) || !strings.Contains(err.Error(), "send a smaller object") {
			t.Error(err)
		}
	}
	if d.claimed != 0 || d.refused != [kinds]int64{Read: 1, Write: 2} {
		t.Errorf("%d bytes are claimed after the refusals %v", d.claimed, d.refused)
	}
}

func TestGiveBack(t *testing.T) {
	d := newDesk()
	c := d.Claim(t.Context(), Write)
	for _, add := range []func(int64) error{c.Hold, c.Expect} {
		if err := add(10 * mib); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if c.GiveBack(); d.claimed != 10*mib || d.expected != 0 {
			t.Errorf("%d are left, of which %d expected", d.claimed, d.expected)
		}
	}
	for range 2 {
		c.Release()
	}
	if err := c.Expect(mib); err != nil {
		t.Fatal(err)
	}
	if c.GiveBack(); d.claimed != 0 || d.claims != 0 {
		t.Errorf("%d bytes of %d claims are left", d.claimed, d.claims)
	}
}

func TestReadsSeldom(t *testing.T) {
	d := newDesk()
	c := d.Claim(t.Context(), Read)
	for range 100 {
		if err := c.Hold(1); err != nil {
			t.Fatal(err)
		}
	}
	if d.reads != 1 {
		t.Errorf("%d reads in one moment", d.reads)
	}
	d.use(1)
	if err := c.Hold(1); err != nil || d.reads != 2 {
		t.Errorf("%d reads after the interval (%v)", d.reads, err)
	}
}

// What requests gave back is garbage that the last collection has counted as alive. A server that refuses everything
// allocates little, so that nobody else would collect it.
func TestRefusalCollectsGarbage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		end := make(chan struct{})
		collections := 0
		d.collect = func() {
			collections++
			<-end
		}
		c := d.Claim(t.Context(), Read)
		refuse := func(want int) {
			t.Helper()
			if err := c.Hold(100 * mib); !isRefused(err) {
				t.Fatal(err)
			}
			if synctest.Wait(); collections != want {
				t.Fatalf("%d collections, want %d", collections, want)
			}
		}
		d.use(990)
		refuse(0) // the last collection was seen just now
		d.time = d.time.Add(collectInterval)
		refuse(1)
		refuse(1) // it is under way
		d.used, d.cycles = 100*mib, 1
		end <- struct{}{}
		synctest.Wait()
		if err := c.Hold(100 * mib); err != nil {
			t.Errorf("after the collection: %v", err)
		}
		c.Release()
		d.cycles = 2
		d.use(990)
		refuse(1) // another one has just ended
	})
}

func TestNoLimit(t *testing.T) {
	before := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(before)
	a := New(nil)
	c := a.Claim(t.Context(), Read)
	if err := c.Hold(math.MaxInt64); err != nil || a != nil {
		t.Errorf("got %v, %v", a, err)
	}
	c.GiveBack()
	c.Release()
}

// The real reading has what the process holds, and not its garbage.
func TestReading(t *testing.T) {
	read := readRuntime()
	debug.FreeOSMemory()
	before := read()
	keep(t, func() {
		after := read()
		if grown := after.Used - before.Used; grown < 60*mib || grown > 80*mib || after == before {
			t.Errorf("64 MiB more: %+v, then %+v", before, after)
		}
	})
	debug.FreeOSMemory()
	if last := read(); last.Used > before.Used+16*mib || last.Used < 0 {
		t.Errorf("after 64 MiB less: %+v, at first %+v", last, before)
	}
}

// keep calls do while 64 MiB are alive.
func keep(t *testing.T, do func()) {
	t.Helper()
	kept := make([]byte, 64*mib)
	debug.FreeOSMemory()
	do()
	runtime.KeepAlive(kept)
}

func TestCgroupLimit(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for name, test := range map[string]struct {
		files fstest.MapFS
		want  int64
	}{
		"none": {fstest.MapFS{}, 0},
		"version 2": {
			fstest.MapFS{membership: file("0::/\n"), "sys/fs/cgroup/memory.max": file("1000\n")}, 1000,
		},
		"version 2, no bound": {fstest.MapFS{membership: file("0::/\n"), "sys/fs/cgroup/memory.max": file("max\n")}, 0},
		"a group around": {fstest.MapFS{
			membership: file("0::/a/b\n"), "sys/fs/cgroup/a/b/memory.max": file("max\n"),
			"sys/fs/cgroup/a/memory.max": file("2000\n"), "sys/fs/cgroup/memory.max": file("3000\n"),
		}, 2000},
		"version 1": {fstest.MapFS{
			membership: file("5:cpu:/x\n4:memory:/a\n0::/\n"),
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": file("4000\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes":   file("9223372036854771712\n"),
		}, 4000},
		"version 1 in a container": {fstest.MapFS{
			membership: file("4:cpuset,memory:/docker/1\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes": file("5000\n"),
		}, 5000},
		"version 1, no bound": {fstest.MapFS{
			membership: file("4:memory:/\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712\n"),
		}, 0},
		"of no sense": {fstest.MapFS{membership: file("memory\n\n0::\n"), "sys/fs/cgroup/memory.max": file("much")}, 0},
	} {
		if got, ok := cgroupLimit(test.files); got != test.want || ok != (test.want > 0) {
			t.Errorf("%s: got %d, %t, want %d", name, got, ok, test.want)
		}
	}
}

// Where only the control group has a limit, the process takes nine tenths of it, and says so.
func TestLimitProcess(t *testing.T) {
	before := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(before)
	root := fstest.MapFS{
		membership: {Data: []byte("0::/\n")}, "sys/fs/cgroup/memory.max": {Data: fmt.Append(nil, 10<<30)},
	}
	for _, test := range []struct {
		variable string
		root     fstest.MapFS
		want     int64
	}{
		{"off", root, math.MaxInt64},
		{"", fstest.MapFS{}, math.MaxInt64},
		{"", root, (10 << 30) / 100 * 90},
	} {
		t.Setenv("GOMEMLIMIT", test.variable)
		var log strings.Builder
		LimitProcess(test.root, slog.New(slog.NewTextHandler(&log, nil)))
		if got := debug.SetMemoryLimit(-1); got != test.want || (log.Len() > 0) != (test.want < math.MaxInt64) {
			t.Errorf("GOMEMLIMIT=%s: got %d, want %d\n%s", test.variable, got, test.want, &log)
		}
	}
}
