package subresource_test

import (
	"context"
	"fmt"

	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/subresource"
)

// Clients POST a widget to .../widgets/NAME/paint, and the server stores what the action makes of the object.
func ExampleActionOf() {
	d := shop.Definition()
	paint := subresource.ActionOf(subresource.Action[*shop.Widget, *shop.Widget]{
		Name: "paint",
		Body: codec.Kind[*shop.Widget]{Group: d.Group, Kind: "Widget", New: d.New, Versions: d.Versions},
		Do: func(_ context.Context, w, in *shop.Widget) error {
			w.Color = in.Color
			return nil
		},
	})
	fmt.Println(paint.Info(d.Group).Name)
	// Output: paint
}
