package embedded

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"apigen.dev/runtime/storage"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	bolt "go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.uber.org/zap"
)

// Restore implements storage.Embedded, for snapshots of this package and of etcdctl, of any cluster. It makes a new
// member beside the data directory, gives it the snapshot's keys, and moves it into place when it is complete.
func (Etcd) Restore(ctx context.Context, snapshot, dir string, options storage.RestoreOptions) (err error) {
	lock, err := take(dir)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.undo())
		} else {
			err = lock.Close()
		}
	}()
	target, unfinished := filepath.Join(dir, "etcd"), filepath.Join(dir, "etcd.unfinished")
	if entries, err := os.ReadDir(target); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s holds data, which a restore does not overwrite: move it away, or restore to another "+
			"directory", target)
	}
	if err := os.RemoveAll(unfinished); err != nil { // from a restore that was killed
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(unfinished))
		}
	}()
	member, err := start(ctx, dir, unfinished, storage.DefaultQuota)
	if err != nil {
		return err
	}
	member.Close()
	if err := fill(unfinished, snapshot, cmp.Or(options.Bump, storage.DefaultBump)); err != nil {
		return fmt.Errorf("restoring %s: %w", snapshot, err)
	}
	if err := os.Remove(target); err != nil && !errors.Is(err, os.ErrNotExist) { // an empty directory
		return err
	}
	if err := os.Rename(unfinished, target); err != nil {
		return err
	}
	return syncDirectory(dir)
}

// fill replaces the keys of the new member in data by the snapshot's.
func fill(data, snapshot string, bump int64) error {
	own := filepath.Join(data, "member", "snap", "db")
	restored := own + ".restored"
	if err := copyVerified(snapshot, restored); err != nil {
		return err
	}
	if err := graft(own, restored, bump); err != nil {
		return err
	}
	if err := os.Rename(restored, own); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(own))
}

// pageSize is the size of the database's pages. The size of every database file is a multiple of it.
const pageSize = 512

// copyVerified copies the database in a snapshot, and verifies its checksum.
func copyVerified(snapshot, to string) (err error) {
	in, err := os.Open(snapshot)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // the file was only read
	info, err := in.Stat()
	if err != nil {
		return err
	}
	size := info.Size() - sha256.Size
	if !info.Mode().IsRegular() || size <= 0 || size%pageSize != 0 {
		return errors.New("this is no snapshot, or not all of one: a snapshot is a database and its SHA-256")
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	sum := sha256.New()
	if _, err := io.CopyN(io.MultiWriter(out, sum), in, size); err != nil {
		return err
	}
	want, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	if !bytes.Equal(want, sum.Sum(nil)) {
		return errors.New("its checksum is wrong: it was damaged, or not written to its end")
	}
	return out.Sync()
}

// graft makes the restored database that of the new member. It copies the member's identity, and its place in its own
// log, from the member's database. It drops alarms, since etcd raises them again where they are right. The skipped
// revisions count as compacted, so that no watch goes on across the gap.
func graft(own, restored string, bump int64) (err error) {
	from, err := openDatabase(own)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := openDatabase(restored)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	source, target := from.BatchTx(), to.BatchTx()
	source.LockOutsideApply()
	defer source.Unlock()
	target.LockOutsideApply()
	defer target.Unlock()
	if err := identify(source, target); err != nil || bump < 0 {
		return err
	}
	last, err := lastRevision(target)
	if err == nil {
		mvcc.UnsafeSetScheduledCompact(target, last+bump)
	}
	return err
}

// identify copies a member's identity and its place in its log, but no users: an embedded etcd has one.
func identify(source, target bolt.BatchTx) error {
	empty := func(bucket bolt.Bucket) {
		target.UnsafeCreateBucket(bucket) // a bucket must exist before it is deleted
		target.UnsafeDeleteBucket(bucket)
		target.UnsafeCreateBucket(bucket)
	}
	for _, bucket := range []bolt.Bucket{schema.Alarm, schema.Auth, schema.AuthUsers, schema.AuthRoles} {
		empty(bucket)
	}
	for _, bucket := range []bolt.Bucket{schema.Members, schema.MembersRemoved, schema.Cluster} {
		empty(bucket)
		source.UnsafeCreateBucket(bucket)
		if err := source.UnsafeForEach(bucket, func(key, value []byte) error {
			target.UnsafePut(bucket, bytes.Clone(key), bytes.Clone(value))
			return nil
		}); err != nil {
			return err
		}
	}
	index, term := schema.UnsafeReadConsistentIndex(source)
	target.UnsafeCreateBucket(schema.Meta)
	schema.UnsafeUpdateConsistentIndexForce(target, index, term)
	if state := schema.UnsafeConfStateFromBackend(zap.NewNop(), source); state != nil {
		schema.MustUnsafeSaveConfStateToBackend(zap.NewNop(), target, state)
	}
	return nil
}

// openDatabase turns etcd's panic into an error.
func openDatabase(path string) (database bolt.Backend, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it holds no database: %v", r)
		}
	}()
	config := bolt.DefaultBackendConfig(zap.NewNop())
	config.Path = path
	return bolt.New(config), nil
}

// lastRevision returns the revision of the last write, or of the last compaction where no key is left.
func lastRevision(tx bolt.UnsafeReader) (int64, error) {
	scheduled, _ := mvcc.UnsafeReadScheduledCompact(tx)
	finished, _ := mvcc.UnsafeReadFinishedCompact(tx)
	last := max(scheduled, finished)
	err := tx.UnsafeForEach(schema.Key, func(key, _ []byte) error {
		last = max(last, mvcc.BytesToBucketKey(key).Main)
		return nil
	})
	return last, err
}

// syncDirectory makes a rename within a directory survive a crash of the system.
func syncDirectory(path string) error {
	dir, err := fileutil.OpenDir(path)
	if err != nil {
		return err
	}
	return errors.Join(fileutil.Fsync(dir), dir.Close())
}
