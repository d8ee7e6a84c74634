package server

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/embedded"
)

func onDisk() Program { return Program{Name: "shop", Embedded: embedded.Etcd{}} }

// keep runs `shop storage ...`.
func keep(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), onDisk(), &out, append(append([]string{"storage"}, args...), "--data-dir="+dir)...)
	return out.String(), err
}

// withBackend opens a data directory that no server has.
func withBackend(t *testing.T, dir string, quota int64, do func(storage.Backend)) {
	t.Helper()
	b, err := embedded.Etcd{}.Open(t.Context(), dir, storage.EmbeddedOptions{Quota: quota})
	if err != nil {
		t.Fatal(err)
	}
	do(b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// A snapshot is taken while the server runs and while it doesn't, and what it restores is what was there.
func TestStorageCommands(t *testing.T) {
	dir, files := filepath.Join(t.TempDir(), "data"), t.TempDir()
	withBackend(t, dir, 0, func(b storage.Backend) {
		for i := range 10 {
			if _, err := b.Put(t.Context(), fmt.Sprintf("/registry/x/%d", i), []byte("1"), 0, 0); err != nil {
				t.Fatal(err)
			}
		}
	})
	stopped, running := filepath.Join(files, "stopped"), filepath.Join(files, "running")
	if out, err := keep(t, dir, "snapshot", stopped); err != nil || !strings.Contains(out, stopped+": revision 11, ") {
		t.Fatalf("snapshot of a stopped server: %q, %v", out, err)
	}
	s := startProgram(t, onDisk(), dir)
	for _, args := range [][]string{{"snapshot", running}, {"status"}, {"defrag"}} {
		if out, err := keep(t, dir, args...); err != nil || !strings.Contains(out, "revision") {
			t.Errorf("%s while the server runs: %q, %v", args[0], out, err)
		}
	}
	if _, err := keep(t, dir, "restore", running); !errors.Is(err, storage.ErrInUse) ||
		!strings.HasSuffix(err.Error(), ": stop it first") {
		t.Errorf("restore while the server runs: %v", err)
	}
	s.awaitReady(t)
	if code, body := get(t, s.client(t), s.url+"/readyz?verbose"); code != 200 ||
		!strings.Contains(body, "[+]storage-space ok") {
		t.Errorf("readyz: %d %s", code, body)
	}
	if code, _ := get(t, anonymousClient(t, filepath.Join(dir, "admin.kubeconfig")),
		s.url+snapshotPath); code != http.StatusUnauthorized {
		t.Errorf("anybody's snapshot: %d", code)
	}
	if code, _ := get(t, s.client(t), s.url+defragPath); code != http.StatusMethodNotAllowed {
		t.Errorf("a defragmentation by GET: %d", code)
	}
	s.end(t)

	if _, err := keep(t, dir, "restore", running); err == nil || !strings.Contains(err.Error(), "holds data") {
		t.Errorf("restore over data: %v", err)
	}
	if _, err := keep(t, dir, "snapshot", running); err == nil || !strings.Contains(err.Error(), "overwrites nothing") {
		t.Errorf("snapshot over a file: %v", err)
	}
	for _, file := range []string{stopped, running} {
		fresh := filepath.Join(t.TempDir(), "data")
		out, err := keep(t, fresh, "restore", file)
		if err != nil || !strings.Contains(out, "revision: 10000000") {
			t.Fatalf("restore: %q, %v", out, err)
		}
		withBackend(t, fresh, 0, func(b storage.Backend) {
			if n, err := b.Count(t.Context(), "/registry/x/"); err != nil || n != 10 {
				t.Errorf("restored from %s: %d keys, %v", file, n, err)
			}
		})
	}
	left, err := os.ReadDir(files)
	if err != nil || len(left) != 2 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

func TestStorageCommandsRefuse(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	if err := run(t.Context(), onDisk(), new(bytes.Buffer), "migrate", "--data-dir="+none); !errors.Is(err,
		storage.ErrNoData) {
		t.Errorf("a migration of nothing: %v", err)
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("it made the directory")
	}
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"no directory", []string{"status"}, "data directory " + none + ": it holds no data: stat "},
		{"no data to save", []string{"snapshot", none + ".db"}, "it holds no data"},
		{"no data to shrink", []string{"defrag"}, "it holds no data"},
		{"no file", []string{"restore", none + "/x"}, "no such file"},
		{"no argument", []string{"snapshot"}, "accepts 1 arg"},
		{"unknown", []string{"compact"}, "unknown command"},
		{"negative bump", []string{"restore", "x", "--bump-revision=-1"}, "--bump-revision: -1 must not be negative"},
	} {
		if _, err := keep(t, none, test.args...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
		os.RemoveAll(none)
	}
	if err := run(t.Context(), Program{Name: "shop"}, new(bytes.Buffer), "storage", "status"); err == nil {
		t.Error("a program without the embedded etcd has storage commands")
	}
}

func spaceOf(t *testing.T, b storage.Backend) storage.Space {
	t.Helper()
	space, err := b.(storage.Maintainer).Space(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return space
}

// A quota that is used up: /readyz says what to do, and `storage defrag` on the running server makes it ready again.
func TestSpaceAlarm(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	const quota = 4 << 20
	type written struct {
		key      string
		revision int64
	}
	var last written
	// The alarm stays over a restart only where the database is no smaller than its quota.
	withBackend(t, dir, 16*quota, func(b storage.Backend) {
		value := bytes.Repeat([]byte("x"), 200<<10)
		last = written{key: "/registry/big"}
		for size := int64(0); size < quota; size = spaceOf(t, b).Size {
			var err error
			if last.revision, err = b.Put(t.Context(), last.key, value, last.revision, 0); err != nil {
				t.Fatal(err)
			}
		}
	})
	withBackend(t, dir, quota, func(b storage.Backend) {
		if _, err := b.Put(t.Context(), "/registry/more", nil, 0, 0); !errors.Is(err, storage.ErrNoSpace) {
			t.Fatal(err)
		}
	})
	flag := fmt.Sprintf("--quota-backend-bytes=%d", quota)
	s := startProgram(t, onDisk(), dir, flag)
	admin := s.client(t)
	if code, body := get(t, admin, s.url+"/readyz"); code != 500 || !strings.Contains(body,
		"[-]storage-space failed: alarm NOSPACE: ") || !strings.Contains(body, spaceAdvice) {
		t.Errorf("readyz: %d %s", code, body)
	}
	if code, _ := get(t, admin, s.url+"/livez"); code != 200 {
		t.Errorf("livez: %d", code)
	}
	if out, err := keep(t, dir, "status"); err != nil || !strings.Contains(out,
		"alarm:    NOSPACE\n"+spaceAdvice) || !strings.Contains(out, fmt.Sprintf("quota:    %d bytes", quota)) {
		t.Errorf("status: %q, %v", out, err)
	}
	// All but the last of the revisions is history.
	if out, err := keep(t, dir, "defrag"); err != nil || strings.Contains(out, "alarm") {
		t.Errorf("defrag: %q, %v", out, err)
	}
	s.awaitReady(t) // after the defragmentation
	s.end(t)
	withBackend(t, dir, quota, func(b storage.Backend) {
		if kv, _, err := b.Get(t.Context(), last.key, storage.GetOptions{}); err != nil || kv == nil ||
			kv.Revision != last.revision {
			t.Errorf("what was stored is %v, %v", kv, err)
		}
	})
}
