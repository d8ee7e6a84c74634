package registry

import (
	"context"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/subresource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Definition is everything static about one resource: what generated wiring fills in, and what a reader of the wiring
// reads top to bottom. T is the pointer to the hub type: the internal type where a group has one, else the type of the
// storage version.
type Definition[T api.Object] struct {
	Group string
	Names api.Names
	Scope api.Scope

	// New returns an empty hub object.
	New func() T
	// Versions are the served versions, the preferred one first.
	Versions []codec.Version[T]
	// Storage names the version that is written to the backend; it is one of Versions.
	Storage string
	// StoragePrefix is where the objects' keys are, below the prefix of all resources. It has no slashes at its ends.
	// Empty is <group>/<plural>, or the plural alone in the core group.
	StoragePrefix string

	// Strategy is the user's logic. Its zero value works.
	Strategy Strategy[T]
	// Subresources that are a subset of the object's fields, status above all.
	Subresources []Subresource[T]
	// Extensions are all other subresources.
	Extensions []subresource.Extension[T]
	// SelectableFields are the fields beyond metadata.name and metadata.namespace that field selectors may name.
	SelectableFields []api.SelectableField[T]
}

// Subresource is a subset of an object's fields that is written through a path of its own. What it covers is kept from
// the stored object on every write of the object itself, and nothing else is taken on a write of the subresource.
type Subresource[T api.Object] struct {
	// Name is also that of the member of the object that holds the covered fields, in every version: status.
	Name string
	// Copy copies the covered fields, deeply, from one object to another.
	Copy func(from, to T)
	// Reset empties the covered fields: what a creation may not set.
	Reset func(T)
	// Validate checks a write of the subresource; nil accepts all that the schema accepts.
	Validate func(ctx context.Context, obj, old T) field.ErrorList
}

// Strategy is what the author of a kind wants to happen on a write, found by convention in the package of the hub type
// and wired as calls. Each function may be nil. The order is that of kube-apiserver: prepare, validate, canonicalize.
// Functions of a Strategy own obj and may change it (where their name says so); they must not change old.
type Strategy[T api.Object] struct {
	// PrepareForCreate and PrepareForUpdate set what clients don't.
	PrepareForCreate func(ctx context.Context, obj T)
	PrepareForUpdate func(ctx context.Context, obj, old T)
	// Validate checks an object, on creation and on update.
	Validate func(ctx context.Context, obj T) field.ErrorList
	// ValidateUpdate checks the change from old to obj. It runs in addition to Validate.
	ValidateUpdate func(ctx context.Context, obj, old T) field.ErrorList
	// Canonicalize brings a valid object into its canonical form.
	Canonicalize func(obj T)
	// Warnings are sent with the answer of a write; old is nil on creation.
	Warnings func(ctx context.Context, obj, old T) []string
	// ValidateName replaces the rule for metadata.name, which is that of a DNS subdomain; generated tells that name is
	// a generateName's prefix. It returns messages.
	ValidateName func(name string, generated bool) []string
	// CheckGracefulDelete tells whether an object is deleted with a time of grace, and sets options.GracePeriodSeconds
	// to how many seconds it takes where the client didn't. The object is marked with the time by which it is to be
	// gone; whoever winds it up removes it before, or then, by a deletion with a grace of 0. Nil: there is no grace.
	CheckGracefulDelete func(ctx context.Context, obj T, options *metav1.DeleteOptions) bool
	// DefaultPropagationPolicy is what becomes of an object's dependents where neither the deletion nor the object's
	// finalizers say: Background, which is that of a nil function, Orphan, or Foreground. Empty: dependents are not for
	// this kind, and whatever is asked for, no finalizer is recorded.
	DefaultPropagationPolicy func(ctx context.Context, obj T) metav1.DeletionPropagation
	// AllowCreateOnUpdate lets a PUT create the object.
	AllowCreateOnUpdate bool
	// RequireVersionOnUpdate refuses a PUT without metadata.resourceVersion.
	RequireVersionOnUpdate bool
	// NoGeneration leaves metadata.generation to clients, where there is nothing of which it could count the changes: a
	// kind without a spec.
	NoGeneration bool
	// ReturnDeletedObject answers a deletion with the object, and not with a Status.
	ReturnDeletedObject bool
}
