package registry_test

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/memory"
)

// Generated wiring makes a Definition for a kind, with the functions of its author. New erases the Go type, and Open
// binds the resource to a backend.
func ExampleNew() {
	definition := shop.Definition()
	definition.Strategy.ValidateCreate = func(_ context.Context, w *shop.Widget) field.ErrorList {
		if w.Color != "plaid" {
			return nil
		}
		return field.ErrorList{field.Invalid(field.NewPath("spec", "color"), w.Color, "is no single color")}
	}
	ctx := context.Background()
	widgets, err := registry.New(definition).Open(ctx, registry.Config{Backend: memory.New(), Prefix: "/registry"})
	if err != nil {
		panic(err)
	}
	defer widgets.Close()

	for _, color := range []string{"red", "plaid"} {
		body := verb.Body{Version: "v1", Data: fmt.Appendf(nil, `{"apiVersion": "shop.example.com/v1", "kind": "Widget",
			"metadata": {"name": "w", "namespace": "default"}, "spec": {"color": %q}}`, color)}
		_, err := widgets.Create(ctx, "default", body, verb.WriteOptions{Form: verb.Form{Version: "v1"}})
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// Widget.shop.example.com "w" is invalid: spec.color: Invalid value: "plaid": is no single color
}
