package reach_test

import (
	"context"
	"fmt"

	"apigen.dev/runtime/reach"
)

// Budget is a kind that the server serves.
type Budget struct{ Allowed int }

// budgets stands in for the server, which gives its hooks, subresources and providers the Objects of all kinds.
type budgets struct{ reach.Objects[*Budget] }

func (budgets) Get(context.Context, string, string) (*Budget, error) { return &Budget{Allowed: 1}, nil }

// evict is the logic of a subresource, which needs the objects of another kind.
func evict(ctx context.Context, namespace string) error {
	objects, err := reach.Of[*Budget](ctx)
	if err != nil {
		return err
	}
	budget, err := objects.Get(ctx, namespace, "web")
	if err != nil {
		return err
	}
	if budget.Allowed == 1 {
		reach.Warn(ctx, "this is the last eviction that the budget allows")
	}
	fmt.Println("allowed:", budget.Allowed)
	return nil
}

func ExampleOf() {
	ctx := reach.WithObjects(context.Background(), budgets{})
	fmt.Println(evict(ctx, "default"))
	// Output:
	// allowed: 1
	// <nil>
}
