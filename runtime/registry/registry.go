// Package registry defines what create, update, patch, apply and delete mean for a Go type, in storage or by the
// functions of a provider: one pipeline of steps for metadata, field ownership, the author's strategy and validation.
// New and NewProvided erase the Go type and return a Resource, which the packages of HTTP work with.
//
// It may know packages api, cache, codec, metadata, ownership, reach, rendition, storage, store and subresource, and
// nothing of HTTP.
package registry

import (
	"log/slog"
	"time"

	"apigen.dev/runtime/cache"
	"apigen.dev/runtime/ownership"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/store"
)

// Config binds a resource to a backend.
type Config struct {
	Backend storage.Backend
	// Prefix is the key prefix of all resources, "/registry"; the resource's own keys are
	// <Prefix>/<group>/<resource>/[<namespace>/]<name>.
	Prefix string
	// DisableCache makes reads go to the backend.
	DisableCache bool
	// CheckCache is how often the cache compares itself with the backend; it starts again where they differ. 0 is
	// never.
	CheckCache time.Duration
	// Window is how much history the cache keeps for watches; its zero value means the cache's defaults.
	Window cache.Window
	// Log gets messages about failures of the backend; nil discards them.
	Log *slog.Logger
	// Verify turns on expensive checks of invariants, which panic.
	Verify bool
	// Schemas are those of the resource's group; field ownership and server-side apply need them. The resources of a
	// group share them. Nil treats the resource as a kind without a schema.
	Schemas *ownership.Schemas
	// IgnorePropagation makes deletions record no finalizer for their propagation policy, because no garbage collector
	// would remove it.
	IgnorePropagation bool
	// Transformer encrypts values at rest; nil stores them as they are.
	Transformer store.Transformer
}
