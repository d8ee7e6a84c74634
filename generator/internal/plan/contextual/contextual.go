// Package contextual recognizes methods of kinds that take a context, in the shapes that Knative's types have:
// SetDefaults, Validate, and ConvertTo and ConvertFrom between versions. It goes by signatures, not by whose they are.
// It knows the model.
package contextual

import (
	"slices"

	"apigen.dev/generator/internal/model"
)

// The signatures, as a user writes them behind the receiver.
const (
	SetDefaultsSignature = "SetDefaults(ctx context.Context)"
	ConvertSignature     = "(ctx context.Context, version Convertible) error"
)

// Defaulter returns the method that sets the defaults of a kind; nil if it has none:
//
//	func (in *X) SetDefaults(ctx context.Context)
func Defaulter(t *model.Type) *model.Func {
	m, _ := t.Method("SetDefaults")
	if m == nil || t.Kind == nil || m.Variadic || len(m.Params) != 1 || !isContext(m.Params[0]) || len(m.Results) != 0 {
		return nil
	}
	return m
}

// Converts reports whether a type has a method, ConvertTo or ConvertFrom, that converts between it and the other type:
//
//	func (in *X) ConvertTo(ctx context.Context, version Convertible) error
//
// Convertible is an interface, whose methods the other type has.
func Converts(t, other *model.Type, method string) bool {
	m := t.Methods[method]
	if m == nil || m.Variadic || len(m.Params) != 2 || !isContext(m.Params[0]) || len(m.Results) != 1 ||
		!model.IsError(m.Results[0]) {
		return false
	}
	version := m.Params[1]
	return version.Form == model.Interface && !slices.ContainsFunc(version.InterfaceMethods, func(name string) bool {
		return other.Methods[name] == nil
	})
}

// Errors is the type that a Validate method answers with, and the parts that it has of Knative's FieldError.
type Errors struct {
	Type *model.Type
	// Wrapped: a method WrappedErrors returns the errors one by one, as pointers to the same type.
	Wrapped bool
	// Described: there are Message and Paths. Details and Leveled: there are fields Details and Level, which is zero
	// for errors.
	Described, Details, Leveled bool
	// Create and Update are functions of the type's package by which a method's context says which write the method is
	// called for; both are nil if the package lacks one of them.
	Create, Update *model.Func
}

// Validator returns the type of the errors that a method answers with; nil if it has another shape:
//
//	func (in *X) Validate(ctx context.Context) *Errors
//
// Errors is a struct; a pointer to it is an error.
func Validator(m *model.Func) *Errors {
	if m == nil || m.Variadic || len(m.Params) != 1 || !isContext(m.Params[0]) || len(m.Results) != 1 {
		return nil
	}
	p := m.Results[0]
	if p.Form != model.Pointer || p.Package != nil || p.Elem.Package == nil || p.Elem.Form != model.Struct {
		return nil
	}
	t := p.Elem
	if !returns(t.Methods["Error"], isText) {
		return nil
	}
	create, update := t.Package.Func("WithinCreate"), t.Package.Func("WithinUpdate")
	if !tellsContext(create, 1) || !tellsContext(update, 2) {
		create, update = nil, nil
	}
	return &Errors{
		Type: t, Create: create, Update: update,
		Wrapped: returns(t.Methods["WrappedErrors"], func(r *model.Type) bool {
			return isSlice(r) && r.Elem.Form == model.Pointer && r.Elem.Elem == t
		}),
		Described: has(t, "Message", isText) &&
			has(t, "Paths", func(f *model.Type) bool { return isSlice(f) && isText(f.Elem) }),
		Details: has(t, "Details", isText),
		Leveled: has(t, "Level", func(f *model.Type) bool { return f.Form == model.Basic && f.BasicName() == "int" }),
	}
}

// tellsContext reports whether a function returns a context that knows more than the one that it takes:
//
//	func WithinCreate(ctx context.Context) context.Context
//	func WithinUpdate(ctx context.Context, old any) context.Context
func tellsContext(f *model.Func, params int) bool {
	if f == nil || f.Variadic || len(f.Params) != params || len(f.Results) != 1 || !isContext(f.Results[0]) {
		return false
	}
	last := f.Params[params-1]
	return isContext(f.Params[0]) &&
		(params == 1 || last.Form == model.Interface && len(last.InterfaceMethods) == 0)
}

func returns(m *model.Func, is func(*model.Type) bool) bool {
	return m != nil && len(m.Params) == 0 && len(m.Results) == 1 && is(m.Results[0])
}

func has(t *model.Type, field string, is func(*model.Type) bool) bool {
	f := model.FieldNamed(t, field)
	return f != nil && f.Exported && is(f.Type)
}

func isContext(t *model.Type) bool { return model.IsNamed(t, "context", "Context") }

func isText(t *model.Type) bool {
	return t.Form == model.Basic && t.Package == nil && t.BasicName() == "string"
}

func isSlice(t *model.Type) bool { return t.Form == model.Slice && t.Package == nil }
