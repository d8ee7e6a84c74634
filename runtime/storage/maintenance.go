package storage

import (
	"context"
	"io"
	"slices"
)

// Embedded is a kind of backend that runs inside the process, on a directory of its own.
type Embedded interface {
	// Open opens the backend on dir, which it creates if it is absent. It fails at once with an error that wraps
	// ErrInUse where another process has the directory. The backend is a Maintainer.
	Open(ctx context.Context, dir string, options EmbeddedOptions) (Backend, error)
	// Restore writes the data of a snapshot to dir. It fails where dir has data already; whenever it fails it leaves
	// dir as it was. The revision moves forward by options.Bump above that of the snapshot, so that no revision that a
	// client has seen after the snapshot gets another meaning.
	Restore(ctx context.Context, snapshot, dir string, options RestoreOptions) error
}

// EmbeddedOptions refine Open.
type EmbeddedOptions struct {
	// Quota bounds the backend's size in bytes; 0 is DefaultQuota. Writes beyond it fail with ErrNoSpace.
	Quota int64
	// Existing makes Open fail with an error that wraps ErrNoData, and create nothing, where dir holds no data.
	Existing bool
}

// DefaultQuota is the largest size that etcd recommends.
const DefaultQuota = 8 << 30

// RestoreOptions refine Restore.
type RestoreOptions struct {
	// Bump is the number by which the revision moves forward. It must be above the number of writes since the snapshot.
	// 0 is DefaultBump; a negative number is none.
	Bump int64
}

// DefaultBump covers 1,000 writes in each second for eleven days after the snapshot.
const DefaultBump = 1_000_000_000

// Maintainer maintains a backend that owns its disk. Its methods are safe for concurrent use.
type Maintainer interface {
	// Snapshot writes the whole state of one revision, followed by a checksum. It returns a revision that the snapshot
	// includes: the snapshot has all writes up to it, and maybe later ones.
	Snapshot(ctx context.Context, w io.Writer) (revision int64, err error)
	// Defrag returns unused space to the system, and clears NoSpace where the size is below the quota afterwards. Where
	// NoSpace is raised it drops all history first. The backend serves nothing meanwhile.
	Defrag(ctx context.Context) error
	// Space returns the size and the alarms of the backend.
	Space(ctx context.Context) (Space, error)
}

// Space is the size of a backend, in bytes, and its alarms.
type Space struct {
	// Revision is the current revision.
	Revision int64 `json:"revision"`
	// Size is the size of the file. InUse is the part that is used; a defragmentation frees the remainder.
	Size  int64 `json:"size"`
	InUse int64 `json:"inUse"`
	Quota int64 `json:"quota"`
	// Alarms are the alarms that the backend has raised: NoSpace, Corrupt.
	Alarms []string `json:"alarms,omitempty"`
	// Version is the version of the backend's program: 3.7.3.
	Version string `json:"version"`
}

// The alarms of a Space.
const (
	NoSpace = "NOSPACE"
	Corrupt = "CORRUPT"
)

// Full reports whether the backend refuses writes until it has space again.
func (s Space) Full() bool { return slices.Contains(s.Alarms, NoSpace) }
