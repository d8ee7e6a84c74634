package embedded_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/embedded"
)

// Where these are set, this test binary is a server on that directory: one that writes until it is killed, or one that
// does nothing but start.
const (
	crashDir = "APIGEN_TEST_CRASH_DIR"
	startDir = "APIGEN_TEST_START_DIR"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(startDir); dir != "" {
		if _, err := embedded.Open(context.Background(), dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if dir := os.Getenv(crashDir); dir != "" {
		if err := writeUntilKilled(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// writeUntilKilled says on standard output what was acknowledged.
func writeUntilKilled(dir string) error {
	backend, err := embedded.Open(context.Background(), dir)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		key := fmt.Sprintf("/%06d", i)
		revision, err := backend.Put(context.Background(), key, []byte(key), 0, 0)
		if err != nil {
			return err
		}
		if _, err := fmt.Println(key, revision); err != nil {
			return err
		}
	}
}

func TestKilledServerKeepsWhatItAcknowledged(t *testing.T) {
	dir := t.TempDir()
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), crashDir+"="+dir)
	server.Stderr = os.Stderr
	output, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	acknowledged := bufio.NewScanner(output)
	want := map[string]int64{}
	for acknowledged.Scan() {
		var key string
		var revision int64
		if n, _ := fmt.Sscan(acknowledged.Text(), &key, &revision); n != 2 {
			break // the last line may be cut
		}
		want[key] = revision
		if len(want) == 1 {
			if _, err := embedded.Open(context.Background(), dir); err == nil ||
				!strings.Contains(err.Error(), "in use") {
				t.Errorf("a second server: got %v", err)
			}
		}
		if len(want) == 100 {
			if err := server.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := server.Wait(); err == nil || len(want) < 100 {
		t.Fatalf("the server wrote %d keys and ended with %v", len(want), err)
	}
	result, err := open(t, dir).Range(context.Background(), storage.RangeRequest{Prefix: "/"})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int64{}
	for _, kv := range result.Items {
		found[kv.Key] = kv.Revision
	}
	for key, revision := range want {
		if found[key] != revision {
			t.Errorf("%s was acknowledged at revision %d, found at %d", key, revision, found[key])
		}
	}
}

func TestDamagedDataIsAnError(t *testing.T) {
	for name, damage := range map[string]struct {
		file, want string
		content    []byte
	}{
		"database": {"snap/db", "failed to open database: invalid database", make([]byte, 1<<16)},
		"log": {"wal/0000000000000000-0000000000000000.wal", "its data can't be used, restore a copy",
			bytes.Repeat([]byte{0xa5}, 1<<16)},
		"log, emptied": {"wal/0000000000000000-0000000000000000.wal", "its data can't be used, restore a copy", nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := open(t, dir).Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "etcd", "member", filepath.FromSlash(damage.file)),
				damage.content, 0o600); err != nil {
				t.Fatal(err)
			}
			server := exec.Command(os.Args[0])
			server.Env = append(os.Environ(), startDir+"="+dir)
			output, err := server.CombinedOutput()
			want := "starting etcd in " + dir + ": " + damage.want
			if err == nil || !strings.HasPrefix(string(output), want) || strings.Count(string(output), "\n") != 1 {
				t.Errorf("got %v and\n%s\nexpected one line:\n%s", err, output, want)
			}
		})
	}
}
