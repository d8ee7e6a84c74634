// Package registry defines what create, update, patch, apply and delete mean for a Go type: the rules of metadata, the
// author's strategy, the order of validation, subresources and actions, and kinds without storage. New and NewVirtual
// erase the Go type; the server's HTTP half works with the Resource that they return.
//
// It may know api, cache, codec, ownership, patch, reach, rendition, storage, store and wire, and nothing of HTTP,
// except that the handler of a connection passes through it.
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
	Transformer store.Transformer
}
