package admission_test

import (
	"context"
	"errors"
	"fmt"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/internal/shop"
)

// A plug-in of the author's own for one kind. A program names it in Program.Admission.
func ExampleFor() {
	plugin := admission.For(admission.Typed[*shop.Widget]{
		Name: "Palette",
		Admit: func(_ context.Context, _ *admission.Attributes, w, _ *shop.Widget) error {
			if w.Color == "" {
				w.Color = "red"
			}
			return nil
		},
		Validate: func(_ context.Context, a *admission.Attributes, w, old *shop.Widget) error {
			if a.Operation == admission.Update && w.Color != old.Color {
				return errors.New("a widget keeps its color")
			}
			return nil
		},
	})
	fmt.Println(plugin.Name, plugin.Off)
	// Output: Palette false
}
