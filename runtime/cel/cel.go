// Package cel is the Common Expression Language as Kubernetes has it in x-kubernetes-validations: the environment with
// Kubernetes' functions, the types that a schema gives to self, the limits of cost, and the validation of objects
// against the rules of a kind, with the messages, paths and ratcheting of a custom resource.
//
// A Schema is data. The generator makes it from Go types and markers, checks its rules with Check, and prints it into
// the wiring. There New compiles it once, and Validate runs it on every write. So the package is the one leaf that both
// halves import, and it imports nothing of ours. A server whose kinds have no rules doesn't link it.
package cel

// Limits of cost, in CEL's units, and of size. They are part of the API: every server accepts the same rules.
const (
	// callLimit bounds the cost of one evaluation of one expression, about a tenth of a second.
	callLimit = 1_000_000
	// objectLimit bounds the cost of all rules of one write, about a second.
	objectLimit = 10_000_000
	// ruleEstimateLimit bounds the estimated worst cost of one rule, in all places of an object together.
	ruleEstimateLimit = 10_000_000
	// totalEstimateLimit bounds the estimated worst cost of all rules of a kind.
	totalEstimateLimit = 100_000_000

	// checkEvery is the number of iterations of a loop between two checks of the context.
	checkEvery = 100
	// requestLimit bounds the size of an object in estimates.
	requestLimit = 3 << 20
	// messageLimit bounds the length of a computed message.
	messageLimit = 5 << 10
)

// self and oldSelf are the variables of an expression.
const (
	self    = "self"
	oldSelf = "oldSelf"
)
