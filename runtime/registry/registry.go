// Package registry is what create, update, patch, delete and finalize mean for a Go type. Its Store[T] is the typed
// store over a backend, with the cacher in front or without it; its Resource is that store with the rules of metadata,
// the author's strategy and the subresources, with T erased: what the server's HTTP half works with. New is the one
// place where T is erased.
//
// It knows storage, cache and ownership, and no HTTP but that the handler of a connection passes through it.
package registry

import (
	"log/slog"
	"time"

	"apigen.dev/runtime/cache"
	"apigen.dev/runtime/ownership"
	"apigen.dev/runtime/storage"
)

// Config binds a resource to a backend.
type Config struct {
	Backend storage.Backend
	// Prefix is the key prefix of all resources, "/registry"; the resource's own keys are
	// <Prefix>/<group>/<resource>/[<namespace>/]<name>.
	Prefix string
	// DisableCache makes reads go to the backend.
	DisableCache bool
	// CheckCache is how often the cache is compared with the backend, and dropped where they differ; 0 is never.
	CheckCache time.Duration
	// Window is how much history the cache keeps for watches; its zero value means the cache's defaults.
	Window cache.Window
	// Log hears of trouble with the backend; nil is silence.
	Log *slog.Logger
	// Verify turns on expensive checks of invariants, which panic.
	Verify bool
	// Schemas are those of the resource's group, by which field ownership is kept and server-side apply merges. The
	// resources of a group share them. Nil: the resource has none, and is treated as a kind without a schema.
	Schemas *ownership.Schemas
	// IgnorePropagation makes deletions record no finalizer for a propagation policy: no collector would remove it.
	IgnorePropagation bool
	// Transformer is what values pass on their way to the backend and back; nil stores them as they are.
	Transformer Transformer
}
