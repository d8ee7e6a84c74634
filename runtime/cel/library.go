package cel

import (
	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// declarations are the functions of a library, by name.
type declarations map[string][]celgo.FunctionOpt

// options declares the functions.
func (d declarations) options(more ...celgo.EnvOption) []celgo.EnvOption {
	for name, overloads := range d {
		more = append(more, celgo.Function(name, overloads...))
	}
	return more
}

// plain is a library that changes nothing about programs.
type plain struct{}

// ProgramOptions returns none.
func (plain) ProgramOptions() []celgo.ProgramOption { return nil }

// global and member declare one overload of a function, called f(a, b) or a.f(b).
func global(id string, args []*celgo.Type, result *celgo.Type, f celgo.OverloadOpt) celgo.FunctionOpt {
	return celgo.Overload(id, args, result, f)
}

func member(id string, args []*celgo.Type, result *celgo.Type, f celgo.OverloadOpt) celgo.FunctionOpt {
	return celgo.MemberOverload(id, args, result, f)
}

// on binds a function with one argument, which it converts from a CEL value to a Go value.
func on[A any](f func(A) ref.Val) celgo.OverloadOpt {
	return celgo.UnaryBinding(func(arg ref.Val) ref.Val {
		a, ok := arg.Value().(A)
		if !ok {
			return types.MaybeNoSuchOverloadErr(arg)
		}
		return f(a)
	})
}

// onBoth binds a function with two such arguments.
func onBoth[A, B any](f func(A, B) ref.Val) celgo.OverloadOpt {
	return celgo.BinaryBinding(func(first, second ref.Val) ref.Val {
		a, ok := first.Value().(A)
		if !ok {
			return types.MaybeNoSuchOverloadErr(first)
		}
		b, ok := second.Value().(B)
		if !ok {
			return types.MaybeNoSuchOverloadErr(second)
		}
		return f(a, b)
	})
}

// signature is a list of types.
func signature(args ...*celgo.Type) []*celgo.Type { return args }
