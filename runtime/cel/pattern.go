package cel

import (
	"regexp"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

func patternFunctions() functions {
	find, all := celgo.FunctionBinding(searched(find)), celgo.FunctionBinding(searched(findAll))
	str, strs := celgo.StringType, celgo.ListType(celgo.StringType)
	return functions{
		"find": {celgo.MemberOverload("string_find_string", []*celgo.Type{str, str}, str, find)},
		"findAll": {
			celgo.MemberOverload("string_find_all_string", []*celgo.Type{str, str}, strs, all),
			celgo.MemberOverload("string_find_all_string_int", []*celgo.Type{str, str, celgo.IntType}, strs, all),
		},
	}
}

func constantPatterns() celgo.ProgramOption {
	return celgo.OptimizeRegex(once("find", find), once("findAll", findAll))
}

// search searches the first argument for an expression. A third argument bounds the number of matches.
type search func(re *regexp.Regexp, args []ref.Val) ref.Val

func find(re *regexp.Regexp, args []ref.Val) ref.Val {
	in, ok := args[0].Value().(string)
	if !ok {
		return types.MaybeNoSuchOverloadErr(args[0])
	}
	return types.String(re.FindString(in))
}

func findAll(re *regexp.Regexp, args []ref.Val) ref.Val {
	in, ok := args[0].Value().(string)
	if !ok {
		return types.MaybeNoSuchOverloadErr(args[0])
	}
	most := int64(-1)
	if len(args) == 3 {
		if most, ok = args[2].Value().(int64); !ok {
			return types.MaybeNoSuchOverloadErr(args[2])
		}
	}
	return types.NewStringList(types.DefaultTypeAdapter, re.FindAllString(in, int(most)))
}

// searched compiles the expression in the second argument with every call.
func searched(f search) func(args ...ref.Val) ref.Val {
	return func(args ...ref.Val) ref.Val {
		pattern, ok := args[1].Value().(string)
		if !ok {
			return types.MaybeNoSuchOverloadErr(args[1])
		}
		re, err := regexp.Compile(pattern)
		if err != nil {
			return types.NewErr("Illegal regex: %v", err)
		}
		return f(re, args)
	}
}

// once compiles the expression with the program.
func once(function string, f search) *interpreter.RegexOptimization {
	return &interpreter.RegexOptimization{Function: function, RegexIndex: 1,
		Factory: func(call interpreter.InterpretableCall, pattern string) (interpreter.InterpretableCall, error) {
			re, err := regexp.Compile(pattern)
			if err != nil {
				return nil, err
			}
			bound := func(args ...ref.Val) ref.Val { return f(re, args) }
			return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(), bound), nil
		}}
}
