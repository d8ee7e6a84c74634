package reach_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"apigen.dev/runtime/reach"
)

// letters are Objects of one type.
type letters struct{ reach.Objects[*string] }

func (letters) Get(context.Context, string, string) (*string, error) {
	return nil, errors.ErrUnsupported
}

func TestOf(t *testing.T) {
	ctx := reach.With(t.Context(), []any{"something else", letters{}})
	objects, err := reach.Of[*string](ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := objects.Get(ctx, "", ""); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	if _, err := reach.Of[*int](ctx); err == nil || !strings.Contains(err.Error(), "*int") {
		t.Errorf("what isn't served: %v", err)
	}
	if _, err := reach.Of[*string](t.Context()); err == nil {
		t.Error("something was reached from nowhere")
	}
}

func TestDryRun(t *testing.T) {
	if reach.IsDryRun(t.Context()) || !reach.IsDryRun(reach.DryRun(t.Context())) {
		t.Error("a dry run isn't what it says")
	}
}
