package faults

import (
	"bytes"
	"debug/elf"
	bits "encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"apigen.dev/runtime/internal/etcdtest"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/etcd"
)

// clock is the wall clock of a running process, which can be stepped while its monotonic clock goes on, as an operator
// or a time server steps that of a machine. Processes read it from the vDSO, a page of code that the kernel maps into
// each: it is replaced, in this process alone, by code that asks the kernel and adds an offset.
type clock struct {
	t      *testing.T
	memory *os.File
	offset int64 // where in memory
}

// shim is the replacement of clock_gettime(edi, rsi); its last 8 bytes are the seconds to add to CLOCK_REALTIME.
var shim = []byte{
	0xb8, 0xe4, 0x00, 0x00, 0x00, // mov eax, 228 (clock_gettime)
	0x0f, 0x05, // syscall
	0x85, 0xff, // test edi, edi (CLOCK_REALTIME is 0)
	0x75, 0x0a, // jne to ret
	0x48, 0x8b, 0x15, 0x06, 0x00, 0x00, 0x00, // mov rdx, [rip+6]
	0x48, 0x01, 0x16, // add [rsi], rdx
	0xc3,       // ret
	0x90, 0x90, // the offset is aligned, so that it changes at once
	0, 0, 0, 0, 0, 0, 0, 0,
}

const shimOffset = 24

// clockOf takes over the clock of a process. It skips the test where that isn't permitted.
func clockOf(t *testing.T, pid int) *clock {
	t.Helper()
	start, size := vdso(t, pid)
	memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) {
		t.Skipf("the memory of another process can't be written here, by which its clock is stepped: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { memory.Close() })
	code := make([]byte, size)
	if _, err := memory.ReadAt(code, start); err != nil {
		t.Fatal(err)
	}
	entry := symbol(t, code, "__vdso_clock_gettime", 5) // a jump
	room := symbol(t, code, "__vdso_gettimeofday", uint64(len(shim)+7))
	c := &clock{t: t, memory: memory}
	at := (start + room + 7) &^ 7 // in place of a function that Go programs don't call
	c.offset = at + shimOffset
	// Nobody runs while the jump is written, and nobody has read half of it: the threads stop between instructions, and
	// one that stands within these five bytes would have to have stopped behind the first instruction.
	signal(t, pid, syscall.SIGSTOP)
	c.write(at, shim)
	c.write(start+entry, bits.LittleEndian.AppendUint32([]byte{0xe9}, uint32(int32(at-(start+entry+5)))))
	signal(t, pid, syscall.SIGCONT)
	return c
}

// set makes the clock differ from that of the machine.
func (c *clock) set(by time.Duration) {
	c.t.Helper()
	c.write(c.offset, bits.LittleEndian.AppendUint64(nil, uint64(by/time.Second)))
}

func (c *clock) write(at int64, what []byte) {
	c.t.Helper()
	_, err := c.memory.WriteAt(what, at)
	if errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EFAULT) {
		c.t.Skipf("the code by which a process reads its clock can't be changed here: %v", err)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

func signal(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		t.Fatal(err)
	}
	if s != syscall.SIGSTOP {
		return
	}
	wait(t, "the process has stopped", func() bool {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		return len(fields) > 0 && fields[0] == "T"
	})
}

// vdso finds the page of code in a process.
func vdso(t *testing.T, pid int) (start, size int64) {
	t.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		if !strings.HasSuffix(strings.TrimSpace(line), "[vdso]") {
			continue
		}
		from, rest, _ := strings.Cut(line, "-")
		to, _, _ := strings.Cut(rest, " ")
		first, err := strconv.ParseInt(from, 16, 64)
		last, err2 := strconv.ParseInt(to, 16, 64)
		if err = errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		return first, last - first
	}
	t.Skip("the process has no vDSO, by which its clock is stepped")
	return 0, 0
}

// symbol finds a function of some size at least in the vDSO.
func symbol(t *testing.T, code []byte, name string, size uint64) int64 {
	t.Helper()
	file, err := elf.NewFile(bytes.NewReader(code))
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Name == name && s.Size >= size {
			return int64(s.Value)
		}
	}
	t.Skipf("the vDSO has no %s of %d bytes, by which clocks are stepped", name, size)
	return 0
}

// stepped sets the clocks of the servers, or of etcd, while everybody works, and sees to what depends on time.
func stepped(by time.Duration, clocks ...*clock) func(*run) {
	return func(r *run) {
		r.await(100, succeeded)
		for _, c := range clocks {
			c.set(by)
		}
		r.await(100, succeeded)
		compactedByServers(r)
		for _, replica := range r.replicas {
			liveAndDie(r.t, replica)
		}
	}
}

