package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// disk is a file system of its own, in memory.
type disk struct {
	t    *testing.T
	path string
}

// mount makes a disk at an empty directory, for as long as the test. It skips the test where that is not permitted.
func mount(t *testing.T, path string, size uint64) *disk {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	err := syscall.Mount("tmpfs", path, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size))
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.ENODEV) {
		t.Skipf("a disk of its own can't be mounted here, which takes root: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(path, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmounting %s: %v", path, err)
		}
	})
	return &disk{t, path}
}

func (d *disk) resize(size uint64) {
	d.t.Helper()
	if err := syscall.Mount("tmpfs", d.path, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%d", size)); err != nil {
		d.t.Fatal(err)
	}
}

// fill takes the space that is left, such as that of memory which the kernel gives back late, and returns a function
// that gives it back.
func (d *disk) fill() (free func()) {
	d.t.Helper()
	filler := filepath.Join(d.path, "filler.tmp") // a name that etcd passes over
	file, err := os.Create(filler)
	if err != nil && !errors.Is(err, syscall.ENOSPC) {
		d.t.Fatal(err)
	}
	for piece := make([]byte, 4096); err == nil; {
		_, err = file.Write(piece)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		d.t.Fatal(err)
	}
	return func() {
		if file == nil {
			return
		}
		if err := errors.Join(file.Close(), os.Remove(filler)); err != nil {
			d.t.Fatal(err)
		}
	}
}

func (d *disk) used() uint64 {
	d.t.Helper()
	var s syscall.Statfs_t
	if err := syscall.Statfs(d.path, &s); err != nil {
		d.t.Fatal(err)
	}
	return (s.Blocks - s.Bfree) * uint64(s.Bsize)
}

// writer posts big objects until one is not answered 201.
type writer struct {
	created map[string]string // their resourceVersion
	refused string            // the last one, where a status refused it
	code    int
	answer  string
	err     error
}

const filling = 200 << 10

func (w *writer) run(t *testing.T, server *replica, id int) {
	for i := range 100 { // more than the disk can take
		if !w.post(t, server, fmt.Sprintf("big-%d-%d", id, i)) &&
			(w.err != nil || w.code != http.StatusGatewayTimeout) {
			return // a timeout may be no more than a busy machine
		}
	}
}

func (w *writer) post(t *testing.T, server *replica, name string) (created bool) {
	body := fmt.Sprintf(`{"apiVersion":"library.example.com/v1","kind":"Book","metadata":{"name":%[1]q,`+
		`"annotations":{"x":%[2]q}},"spec":{"title":%[1]q}}`,
		name, strings.Repeat("x", filling))
	var answer []byte
	w.code, answer, w.err = server.do(t.Context(), http.MethodPost, path, "application/json", []byte(body))
	w.answer = fmt.Sprintf("%.300s", answer)
	var b book
	switch {
	case w.err != nil:
		return false
	case w.code != http.StatusCreated:
		if (&operation{code: w.code}).refused() {
			w.refused = name
		}
		return false
	case json.Unmarshal(answer, &b) != nil:
		w.code = -1 // an answer that can't be read
		return false
	}
	w.created[name] = b.Metadata.ResourceVersion
	return true
}

// The disk under the embedded etcd gets full: nobody waits for an answer in vain, the server says why it ends, and why
// it doesn't start before there is space. Then all that was answered 201 is there, and nothing that is there is half of
// what it was to be.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	const large = 512 << 20 // of which only what is written takes memory
	server := newReplica(t, "--request-timeout=1500ms")
	d := mount(t, server.home, large)
	server.launch()
	server.await()
	d.resize(d.used() + 6<<20)
	fillUp(t, server, d, large)
}

