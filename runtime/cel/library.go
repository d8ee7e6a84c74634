package cel

import (
	"net/netip"
	"net/url"
	"sync"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/interpreter"
)

// functions are the overloads of functions, by the functions' names.
type functions map[string][]celgo.FunctionOpt

func (f functions) options() []celgo.EnvOption {
	options := make([]celgo.EnvOption, 0, len(f))
	for name, overloads := range f {
		options = append(options, celgo.Function(name, overloads...))
	}
	return options
}

// function is a Go function for expressions, with its types in CEL.
type function struct {
	args   []*celgo.Type
	result *celgo.Type
	call   celgo.OverloadOpt
}

// returns declares the type of a result that is a CEL value.
func (f function) returns(result *celgo.Type) function {
	f.result = result
	return f
}

func global(id string, f function) celgo.FunctionOpt {
	return celgo.Overload(id, f.args, f.result, f.call)
}

func member(id string, f function) celgo.FunctionOpt {
	return celgo.MemberOverload(id, f.args, f.result, f.call)
}

func unary[A, R any](f func(A) R) function {
	return unaryOrError(func(a A) (R, error) { return f(a), nil })
}

func binary[A, B, R any](f func(A, B) R) function {
	return binaryOrError(func(a A, b B) (R, error) { return f(a, b), nil })
}

func unaryOrError[A, R any](f func(A) (R, error)) function {
	call := func(arg ref.Val) ref.Val {
		a, ok := arg.Value().(A)
		if !ok {
			return types.MaybeNoSuchOverloadErr(arg)
		}
		return toValue(f(a))
	}
	return function{[]*celgo.Type{typeOf[A]()}, typeOf[R](), celgo.UnaryBinding(call)}
}

func binaryOrError[A, B, R any](f func(A, B) (R, error)) function {
	call := func(first, second ref.Val) ref.Val {
		a, ok := first.Value().(A)
		if !ok {
			return types.MaybeNoSuchOverloadErr(first)
		}
		b, ok := second.Value().(B)
		if !ok {
			return types.MaybeNoSuchOverloadErr(second)
		}
		return toValue(f(a, b))
	}
	return function{[]*celgo.Type{typeOf[A](), typeOf[B]()}, typeOf[R](), celgo.BinaryBinding(call)}
}

func succeeds[A, R any](f func(A) (R, error)) func(A) bool {
	return func(a A) bool {
		_, err := f(a)
		return err == nil
	}
}

// comparisons returns the functions that compare two values; id is the beginning of the overloads' names.
func comparisons[T any](id string, compare func(a, b T) int) functions {
	return functions{
		"isGreaterThan": {member(id+"_is_greater_than", binary(func(a, b T) bool { return compare(a, b) > 0 }))},
		"isLessThan":    {member(id+"_is_less_than", binary(func(a, b T) bool { return compare(a, b) < 0 }))},
		"compareTo":     {member(id+"_compare_to", binary(compare))},
	}
}

// typeOf returns the CEL type of a Go type, or nil for CEL values of any type.
func typeOf[T any]() *celgo.Type {
	var zero T
	switch any(zero).(type) {
	case string:
		return celgo.StringType
	case bool:
		return celgo.BoolType
	case int, int64, uint64:
		return celgo.IntType
	case float64:
		return celgo.DoubleType
	case []string:
		return celgo.ListType(celgo.StringType)
	case netip.Addr:
		return addressClass.typ
	case netip.Prefix:
		return networkClass.typ
	case quantity:
		return quantityClass.typ
	case semver:
		return semverClass.typ
	case *format:
		return formatClass.typ
	case *url.URL:
		return urlClass.typ
	}
	return nil
}

// toValue converts the result of a Go function to a CEL value.
func toValue(result any, err error) ref.Val {
	if err != nil {
		return types.WrapErr(err)
	}
	switch v := result.(type) {
	case netip.Addr:
		return addressClass.of(v)
	case netip.Prefix:
		return networkClass.of(v)
	case quantity:
		return quantityClass.of(v)
	case semver:
		return semverClass.of(v)
	case *url.URL:
		return urlClass.of(v)
	case uint64:
		return types.Int(v)
	}
	return types.DefaultTypeAdapter.NativeToValue(result)
}

// base is the environment of all expressions, without variables: the functions that Kubernetes 1.36 and 1.37 allow in
// new custom resources. It has no functions for authorization, which need a request, and not the functions that are new
// in 1.37 (includes): a 1.37 server doesn't accept these yet, so that it can be rolled back.
var base = sync.OnceValues(func() (*celgo.Env, error) {
	options := []celgo.EnvOption{
		celgo.HomogeneousAggregateLiterals(),
		celgo.EagerlyValidateDeclarations(true),
		celgo.DefaultUTCTimeZone(true),
		celgo.CrossTypeNumericComparisons(true),
		celgo.OptionalTypes(),
		celgo.ASTValidators(
			celgo.ValidateDurationLiterals(),
			celgo.ValidateTimestampLiterals(),
			celgo.ValidateRegexLiterals(),
			celgo.ValidateHomogeneousAggregateLiterals(),
		),
		ext.Strings(ext.StringsVersion(2)),
		ext.Sets(),
		ext.TwoVarComprehensions(),
		ext.Lists(ext.ListsVersion(3)),
		celgo.Types(addressClass.typ, networkClass.typ),
		celgo.CostEstimatorOptions(checker.PresenceTestHasCost(false)),
	}
	for _, f := range []functions{
		urlFunctions(), patternFunctions(), listFunctions(), formatFunctions(), addressFunctions(), networkFunctions(),
		quantityFunctions(), comparisons("quantity", compareQuantities),
		semverFunctions(), comparisons("semver", semver.compare),
	} {
		options = append(options, f.options()...)
	}
	return celgo.NewEnv(options...)
})

// Base returns the environment of all expressions, without variables, for packages that add variables and functions.
func Base() (*celgo.Env, error) { return base() }

// Costs returns the costs of this package's functions at run time; nil from it is CEL's own.
func Costs() interpreter.ActualCostEstimator { return &costs{} }

// Program makes a checked expression executable, with a bound on the cost of one evaluation.
func Program(env *celgo.Env, ast *celgo.Ast, costs interpreter.ActualCostEstimator) (celgo.Program, error) {
	return program(env, ast, costs)
}

// program makes an expression executable, with a bound on the cost of one evaluation.
func program(env *celgo.Env, ast *celgo.Ast, costs interpreter.ActualCostEstimator) (celgo.Program, error) {
	return env.Program(ast,
		celgo.EvalOptions(celgo.OptOptimize, celgo.OptTrackCost),
		celgo.CostTrackerOptions(interpreter.PresenceTestHasCost(false)),
		celgo.CostTracking(costs),
		celgo.CostLimit(callLimit),
		celgo.InterruptCheckFrequency(checkEvery),
		constantPatterns(),
	)
}
