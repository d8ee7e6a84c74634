// Package reach leads from logic that is written for one kind, a subresource, a hook or a provider, to the objects of others
// that the same server serves: whoever is called with a request's context asks that.
//
//	budgets, err := reach.Of[*policyv1.PodDisruptionBudget](ctx)
//
// It imports nothing else of the runtime, so that packages of API types that use it stay light.
package reach

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Objects are those of one kind. What is written passes all that a client's write of the kind passes, rules and hooks; but who
// may do it was asked of the request under way alone. Errors are API statuses. It is safe for concurrent use; objects that
// it returns are the caller's.
//
// Namespace is "" for cluster-scoped kinds, and for lists across all namespaces.
type Objects[T any] interface {
	// Get reads one object as it is now; an apierrors.NewNotFound where there is none.
	Get(ctx context.Context, namespace, name string) (T, error)
	// List reads the objects whose labels a selector takes, as they are now; nil takes all.
	List(ctx context.Context, namespace string, selector labels.Selector) ([]T, error)
	// Create creates obj, in its namespace, and returns it as it is then.
	Create(ctx context.Context, obj T, how Write) (T, error)
	// Update lets change edit an object as it is now, and once more where somebody was faster, and returns it as it is then.
	// An error of change ends it, and is returned as it is.
	Update(ctx context.Context, namespace, name string, how Write, change func(obj T) error) (T, error)
	// Delete deletes an object, or marks it where it must wait.
	Delete(ctx context.Context, namespace, name string, options metav1.DeleteOptions) error
}

// Write says how something is written.
type Write struct {
	// Subresource is the part that is written, "status" say; "" is all but the parts.
	Subresource string
	// Manager will own the fields that the write sets.
	Manager string
}

type resourcesKey struct{}

// With returns a context from which resources are reached, each an Objects of its kind's Go type.
func With(ctx context.Context, resources []any) context.Context {
	return context.WithValue(ctx, resourcesKey{}, resources)
}

// Of are the objects whose Go type is T: a pointer to the hub of the kind's versions, the type that its methods have. It fails
// where the server doesn't serve the kind, and outside of requests.
func Of[T any](ctx context.Context) (Objects[T], error) {
	resources, _ := ctx.Value(resourcesKey{}).([]any)
	for _, r := range resources {
		if objects, ok := r.(Objects[T]); ok {
			return objects, nil
		}
	}
	var none T
	return nil, fmt.Errorf("no kind whose Go type is %T is served here", none)
}

type dryRunKey struct{}

// DryRun returns a context in which nothing that is written stays. That of a request which is a dry run is one.
func DryRun(ctx context.Context) context.Context { return context.WithValue(ctx, dryRunKey{}, true) }

// IsDryRun tells whether nothing that is written stays.
func IsDryRun(ctx context.Context) bool { return ctx.Value(dryRunKey{}) != nil }
