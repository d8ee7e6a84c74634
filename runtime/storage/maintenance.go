package storage

import (
	"context"
	"io"
	"slices"
)

// Embedded is a kind of backend that lives inside the process, on a directory of its own.
type Embedded interface {
	// Open opens the backend on dir, which it makes where it is not there, and fails at once with an error that wraps
	// ErrInUse where another process has it. The backend is a Maintainer.
	Open(ctx context.Context, dir string, options EmbeddedOptions) (Backend, error)
	// Restore makes dir's data of a snapshot. It fails where dir has data already, and then, as where anything else
	// fails, leaves it as it was. Every revision becomes older than the state that is restored, by options.Bump: what
	// clients know from after the snapshot was taken does not come back with another meaning.
	Restore(ctx context.Context, snapshot, dir string, options RestoreOptions) error
}

// EmbeddedOptions refine Open.
type EmbeddedOptions struct {
	// Quota bounds the backend's size in bytes; 0 is DefaultQuota. Beyond it writes fail with ErrNoSpace.
	Quota int64
	// Existing makes Open fail with an error that wraps ErrNoData, and make nothing, where dir holds no data.
	Existing bool
}

// DefaultQuota is the largest size that etcd recommends.
const DefaultQuota = 8 << 30

// RestoreOptions refine Restore.
type RestoreOptions struct {
	// Bump is how far the revision is moved forward: more than the writes that were made since the snapshot was taken.
	// 0 is DefaultBump; negative is not at all.
	Bump int64
}

// DefaultBump lasts for 1,000 writes in each second of a snapshot's age, for eleven days.
const DefaultBump = 1_000_000_000

// Maintainer is what a backend that owns its disk does beside storing. Its methods are safe for concurrent use.
type Maintainer interface {
	// Snapshot writes the whole state, of one revision and with a checksum behind it. It returns a revision that the
	// snapshot holds: all that was written up to it, and maybe some that was written since.
	Snapshot(ctx context.Context, w io.Writer) (revision int64, err error)
	// Defrag gives space that nothing uses back to the system, and lowers NoSpace where the size is below the quota
	// then. Where NoSpace is raised it first drops all history. Nothing is read or written meanwhile.
	Defrag(ctx context.Context) error
	// Space tells how the backend does.
	Space(ctx context.Context) (Space, error)
}

// Space is the size of a backend, in bytes, and what is wrong with it.
type Space struct {
	// Revision is the current one.
	Revision int64 `json:"revision"`
	// Size is that of the file; InUse is what of it is used, the rest can be had back by a defragmentation.
	Size  int64 `json:"size"`
	InUse int64 `json:"inUse"`
	Quota int64 `json:"quota"`
	// Alarms are raised by the backend: NoSpace, Corrupt.
	Alarms []string `json:"alarms,omitempty"`
	// Version of what runs: 3.7.3.
	Version string `json:"version"`
}

// The alarms that Space knows.
const (
	NoSpace = "NOSPACE"
	Corrupt = "CORRUPT"
)

// Full tells that writes are refused until there is space again.
func (s Space) Full() bool { return slices.Contains(s.Alarms, NoSpace) }
