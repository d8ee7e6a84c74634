package snippets

import (
	"context"
	"fmt"
	"slices"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/builtin"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	core "k8s.io/api/core/v1"
)

// Admitting runs a server with two plug-ins of its author.
func Admitting(groups []registry.Group) {
	server.Main(server.Program{
		Name:      "shop",
		Groups:    groups,
		Features:  builtin.Standalone(),
		Admission: []admission.Plugin{owners(), freeze()},
	})
}

// owners notes on each new config map who made it, and holds the number of them in a namespace.
func owners() admission.Plugin {
	return admission.For(admission.Typed[*core.ConfigMap]{
		Name:       "Owners",
		Operations: []admission.Operation{admission.Create},
		Admit: func(_ context.Context, a *admission.Attributes, obj, _ *core.ConfigMap) error {
			if obj.Annotations == nil {
				obj.Annotations = map[string]string{}
			}
			obj.Annotations["example.com/owner"] = a.User.Name
			return nil
		},
		Validate: func(ctx context.Context, a *admission.Attributes, _, _ *core.ConfigMap) error {
			maps, err := reach.Of[*core.ConfigMap](ctx)
			if err != nil {
				return err
			}
			all, err := maps.List(ctx, a.Namespace, nil)
			if err == nil && len(all) >= 100 {
				err = fmt.Errorf("the namespace has %d config maps already", len(all))
			}
			return err
		},
	})
}

// freeze refuses all writes of users outside of a group.
func freeze() admission.Plugin {
	return admission.Plugin{
		Name: "Freeze",
		Off:  true, // --enable-admission-plugins=Freeze turns it on
		Validate: func(_ context.Context, a *admission.Attributes) error {
			a.Warn("the server is frozen: nothing but maintenance")
			if a.User == nil || !slices.Contains(a.User.Groups, "maintenance") {
				return fmt.Errorf("the server is frozen")
			}
			return nil
		},
	}
}