// windowsGrow waits until each window had to grow or to drop something, and sees to it that nothing was dropped: all is
// fresh that happened within a minute.
func windowsGrow(r *run) {
	for _, replica := range r.replicas {
		of := func(name string) float64 {
			value, known := metrics(r.t, replica)[name+`{group="library.example.com",resource="books"}`]
			if !known {
				r.t.Fatalf("there is no metric %s", name)
			}
			return value
		}
		room := of("watch_cache_capacity")
		wait(r.t, "the window is full", func() bool { return of("apiserver_watch_cache_events_received_total") > room })
		kept, received := of("apigen_watch_cache_window_events"), of("apiserver_watch_cache_events_received_total")
		if kept < room && time.Since(r.begin) < time.Minute {
			r.t.Errorf("%v of %v events are in the window, which had room for %v", kept, received, room)
		}
	}
}

// liveAndDie makes an object with a finalizer, which takes the times that it has from the server's clock.
func liveAndDie(t *testing.T, server *replica) (created time.Time) {
	t.Helper()
	var object struct {
		Metadata struct {
			ResourceVersion   string     `json:"resourceVersion"`
			CreationTimestamp time.Time  `json:"creationTimestamp"`
			DeletionTimestamp *time.Time `json:"deletionTimestamp"`
		} `json:"metadata"`
	}
	ask := func(method, url, contentType, body string, want int) {
		t.Helper()
		code, answer, err := server.do(t.Context(), method, elsewhere+url, contentType, []byte(body))
		if err != nil || code != want {
			t.Fatalf("%s %s: %d %s %v, want %d", method, url, code, answer, err, want)
		}
		if err := json.Unmarshal(answer, &object); err != nil {
			t.Fatal(err)
		}
	}
	const patch = "application/merge-patch+json"
	ask(http.MethodPost, "", "application/json",
		`{"apiVersion":"library.example.com/v1","kind":"Book","metadata":{"name":"mortal",`+
			`"finalizers":["example.com/test"]},"spec":{"title":"x"}}`, http.StatusCreated)
	written := object.Metadata.ResourceVersion
	ask(http.MethodPatch, "/mortal", patch, `{"spec":{"title":"x"}}`, http.StatusOK)
	if object.Metadata.ResourceVersion != written {
		t.Error("a patch that changes nothing was written")
	}
	ask(http.MethodDelete, "/mortal", "", "", http.StatusOK)
	if object.Metadata.DeletionTimestamp == nil {
		t.Error("there is no deletionTimestamp")
	}
	created = object.Metadata.CreationTimestamp
	ask(http.MethodPatch, "/mortal", patch, `{"metadata":{"finalizers":null}}`, http.StatusOK)
	ask(http.MethodGet, "/mortal", "", "", http.StatusNotFound)
	return created
}

// The clocks of two servers, and of etcd, are stepped forwards and backwards under load: no history, no watch and no
// key with a TTL ends for that, and history goes on being compacted.
func TestClock(t *testing.T) {
	t.Parallel()
	p := etcdtest.Start(t)
	r := newRunWith(t, etcd.Config{Endpoints: []string{p.Endpoint()}},
		[]string{"--etcd-compaction-interval=500ms", "--request-timeout=" + startTimeout.String()})
	first, second := clockOf(t, r.replicas[0].command.Process.Pid), clockOf(t, r.replicas[1].command.Process.Pid)
	of := clockOf(t, p.Pid())
	first.set(time.Hour)
	if ahead := time.Until(liveAndDie(t, r.replicas[0])); ahead < 50*time.Minute {
		t.Fatalf("an hour was added to the clock of a server, which is %s ahead", ahead)
	}
	first.set(0)
	r.under(
		trouble{"step all servers an hour ahead", stepped(time.Hour, first, second)},
		trouble{"fill the windows", windowsGrow},
		trouble{"step all servers an hour back", stepped(-time.Hour, first, second)},
		trouble{"step a server half a year ahead", stepped(180*24*time.Hour, first)},
		trouble{"step etcd an hour ahead", func(r *run) {
			const ttl = 3 * time.Second
			begin := time.Now()
			if _, err := r.backend.Put(r.t.Context(), "/other/mortal", nil, 0, ttl); err != nil {
				r.t.Fatal(err)
			}
			alive := func() bool {
				kv, _, err := r.backend.Get(r.t.Context(), "/other/mortal", storage.GetOptions{})
				return err != nil || kv != nil
			}
			for _, by := range []time.Duration{time.Hour, -time.Hour} {
				stepped(by, of)(r)
				if gone := !alive(); gone && time.Since(begin) < ttl {
					r.t.Errorf("a key with a TTL of %s is gone after %s", ttl, time.Since(begin))
				}
			}
			wait(r.t, "a key with a TTL is gone", func() bool { return !alive() })
		}},
	)
	for _, replica := range r.replicas {
		if n := metrics(t, replica)[`apigen_watch_cache_expired_total{group="library.example.com",`+
			`resource="books"}`]; n > 0 {
			t.Errorf("%v watches of %s expired", n, replica.url)
		}
	}
}
