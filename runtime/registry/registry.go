// Package registry defines what create, update, patch, apply and delete mean for a Go type, in storage or by the
// functions of a provider: one pipeline of steps for metadata, field ownership, the author's strategy and validation.
// New, NewSameAs and NewProvided erase the Go type and return a Resource, which the packages of HTTP work with.
//
// It may know packages admission, api, auth, cache, codec, metadata, objects, ownership, rendition, storage, store,
// subresource and verb, and nothing of HTTP.
package registry

import (
	"context"
	"log/slog"
	"time"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/ownership"
	"apigen.dev/runtime/internal/state/cache"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
	"k8s.io/apimachinery/pkg/runtime"
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
	// CompressCache is after how long the cache keeps an object compressed that nobody read, up to twice that; 0 is
	// never.
	CompressCache time.Duration
	// Window is how much history the cache keeps for watches; its zero value means the cache's defaults.
	Window cache.Window
	// Log gets messages about failures of the backend; nil discards them.
	Log *slog.Logger
	// Verify turns on expensive checks of invariants, which panic.
	Verify bool
	// Schemas are those of all groups; field ownership and server-side apply need them. All resources share them. Nil
	// treats the resource as a kind without a schema.
	Schemas *ownership.Schemas
	// Shared are the stores of resources that have the same objects. Without it, the resource has a store of its own.
	Shared *Shared
	// IgnorePropagation makes deletions record no finalizer for their propagation policy, because no garbage collector
	// would remove it.
	IgnorePropagation bool
	// Transformer encrypts values at rest; nil stores them as they are.
	Transformer store.Transformer
	// Encoding is that of stored objects: JSON or Protobuf. A kind whose type has no protobuf is stored in JSON. Values
	// in the other encoding are read, and are stale.
	Encoding verb.Encoding
	// AfterWrite is called after a write of the resource was stored, and before the client gets its answer, with the
	// revision of what the answer tells: that of the write, or of the object if there was nothing to write. It may
	// wait until something that follows the resource has that revision. Requests call it concurrently. Nil does
	// nothing.
	AfterWrite func(ctx context.Context, revision int64)
	// Admission has the plug-ins that each write passes; nil has none.
	Admission *admission.Chain
	// TimeToLive is how long an object lives after each write of it, in place of what its strategy says; nil leaves it
	// to that, and 0 means no limit.
	TimeToLive *time.Duration
}

// Group is an API group as generated wiring hands it to a server.
type Group struct {
	Name string
	// Versions of the group, in order of priority.
	Versions []string
	// Resources has one resource for each kind, which New or NewProvided made.
	Resources []Resource
	// AddToScheme registers the group's Go types, for clients and codecs that want a Scheme.
	AddToScheme func(*runtime.Scheme) error
	// OpenAPI holds, for each version, its OpenAPI v3 document, with paths and components.
	OpenAPI map[string]api.Document
	// Swagger is the OpenAPI v2 document of all versions.
	Swagger api.Document
}

// Resource is a resource whose Go type has been erased: static, not yet bound to a backend. New makes it.
type Resource interface {
	Info() *verb.Info
	// Open binds the resource to a backend. It reads from the backend which versions are stored; ctx bounds that. The
	// handle owns goroutines until it is closed, also after ctx has ended.
	Open(ctx context.Context, config Config) (verb.Handle, error)
}
