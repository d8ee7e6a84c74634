package cel

import (
	"sync"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/interpreter"
)

// base is the environment of all expressions, without variables: what Kubernetes 1.36 and 1.37 let new custom resources
// use. Functions for authorization need a request and mean nothing to a rule; what came with 1.37 alone (includes) is not
// yet taken by its own servers, which first have to be able to go back.
var base = sync.OnceValues(func() (*celgo.Env, error) {
	return celgo.NewEnv(
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
		celgo.Lib(urls{}), celgo.Lib(patterns{}), celgo.Lib(lists{}), celgo.Lib(quantities{}),
		celgo.Lib(addresses{}), celgo.Lib(networks{}), celgo.Lib(formats{}), celgo.Lib(semvers{}),
		celgo.CostEstimatorOptions(checker.PresenceTestHasCost(false)),
	)
})

// program makes an expression executable, with a bound on what one evaluation may cost.
func program(env *celgo.Env, ast *celgo.Ast, costs *costs) (celgo.Program, error) {
	return env.Program(ast,
		celgo.EvalOptions(celgo.OptOptimize, celgo.OptTrackCost),
		celgo.CostTrackerOptions(interpreter.PresenceTestHasCost(false)),
		celgo.CostTracking(costs),
		celgo.CostLimit(CallLimit),
		celgo.InterruptCheckFrequency(checkEvery),
	)
}
