package admission

import (
	"context"
	"slices"

	"apigen.dev/runtime/api"
)

// Typed is a plug-in for the kind whose hub type is T, a pointer. Its functions may be nil.
type Typed[T api.Object] struct {
	Name string
	// Off is as in Plugin.
	Off bool
	// Operations are those that the plug-in looks at; nil are Create and Update.
	Operations []Operation
	// Subresources are those that the plug-in looks at, "" for the object itself; nil is the object itself.
	Subresources []string
	// Admit may change obj, or refuse the write. Validate may refuse it. obj is nil for a deletion, old for a creation.
	Admit, Validate func(ctx context.Context, a *Attributes, obj, old T) error
}

// For returns the plug-in.
func For[T api.Object](t Typed[T]) Plugin {
	p := Plugin{Name: t.Name, Off: t.Off, Handles: t.handles}
	if t.Admit != nil {
		p.Admit = t.call(func(ctx context.Context, a *Attributes, obj, old T) error {
			err := t.Admit(ctx, a, obj, old)
			if a.Object != nil {
				a.Object.Changed()
			}
			return err
		})
	}
	if t.Validate != nil {
		p.Validate = t.call(t.Validate)
	}
	return p
}

func (t *Typed[T]) handles(a *Attributes) bool {
	operation := a.Operation == Create || a.Operation == Update
	if t.Operations != nil {
		operation = slices.Contains(t.Operations, a.Operation)
	}
	if t.Subresources == nil {
		return operation && a.Subresource == ""
	}
	return operation && slices.Contains(t.Subresources, a.Subresource)
}

// call calls do with the values of the objects, unless they have another type.
func (t *Typed[T]) call(
	do func(ctx context.Context, a *Attributes, obj, old T) error,
) func(context.Context, *Attributes) error {
	return func(ctx context.Context, a *Attributes) error {
		obj, isObject := valueOf[T](a.Object)
		old, isOld := valueOf[T](a.Old)
		if !isObject || !isOld {
			return nil
		}
		return do(ctx, a, obj, old)
	}
}

// valueOf returns the value of an object that is absent or has the type T, and false for another one.
func valueOf[T api.Object](o Object) (value T, ok bool) {
	if o == nil {
		return value, true
	}
	value, ok = o.Value().(T)
	return value, ok
}
