package resolve

import (
	"go/types"

	"apigen.dev/generator/model"
)

// The user can't add methods to kinds of another module. In their place the user writes functions in the package that
// serves the kinds, named after both, which take the object behind the context: Log_Pod(ctx, pod, options).

// functionName returns the function that stands for a method of a kind.
func functionName(t *model.Type, method string) string { return method + "_" + t.Name }

// subresourceFunction returns the function that stands for the method of a subresource, nil where there is none.
func subresourceFunction(t *model.Type, subresource string) *model.Func {
	if t.Package.ServedBy == nil {
		return nil
	}
	return t.Package.ServedBy.Func(functionName(t, camel(subresource)))
}

// subresourceMethod returns the function, or the method of the type, that a subresource would call; nil where there is
// none.
func subresourceMethod(t *model.Type, subresource string) *model.Func {
	if f := subresourceFunction(t, subresource); f != nil {
		return f
	}
	return t.Methods[camel(subresource)]
}

// described names the method or function of a subresource.
func described(hub *model.Type, s *model.Subresource) string {
	if s.Function {
		return "function " + s.Method.Name
	}
	return "method " + s.Method.Name + " of " + hub.Name
}

// subresourceTypes reads what the functions of a kind's subresources take and answer: of these the fields matter.
func (b *typeBuilder) subresourceTypes(home *model.Package, t *model.Type) {
	s := b.u.Root(home.Path)
	if s == nil || s.Types == nil || t.Kind == nil {
		return
	}
	for _, m := range t.Kind.Subresources {
		if f, ok := s.Types.Scope().Lookup(functionName(t, camel(m.Name))).(*types.Func); ok {
			b.payloadTypes(f)
		}
	}
}

// payloadKinds adds the types that the methods and functions of a kind's subresources take or answer.
func payloadKinds(t *model.Type, taken map[*model.Type]bool) {
	if t.Kind == nil {
		return
	}
	for _, m := range t.Kind.Subresources {
		for x := range pointedTo(subresourceMethod(t, m.Name)) {
			taken[x] = true
		}
	}
}
