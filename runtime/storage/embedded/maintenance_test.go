package embedded_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/etcdtest"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/embedded"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

func put(t *testing.T, b storage.Backend, key, value string, expect int64) int64 {
	t.Helper()
	revision, err := b.Put(t.Context(), key, []byte(value), expect, 0)
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

func all(t *testing.T, b storage.Backend) []storage.KeyValue {
	t.Helper()
	result, err := b.Range(t.Context(), storage.RangeRequest{Prefix: "/"})
	if err != nil {
		t.Fatal(err)
	}
	return result.Items
}

func space(t *testing.T, b storage.Backend) storage.Space {
	t.Helper()
	s, err := b.(storage.Maintainer).Space(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// snapshot takes one into a file.
func snapshot(t *testing.T, b storage.Backend) (file string, revision int64) {
	t.Helper()
	var content bytes.Buffer
	revision, err := b.(storage.Maintainer).Snapshot(t.Context(), &content)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "snapshot")
	if err := os.WriteFile(file, content.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, revision
}

// A restore brings back the keys of a snapshot, each at its revision. The revisions between the snapshot and the
// restored state never existed, and no watch goes on from one of them.
func TestSnapshotAndRestore(t *testing.T) {
	ctx := t.Context()
	first := open(t, t.TempDir())
	for i := range 50 {
		put(t, first, fmt.Sprintf("/a%02d", i), "1", 0)
	}
	changed := put(t, first, "/a00", "2", put(t, first, "/a00", "1.5", all(t, first)[0].Revision))
	if _, err := first.Delete(ctx, "/a49", all(t, first)[49].Revision); err != nil {
		t.Fatal(err)
	}
	want := all(t, first)
	file, at := snapshot(t, first)
	later := put(t, first, "/later", "x", 0)
	if at >= later || at < changed {
		t.Fatalf("the snapshot's revision is %d; %d was before it and %d after", at, changed, later)
	}

	dir := t.TempDir()
	if err := (embedded.Etcd{}).Restore(ctx, file, dir, storage.RestoreOptions{Bump: 1000}); err != nil {
		t.Fatal(err)
	}
	second := open(t, dir)
	got := all(t, second)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("restored %v\nwant %v", got, want)
	}
	now, err := second.Revision(ctx)
	if err != nil || now != at+1000 {
		t.Errorf("the restored revision is %d, %v; want %d", now, err, at+1000)
	}
	for _, after := range []int64{changed, at, later, now - 2} {
		var compacted *storage.CompactedError
		if err := followed(t, second, after); !errors.As(err, &compacted) {
			t.Errorf("a watch after %d: %v", after, err)
		}
	}
	if next := put(t, second, "/next", "x", 0); next != now+1 {
		t.Errorf("the first write has revision %d, want %d", next, now+1)
	}
	// It is a member like any other: acknowledged writes are there after a restart.
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(all(t, open(t, dir))); n != len(want)+1 {
		t.Errorf("%d keys after the restart, want %d", n, len(want)+1)
	}
	if _, err := os.Stat(filepath.Join(dir, "etcd.unfinished")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left over: %v", err)
	}
}

// A snapshot of another etcd, as etcdctl takes it, is restored, too, whatever its members and its users are.
func TestRestoreOfACluster(t *testing.T) {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{etcdtest.Start(t).Endpoint()},
		Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx := t.Context()
	if _, err := client.Put(ctx, "/a", "1"); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		second(client.UserAdd(ctx, "root", "secret")), second(client.UserGrantRole(ctx, "root", "root")),
		second(client.AuthEnable(ctx)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	user, err := clientv3.New(clientv3.Config{Endpoints: client.Endpoints(), Username: "root", Password: "secret",
		Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer user.Close()
	content, err := user.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := io.ReadAll(content)
	if err != nil {
		t.Fatal(err)
	}
	file, dir := filepath.Join(t.TempDir(), "snapshot"), t.TempDir()
	if err := os.WriteFile(file, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (embedded.Etcd{}).Restore(ctx, file, dir, storage.RestoreOptions{Bump: -1}); err != nil {
		t.Fatal(err)
	}
	b := open(t, dir)
	if got := all(t, b); len(got) != 1 || got[0].Revision != 2 || string(got[0].Value) != "1" {
		t.Errorf("restored %v", got)
	}
	if next := put(t, b, "/b", "2", 0); next != 3 {
		t.Errorf("without a bump the first write has revision %d, want 3", next)
	}
}

func second[T any](_ T, err error) error { return err }

// followed is what a watch ends with, or what is wrong with its first event.
func followed(t *testing.T, b storage.Backend, after int64) error {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stream, err := b.Watch(ctx, "/", after)
	if err != nil {
		return err
	}
	defer stream.Close()
	for {
		batch, err := stream.Next(ctx)
		if err != nil {
			return err
		}
		if len(batch.Events) > 0 {
			return fmt.Errorf("the watch delivers %s at revision %d", batch.Events[0].Key, batch.Events[0].Revision)
		}
	}
}

// A restore that can't be done says why, and changes nothing.
func TestRestoreRefuses(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	put(t, b, "/a", "1", 0)
	file, _ := snapshot(t, b)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	written := func(content []byte) string {
		path := filepath.Join(t.TempDir(), "snapshot")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	restore := func(file, dir string) error {
		return embedded.Etcd{}.Restore(context.Background(), file, dir, storage.RestoreOptions{})
	}
	if err := restore(file, dir); !errors.Is(err, storage.ErrInUse) {
		t.Errorf("into the directory of a running server: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := restore(file, dir); err == nil || !strings.Contains(err.Error(),
		"holds data, which a restore does not overwrite") {
		t.Errorf("over data: %v", err)
	}
	again := open(t, dir)
	if got := all(t, again); len(got) != 1 {
		t.Errorf("after the refusal the data is %v", got)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, file, want string }{
		{"no file", filepath.Join(dir, "nothing"), "no such file"},
		{"a directory", dir, "this is no snapshot"},
		{"empty", written(nil), "this is no snapshot"},
		{"cut off", written(whole[:len(whole)-100]), "this is no snapshot"},
		{"cut off at a page", written(whole[:len(whole)-4096]), "its checksum is wrong"},
		{"damaged", written(flipped), "its checksum is wrong"},
		{"no database", written(withSum(make([]byte, 8192))), "it holds no database"},
	} {
		target := t.TempDir()
		if err := restore(test.file, target); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.want)
		}
		if left, err := os.ReadDir(target); err != nil || len(left) != 0 {
			t.Errorf("%s: %v was left, %v", test.name, left, err)
		}
		if err := restore(test.file, filepath.Join(target, "new")); err == nil {
			t.Errorf("%s: restored", test.name)
		}
		if left, err := os.ReadDir(target); err != nil || len(left) != 0 {
			t.Errorf("%s: %v was left of a new directory, %v", test.name, left, err)
		}
	}
	// The data of before stays.
	if err := os.RemoveAll(filepath.Join(dir, "etcd")); err != nil {
		t.Fatal(err)
	}
	if err := restore(written(nil), dir); err == nil {
		t.Error("restored from nothing")
	}
	if _, err := os.Stat(filepath.Join(dir, "lock")); err != nil {
		t.Errorf("the lock that was there is gone: %v", err)
	}
}

func withSum(database []byte) []byte {
	sum := sha256.Sum256(database)
	return append(database, sum[:]...)
}

func quota(t *testing.T, dir string, bytes int64) storage.Backend {
	t.Helper()
	b, err := embedded.Etcd{}.Open(t.Context(), dir, storage.EmbeddedOptions{Quota: bytes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// fillUp writes until there is no space, and returns the keys that were written.
func fillUp(t *testing.T, b storage.Backend, folder string) (keys []storage.KeyValue) {
	t.Helper()
	value := bytes.Repeat([]byte("x"), 100<<10)
	for i := 0; ; i++ {
		key := fmt.Sprintf("%s%04d", folder, i)
		revision, err := b.Put(t.Context(), key, value, 0, 0)
		if errors.Is(err, storage.ErrNoSpace) {
			if kv, _, err := b.Get(t.Context(), key, storage.GetOptions{RevisionOnly: true}); err != nil || kv != nil {
				t.Fatalf("what was refused is there: %v, %v", kv, err)
			}
			return keys
		}
		if errors.Is(err, storage.ErrUnknownOutcome) { // it was on its way when the space ran out
			kv, _, found := b.Get(t.Context(), key, storage.GetOptions{RevisionOnly: true})
			if found != nil || kv == nil {
				t.Fatalf("%v: %v", err, found)
			}
			revision, err = kv.Revision, nil
		}
		if err != nil || i > 1000 {
			t.Fatalf("write %d: %v", i, err)
		}
		keys = append(keys, storage.KeyValue{Key: key, Revision: revision})
	}
}

// With the quota used up writes fail and reads go on; deletions and a defragmentation make space again.
func TestQuota(t *testing.T) {
	b := quota(t, t.TempDir(), 4<<20)
	keys := fillUp(t, b, "/big/")
	if s := space(t, b); !s.Full() || s.Quota != 4<<20 || s.Size < 3<<20 {
		t.Fatalf("full: %+v", s)
	}
	if n, err := b.Count(t.Context(), "/big/"); err != nil || n != int64(len(keys)) {
		t.Errorf("reading: %d, %v", n, err)
	}
	if err := b.(storage.Maintainer).Defrag(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := space(t, b); s.Size >= s.Quota && !s.Full() {
		t.Errorf("the alarm was lowered though nothing was won: %+v", s)
	}
	keys = append(keys, fillUp(t, b, "/more/")...)
	for _, kv := range keys {
		if _, err := b.Delete(t.Context(), kv.Key, kv.Revision); err != nil {
			t.Fatalf("deleting with no space left: %v", err)
		}
	}
	if err := b.(storage.Maintainer).Defrag(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := space(t, b); s.Full() || s.Size > 2<<20 {
		t.Errorf("after deletions and a defragmentation: %+v", s)
	}
	put(t, b, "/again", "1", 0)
}

// A server that comes back with a larger quota takes writes again.
func TestLargerQuota(t *testing.T) {
	dir := t.TempDir()
	b := quota(t, dir, 4<<20)
	fillUp(t, b, "/big/")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = quota(t, dir, 4<<20)
	if s := space(t, b); !s.Full() && s.Size >= s.Quota {
		t.Errorf("the alarm is gone though nothing has changed: %+v", s)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = quota(t, dir, 64<<20)
	put(t, b, "/again", "1", 0)
	if s := space(t, b); s.Full() {
		t.Errorf("with a larger quota: %+v", s)
	}
}

// A database that is only fragmented is made small while all it holds stays, and so does the history.
func TestDefrag(t *testing.T) {
	b := open(t, t.TempDir())
	before := put(t, b, "/kept", "1", 0)
	value := string(bytes.Repeat([]byte("x"), 100<<10))
	last := put(t, b, "/big", value, 0)
	for range 50 {
		last = put(t, b, "/big", value, last)
	}
	if err := b.Compact(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	written := put(t, b, "/kept", "2", before)
	// etcd drops what was compacted in the background, and counts what that freed at its next write.
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(2 * time.Minute); space(t, b).InUse > 2<<20; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("the history was not dropped: %+v", space(t, b))
		}
		written = put(t, b, "/kept", "2", written)
	}
	if err := b.(storage.Maintainer).Defrag(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := space(t, b); s.Size > 4<<20 || s.Revision != written {
		t.Errorf("after the defragmentation: %+v", s)
	}
	if got, err := b.Range(t.Context(), storage.RangeRequest{Prefix: "/kept", Revision: last}); err != nil ||
		string(got.Items[0].Value) != "1" {
		t.Errorf("the history: %v, %v", got, err)
	}
}