// The disk under the log of the embedded etcd alone gets full, while its database has space.
func TestFullLog(t *testing.T) {
	t.Parallel()
	const large = 512 << 20
	server := startReplica(t, "--request-timeout=1500ms")
	server.signal(syscall.SIGTERM) // a killed etcd may have to repair its log, which takes the space of a copy
	<-server.done
	wal := filepath.Join(server.home, "etcd", "member", "wal")
	if err := os.Rename(wal, wal+".moved"); err != nil {
		t.Fatal(err)
	}
	d := mount(t, wal, large)
	if err := os.CopyFS(wal, os.DirFS(wal+".moved")); err != nil {
		t.Fatal(err)
	}
	// etcd allocates its log in pieces of 64 MB, one ahead: there shall be no space for another one.
	ahead, err := filepath.Glob(filepath.Join(wal, "*.tmp"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range ahead {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	d.resize(d.used() + 4<<20)
	server.restart()
	fillUp(t, server, d, large)
}

// fillUp writes until the disk is full, and checks what the server makes of it.
func fillUp(t *testing.T, server *replica, d *disk, large uint64) {
	t.Helper()
	writers := make([]*writer, 4)
	var working sync.WaitGroup
	for i := range writers {
		writers[i] = &writer{created: map[string]string{}}
		working.Go(func() { writers[i].run(t, server, i) })
	}
	working.Wait()
	created, refused := map[string]string{}, map[string]bool{}
	for _, w := range writers {
		maps.Copy(created, w.created)
		refused[w.refused] = true
		var late net.Error
		switch {
		case errors.As(w.err, &late) && late.Timeout():
			t.Errorf("no answer and no end of the server: %v", w.err)
		case w.err == nil && (w.code < 400 || !strings.Contains(w.answer, `"kind":"Status"`)):
			t.Errorf("%d, after %d writes: %s", w.code, len(w.created), w.answer)
		}
	}
	server.endsFor(t, "no space left on device")
	d.resize(d.used()) // what the last write would not take is not there either
	free := d.fill()
	server.launch()
	server.endsFor(t, "no space left on device")

	free()
	d.resize(large)
	server.restart()
	var list bookList
	wait(t, "a list is answered", func() bool {
		code, answer, err := server.do(t.Context(), http.MethodGet, path, "", nil)
		return err == nil && code == http.StatusOK && json.Unmarshal(answer, &list) == nil
	})
	for _, b := range list.Items {
		name := b.Metadata.Name
		if version, told := created[name]; told && version != b.Metadata.ResourceVersion {
			t.Errorf("%s was created at %s and is there at %s", name, version, b.Metadata.ResourceVersion)
		}
		if refused[name] {
			t.Errorf("%s was refused and is there", name)
		}
		if b.Spec.Title != name || len(b.Metadata.Annotations["x"]) != filling {
			t.Errorf("of %s, %d bytes of %d are there, and title %q", name, len(b.Metadata.Annotations["x"]),
				filling, b.Spec.Title)
		}
		delete(created, name)
	}
	if len(created) > 0 || len(list.Items) < 10 {
		t.Errorf("of %d objects, these are lost: %v", len(list.Items)+len(created), created)
	}
	after, tries := &writer{created: map[string]string{}}, 0
	wait(t, "a write is done", func() bool {
		tries++
		return after.post(t, server, fmt.Sprintf("after-%d", tries))
	})
	t.Logf("%d objects", len(list.Items))
}

// endsFor waits until the server has ended by itself: with a line, the last that it logs, that has the reason.
func (r *replica) endsFor(t *testing.T, reason string) {
	t.Helper()
	select {
	case <-r.done:
	case <-time.After(startTimeout):
		t.Fatalf("the server goes on after %s", startTimeout)
	}
	log, err := os.ReadFile(filepath.Join(r.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.TrimSpace(string(log))
	last := text[strings.LastIndex(text, "\n")+1:]
	t.Log(last)
	if !strings.Contains(last, reason) || r.command.ProcessState.ExitCode() != 1 {
		t.Errorf("%v, and its last line is %q", r.command.ProcessState, last)
	}
}
