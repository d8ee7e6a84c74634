package embedded_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/embedded"
	"apigen.dev/runtime/storage/storagetest"
)

func open(t *testing.T, dir string) storage.Backend {
	t.Helper()
	backend, err := embedded.Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { backend.Close() })
	return backend
}

func TestContract(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) storage.Backend { return open(t, t.TempDir()) })
}

func TestSecondServerIsRefusedAtOnce(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	began := time.Now()
	_, err := embedded.Open(context.Background(), dir)
	if err == nil || !strings.Contains(err.Error(), dir+" is in use by another server") {
		t.Fatalf("got %v", err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
}

// The remains of a killed defragmentation are removed, and Open doesn't create a directory that must hold data.
func TestOpenOfWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	none := filepath.Join(dir, "none")
	if _, err := (embedded.Etcd{}).Open(t.Context(), none, storage.EmbeddedOptions{Existing: true}); !errors.Is(err,
		storage.ErrNoData) {
		t.Errorf("without data: %v", err)
	}
	if _, err := os.Stat(none); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it was made: %v", err)
	}
	if err := open(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(dir, "etcd", "member", "snap", "db.tmp.123")
	if err := os.WriteFile(left, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := embedded.Etcd{}.Open(t.Context(), dir, storage.EmbeddedOptions{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestReopenFindsEverything(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	first := open(t, dir)
	written, err := first.Put(ctx, "/a", []byte("1"), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	second := open(t, dir)
	t.Logf("reopened in %s", time.Since(began))
	kv, _, err := second.Get(ctx, "/a", storage.GetOptions{})
	if err != nil || kv == nil || kv.Revision != written {
		t.Fatalf("got %v, %v", kv, err)
	}
}

func BenchmarkEmbedded(b *testing.B) {
	storagetest.Benchmark(b, func(b *testing.B) storage.Backend {
		backend, err := embedded.Open(context.Background(), b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		return backend
	})
}
