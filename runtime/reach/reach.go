// Package reach gives the logic of one kind (a subresource, a hook or a provider) access to the objects of other kinds
// that the same server serves, through the context of the request:
//
//	budgets, err := reach.Of[*policyv1.PodDisruptionBudget](ctx)
//
// It may know package request alone, so that packages of API types that use it stay light.
package reach

import (
	"context"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Objects are the objects of one kind. A write passes all rules and hooks that a client's write of the kind passes, but
// not the authorizer, which has decided on the present request alone. Errors are API statuses. Objects is safe for
// concurrent use, and the objects that it returns belong to the caller.
//
// Namespace is "" for cluster-scoped kinds, and for lists across all namespaces.
type Objects[T any] interface {
	// Get reads the present state of an object. It fails with an apierrors.NewNotFound if there is none.
	Get(ctx context.Context, namespace, name string) (T, error)
	// List reads the present state of the objects whose labels match a selector; nil matches all.
	List(ctx context.Context, namespace string, selector labels.Selector) ([]T, error)
	// Create creates obj, in its namespace, and returns the created object.
	Create(ctx context.Context, obj T, how Write) (T, error)
	// Update calls change with the present state of an object, writes the result, and returns the updated object. Where
	// another write came between, it calls change again with the new state. It returns an error of change unchanged.
	Update(ctx context.Context, namespace, name string, how Write, change func(obj T) error) (T, error)
	// Delete deletes an object, or marks it for deletion where finalizers or a grace period must end first.
	Delete(ctx context.Context, namespace, name string, options metav1.DeleteOptions) error
	// Follow calls changes with all objects, and then with every change of them, in order and one call at a time. It
	// blocks until ctx ends, and returns the error of ctx; or an error where the kind cannot be watched. When the watch
	// behind it fails or expires, Follow begins anew by itself, with all objects.
	Follow(ctx context.Context, namespace string, changes func(Changes[T])) error
}

// Changes are what Follow tells. They belong to the function that gets them.
type Changes[T any] struct {
	// Reset reports whether Put has all objects: those of earlier calls that it lacks no longer exist.
	Reset bool
	// Put are the new and the changed objects, Deleted those that no longer exist; no object is in both, and none
	// twice. An object that cannot be read counts as deleted, and may have no more than its namespace and name.
	Put, Deleted []T
	// Revision is the revision up to which Follow has told all changes; 0 where the kind has none.
	Revision int64
}

// Write are the options of a write.
type Write struct {
	// Subresource is the subresource to write, such as "status"; "" is the object without its subresources.
	Subresource string
	// Manager is the field manager of the write.
	Manager string
}

// Resources are the Objects that a context gives access to: one for each Go type. Add fills it before its first use;
// then it is safe for concurrent use. Its zero value is empty.
type Resources struct {
	byType map[any]any // an Objects[T] at goType[T]{}
}

// goType is the key of a Go type.
type goType[T any] struct{}

// Add adds the objects of the kind whose Go type is T. It fails if there are objects of that type already: Of could not
// tell which of the two kinds is meant.
func Add[T any](to *Resources, objects Objects[T]) error {
	if _, taken := to.byType[goType[T]{}]; taken {
		var none T
		return fmt.Errorf("two kinds have the Go type %T", none)
	}
	if to.byType == nil {
		to.byType = map[any]any{}
	}
	to.byType[goType[T]{}] = objects
	return nil
}

type resourcesKey struct{}

// With returns a context that gives access to resources, and to no others.
func With(ctx context.Context, resources *Resources) context.Context {
	return context.WithValue(ctx, resourcesKey{}, resources)
}

// WithObjects returns a context that gives access to the objects of one kind, beside those of ctx: tests of an author's
// logic put a fake there.
func WithObjects[T any](ctx context.Context, objects Objects[T]) context.Context {
	all := new(Resources)
	if outer, ok := ctx.Value(resourcesKey{}).(*Resources); ok {
		all.byType = maps.Clone(outer.byType)
	}
	delete(all.byType, goType[T]{})
	_ = Add(all, objects) // the type is free now
	return With(ctx, all)
}

// Of returns the objects whose Go type is T: a pointer to the kind's hub, which is the type of the kind's methods. It
// fails where the server doesn't serve the kind, and outside of requests.
func Of[T any](ctx context.Context) (Objects[T], error) {
	if resources, ok := ctx.Value(resourcesKey{}).(*Resources); ok {
		if objects, ok := resources.byType[goType[T]{}]; ok {
			return objects.(Objects[T]), nil
		}
	}
	var none T
	return nil, fmt.Errorf("no kind whose Go type is %T is served here", none)
}

type dryRunKey struct{}

// DryRun returns a context in which writes are not stored. The context of a dry-run request is such a context.
func DryRun(ctx context.Context) context.Context { return context.WithValue(ctx, dryRunKey{}, true) }

// IsDryRun reports whether writes in a context are not stored.
func IsDryRun(ctx context.Context) bool { return ctx.Value(dryRunKey{}) != nil }
