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
	ctx := reach.WithObjects(t.Context(), letters{})
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

// numbers and others are Objects of a second type, and other ones of the first.
type (
	numbers struct{ reach.Objects[*int] }
	others  struct{ reach.Objects[*string] }
)

// TestAdd: a table has one Objects of a Go type, and a context in a context replaces its own type alone.
func TestAdd(t *testing.T) {
	resources := new(reach.Resources)
	if err := errors.Join(reach.Add(resources, letters{}), reach.Add(resources, numbers{})); err != nil {
		t.Fatal(err)
	}
	if err := reach.Add(resources, others{}); err == nil || !strings.Contains(err.Error(), "*string") {
		t.Errorf("two kinds of one type: %v", err)
	}
	outer := reach.With(t.Context(), resources)
	for _, c := range []struct {
		ctx  context.Context
		want reach.Objects[*string]
	}{{outer, letters{}}, {reach.WithObjects(outer, others{}), others{}}, {outer, letters{}}} {
		if objects, err := reach.Of[*string](c.ctx); err != nil || objects != c.want {
			t.Errorf("%#v, %v; want %#v", objects, err, c.want)
		}
		if objects, err := reach.Of[*int](c.ctx); err != nil || objects != (numbers{}) {
			t.Errorf("%#v, %v", objects, err)
		}
	}
}

func TestDryRun(t *testing.T) {
	if reach.IsDryRun(t.Context()) || !reach.IsDryRun(reach.DryRun(t.Context())) {
		t.Error("a dry run isn't what it says")
	}
}
