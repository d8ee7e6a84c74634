package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/storage"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// recordsBelow is the prefix of records below the prefix of all resources. No group's name begins with an
	// underscore, so no resource has keys there.
	recordsBelow = "_apigen/storageversions/"
	// recordTrust is how long a store trusts that a record still exists: a migration may trim it, and a restore of the
	// backend may lose it.
	recordTrust = time.Minute
	// recordTries bounds how often a record is read and written again.
	recordTries = 5
	openTimeout = 30 * time.Second
	// openAgain is after what time a record is read again while the backend has no leader.
	openAgain = 250 * time.Millisecond
)

// StoredVersions is the record, in the backend, of the versions in which a resource's objects may be stored. A store
// records a version before it writes the first object in it, so that a server which can't read all objects can refuse
// to start.
type StoredVersions struct {
	backend storage.Backend
	key     string
	gr      schema.GroupResource
	current string               // in which this server writes
	elapsed func() time.Duration // since it was made, whatever the wall clock does

	busy    chan struct{} // holds one token for whoever may use what follows
	seen    int64         // the revision of the record that had current
	trusted atomic.Int64  // until when, in nanoseconds of elapsed
}

type versionRecord struct {
	// Versions are sorted.
	Versions []string `json:"versions"`
}

// NewStoredVersions returns the record of a resource whose store writes the version current.
func NewStoredVersions(
	backend storage.Backend, prefix string, gr schema.GroupResource, current string,
) *StoredVersions {
	made := time.Now()
	v := &StoredVersions{
		backend: backend, gr: gr, current: current,
		key:     strings.TrimSuffix(prefix, "/") + "/" + recordsBelow + gr.String(),
		elapsed: func() time.Duration { return time.Since(made) }, busy: make(chan struct{}, 1),
	}
	v.busy <- struct{}{}
	return v
}

// Check fails where the record has a version that isn't in readable. It waits up to half a minute for a backend that
// is not available: a server may start while etcd's members elect a leader.
func (v *StoredVersions) Check(ctx context.Context, readable []string) error {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	record, _, err := v.read(ctx)
	for errors.Is(err, storage.ErrUnavailable) && !ended(ctx, openAgain) {
		record, _, err = v.read(ctx)
	}
	if err != nil {
		return fmt.Errorf("reading in which versions objects are stored: %w", err)
	}
	unknown := slices.DeleteFunc(record.Versions, func(v string) bool { return slices.Contains(readable, v) })
	if len(unknown) == 0 {
		return nil
	}
	return fmt.Errorf("objects may be stored in %s, which this server cannot read (it reads %s): "+
		"migrate them with a server that can; where none are left, migrating with this one takes the version "+
		"off the record %s", strings.Join(unknown, ", "), strings.Join(readable, ", "), v.key)
}

// ended waits, and reports whether ctx ended meanwhile.
func ended(ctx context.Context, wait time.Duration) bool {
	select {
	case <-ctx.Done():
		return true
	case <-time.After(wait):
		return false
	}
}

// read returns the record, empty if there is none, and its revision.
func (v *StoredVersions) read(ctx context.Context) (versionRecord, int64, error) {
	kv, _, err := v.backend.Get(ctx, v.key, storage.GetOptions{})
	if err != nil {
		return versionRecord{}, 0, err
	}
	return v.parse(kv)
}

func (v *StoredVersions) parse(kv *storage.KeyValue) (versionRecord, int64, error) {
	var record versionRecord
	if kv == nil {
		return record, 0, nil
	}
	if err := json.Unmarshal(kv.Value, &record); err != nil {
		return record, 0, fmt.Errorf("%s holds no record of versions: %w", v.key, err)
	}
	return record, kv.Revision, nil
}

// BeforeWrite records the current version. After an error the store must not write; the error is never one of unknown
// outcome, because no object was written.
func (v *StoredVersions) BeforeWrite(ctx context.Context) error {
	if v.elapsed().Nanoseconds() < v.trusted.Load() {
		return nil
	}
	select {
	case <-v.busy:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { v.busy <- struct{}{} }()
	started := v.elapsed()
	if started.Nanoseconds() < v.trusted.Load() {
		return nil
	}
	if err := v.confirm(ctx); err != nil {
		return err
	}
	v.trusted.Store((started + recordTrust).Nanoseconds())
	return nil
}

// confirm checks that the record is as it was last seen, else it records the current version.
func (v *StoredVersions) confirm(ctx context.Context) error {
	if v.seen > 0 {
		kv, _, err := v.backend.Get(ctx, v.key, storage.GetOptions{RevisionOnly: true})
		if err != nil {
			return v.failed(err)
		}
		if kv != nil && kv.Revision == v.seen {
			return nil
		}
	}
	return v.update(ctx, func(versions []string) []string { return append(versions, v.current) })
}

// update changes the record by compare-and-swap. After a write of unknown outcome it reads the record and tries again:
// a second write does no harm.
func (v *StoredVersions) update(ctx context.Context, change func([]string) []string) error {
	record, revision, err := v.read(ctx)
	var last error // of the write before
	for try := 0; err == nil; try++ {
		wanted := slices.Clone(change(slices.Clone(record.Versions)))
		slices.Sort(wanted)
		if wanted = slices.Compact(wanted); slices.Equal(wanted, record.Versions) {
			v.seen = revision
			return nil
		}
		if try == recordTries {
			//nolint:errorlint // last isn't wrapped: no object was written
			err = fmt.Errorf("%w: after %d attempts: %v", storage.ErrUnavailable, try, last)
			break
		}
		var value []byte
		if value, err = json.Marshal(versionRecord{Versions: wanted}); err != nil {
			break
		}
		_, last = v.backend.Put(ctx, v.key, append(value, '\n'), revision, 0)
		var conflict *storage.ConflictError
		switch {
		case errors.As(last, &conflict):
			record, revision, err = v.parse(conflict.Current)
		case last == nil, errors.Is(last, storage.ErrUnknownOutcome):
			record, revision, err = v.read(ctx)
		default:
			err = last
		}
	}
	return v.failed(err)
}

func (v *StoredVersions) failed(err error) error {
	return fmt.Errorf("recording that %s are stored in version %s: %w", v.gr, v.current, err)
}
