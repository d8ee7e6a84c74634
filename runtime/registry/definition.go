package registry

import (
	"context"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/subresource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Definition is everything static about one resource; generated wiring fills it in. T is the pointer to the hub type:
// the internal type where the group has one, else the type of the storage version.
type Definition[T api.Object] struct {
	Group string
	Names api.Names
	Scope api.Scope

	// New returns an empty hub object.
	New func() T
	// Versions are the served versions, the preferred one first.
	Versions []codec.Version[T]
	// Storage names the version in which objects are stored; it is one of Versions.
	Storage string
	// StoragePrefix is the prefix of the objects' keys, below the prefix of all resources. It neither begins nor ends
	// with a slash. An empty one means <group>/<plural>, or <plural> in the core group.
	StoragePrefix string

	// Verbs are those that clients may use; nil means all. The server's own logic, such as the garbage collector and
	// the functions of subresources, may use all verbs.
	Verbs []string

	// Strategy is the user's logic. Its zero value works.
	Strategy Strategy[T]
	// Subresources are the subresources that are a part of the object, like status.
	Subresources []Subresource[T]
	// Extensions are all other subresources.
	Extensions []subresource.Extension[T]
	// SelectableFields are the fields beyond metadata.name and metadata.namespace that field selectors may name, in
	// all versions or in some.
	SelectableFields []api.SelectableField[T]
}

// Strategy holds the functions of a kind's author that run on a write. The generator finds them by convention in the
// package of the hub type. Each may be nil. They run in kube-apiserver's order: authorize, prepare, validate,
// canonicalize. The functions that prepare or canonicalize may change obj; none may change old.
type Strategy[T api.Object] struct {
	// AuthorizeCreate and AuthorizeUpdate refuse a write by an error, where the permission depends on the object. They
	// run on each write of an object and of its subresources, after admission may have changed it. An error that is no
	// API status is answered with 403.
	AuthorizeCreate func(ctx context.Context, obj T) error
	AuthorizeUpdate func(ctx context.Context, obj, old T) error
	// PrepareForCreate and PrepareForUpdate set the fields that clients don't decide.
	PrepareForCreate func(ctx context.Context, obj T)
	PrepareForUpdate func(ctx context.Context, obj, old T)
	// Validate checks an object, on creation and on update.
	Validate func(ctx context.Context, obj T) field.ErrorList
	// ValidateCreate checks a new object. It runs in addition to Validate.
	ValidateCreate func(ctx context.Context, obj T) field.ErrorList
	// ValidateUpdate checks the change from old to obj. It runs in addition to Validate.
	ValidateUpdate func(ctx context.Context, obj, old T) field.ErrorList
	// Canonicalize brings a valid object into its canonical form.
	Canonicalize func(obj T)
	// Warnings returns warnings for the client of a write; old is nil on creation.
	Warnings func(ctx context.Context, obj, old T) []string
	// ValidateName replaces the rule that metadata.name is a DNS subdomain. It returns messages. generated tells that
	// name is the prefix in a generateName.
	ValidateName func(name string, generated bool) []string
	// CheckGracefulDelete reports whether an object is deleted gracefully, and sets options.GracePeriodSeconds where
	// the client didn't. The server then sets the object's deletionTimestamp, and an agent that has shut down what the
	// object describes removes it by a deletion with a grace period of 0. Nil means that no deletion is graceful.
	CheckGracefulDelete func(ctx context.Context, obj T, options *metav1.DeleteOptions) bool
	// BlocksDeletion reports whether something beside metadata.finalizers keeps a deleted object, such as the
	// spec.finalizers of a namespace. A deletion then marks the object, and the write removes it that leaves neither.
	BlocksDeletion func(obj T) bool
	// PrepareForDelete changes an object that a deletion marks, such as its phase. It isn't called where the deletion
	// removes the object.
	PrepareForDelete func(ctx context.Context, obj T)
	// DefaultPropagationPolicy returns the propagation policy where neither the deletion nor the object's finalizers
	// name one: Background, Orphan or Foreground. A nil function means Background. The empty policy means that objects
	// of the kind have no dependents: the server records no finalizer, whatever a deletion asks for.
	DefaultPropagationPolicy func(ctx context.Context, obj T) metav1.DeletionPropagation
	// TimeToLive returns how long the object lives after this write of it, to the second; 0 means no limit, and so is a
	// nil function.
	TimeToLive func(ctx context.Context, obj T) time.Duration
	// AllowCreateOnUpdate lets a PUT create the object.
	AllowCreateOnUpdate bool
	// RequireVersionOnUpdate refuses a PUT without metadata.resourceVersion.
	RequireVersionOnUpdate bool
	// NoGeneration leaves metadata.generation to clients. It is for kinds without a spec, whose changes the generation
	// would count.
	NoGeneration bool
	// CountsStatus makes metadata.generation count changes of the field status, as for a custom resource whose status
	// has no subresource.
	CountsStatus bool
	// ReturnDeletedObject makes a deletion answer with the object instead of a Status.
	ReturnDeletedObject bool
}
