package embedded_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/embedded"
)

// crashDir, where it is set, makes this test binary a server that writes to that directory until it is killed.
const crashDir = "APIGEN_TEST_CRASH_DIR"

func TestMain(m *testing.M) {
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
			if _, err := embedded.Open(context.Background(), dir); err == nil || !strings.Contains(err.Error(), "in use") {
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
