// Package cel is the Common Expression Language as Kubernetes speaks it in x-kubernetes-validations: the environment with
// Kubernetes' functions, the types that a schema gives to self, what an expression may cost, and the rules of a kind run
// over its objects with the words, the paths and the leniency of a custom resource's.
//
// A Schema is data. The generator makes one of Go types and markers, lets Check judge its rules, and prints it into the
// wiring, where New compiles it once and Validate runs it on every write. So the package is the one leaf that both halves
// import; it knows nobody of ours. A server whose kinds have no rules doesn't link it.
package cel

// Limits of cost, in the units of CEL, and of size. They are part of the API: a rule that one server takes, all take.
const (
	// CallLimit bounds one evaluation of one expression, about a tenth of a second.
	CallLimit = 1_000_000
	// ObjectLimit bounds all rules of one write, about a second.
	ObjectLimit = 10_000_000
	// RuleEstimateLimit bounds what one rule is estimated to cost at worst, wherever in an object it is run.
	RuleEstimateLimit = 10_000_000
	// TotalEstimateLimit bounds what all rules of a kind are estimated to cost at worst.
	TotalEstimateLimit = 100_000_000

	// checkEvery is how many turns of a loop pass between two looks at the context.
	checkEvery = 100
	// requestLimit is how large an object can be for estimates.
	requestLimit = 3 << 20
	// messageLimit is how long a computed message may be.
	messageLimit = 5 << 10
)

// self and oldSelf are the variables of an expression.
const (
	self    = "self"
	oldSelf = "oldSelf"
)
