package cel

import (
	"sync"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/interpreter"
)

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

// program makes an expression executable, with a bound on the cost of one evaluation.
func program(env *celgo.Env, ast *celgo.Ast, costs *costs) (celgo.Program, error) {
	return env.Program(ast,
		celgo.EvalOptions(celgo.OptOptimize, celgo.OptTrackCost),
		celgo.CostTrackerOptions(interpreter.PresenceTestHasCost(false)),
		celgo.CostTracking(costs),
		celgo.CostLimit(CallLimit),
		celgo.InterruptCheckFrequency(checkEvery),
		constantPatterns(),
	)
}
