package policy

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/internal/access/match"
	celpolicy "apigen.dev/runtime/internal/access/policy"
	"apigen.dev/runtime/reach"
	registration "k8s.io/api/admissionregistration/v1"
)

// set are the policies that have bindings, those of files first, in the order of their names. It is immutable.
type set struct {
	policies []*bound
	index    *match.Index
}

// bound is a policy with its bindings, in the order of their names.
type bound struct {
	*policy
	bindings []*binding
}

// policy is what both kinds of policies have. It is immutable.
type policy struct {
	name string
	// static reports whether the policy is from a file.
	static      bool
	paramKind   *registration.ParamKind
	ignore      bool
	constraints *constraints
	// programs compiles the expressions at the first write that they concern, which takes milliseconds.
	programs func() (*programs, error)
}

// programs are the compiled expressions of a policy.
type programs struct {
	compiler   *celpolicy.Compiler
	conditions *match.Conditions
	// validations and annotations are those of a validating policy, mutations those of a mutating one.
	validations []validation
	annotations []annotation
	mutations   []mutation
	reinvoked   bool
}

func newPolicy(
	name string, failure *registration.FailurePolicyType, kind *registration.ParamKind,
	constraints *registration.MatchResources, compile func(p *policy) (*programs, error),
) *policy {
	p := &policy{
		name: name, paramKind: kind, ignore: failure != nil && *failure == registration.Ignore,
		constraints: newConstraints(constraints),
	}
	p.programs = sync.OnceValues(func() (*programs, error) { return compile(p) })
	return p
}

// newPrograms returns programs whose variables and conditions are compiled.
func (p *policy) newPrograms(
	mutation bool, variables []registration.Variable, conditions []registration.MatchCondition,
) (*programs, error) {
	compiler, err := celpolicy.NewCompiler(celpolicy.Declared{
		Params: p.paramKind != nil, Authorizer: true, Variables: len(variables) > 0,
		Mutation: mutation,
	})
	if err != nil {
		return nil, err
	}
	for _, v := range variables {
		compiler.Variable(v.Name, v.Expression)
	}
	c := &programs{compiler: compiler}
	if len(conditions) > 0 {
		c.conditions = match.NewConditions(compiler, conditions, p.ignore)
	}
	return c, nil
}

// binding is a binding of a policy. It is immutable.
type binding struct {
	name        string
	params      *registration.ParamRef
	constraints *constraints
	actions     []registration.ValidationAction
}

func newBinding(
	name string, params *registration.ParamRef, constraints *registration.MatchResources,
	actions []registration.ValidationAction,
) *binding {
	return &binding{name: name, params: params, constraints: newConstraints(constraints), actions: actions}
}

// known are the policies and bindings of a source, of which it publishes sets.
type known[P, B interface{ GetName() string }] struct {
	source  *source[P, B]
	changed func()

	mu                         sync.Mutex
	policies                   map[string]*policy
	bindings                   map[string]B
	hasPolicies, knowsBindings bool
	// static are the policies of files.
	static []*bound
}

// takeFiles replaces the policies of files.
func (k *known[P, B]) takeFiles(static []*bound) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.static = static
	k.publish()
}

// takeNothing records that the server serves no policies.
func (k *known[P, B]) takeNothing() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.hasPolicies, k.knowsBindings = true, true
	k.publish()
}

func (k *known[P, B]) takePolicies(changes reach.Changes[P]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if changes.Reset {
		clear(k.policies)
	}
	for _, p := range changes.Put {
		k.policies[p.GetName()] = k.source.compile(p)
	}
	for _, p := range changes.Deleted {
		delete(k.policies, p.GetName())
	}
	k.hasPolicies = true
	k.publish()
}

func (k *known[P, B]) takeBindings(changes reach.Changes[B]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if changes.Reset {
		clear(k.bindings)
	}
	for _, b := range changes.Put {
		k.bindings[b.GetName()] = b
	}
	for _, b := range changes.Deleted {
		delete(k.bindings, b.GetName())
	}
	k.knowsBindings = true
	k.publish()
}

func (k *known[P, B]) publish() {
	if !k.hasPolicies || !k.knowsBindings {
		return
	}
	bindings := map[string][]*binding{}
	for _, name := range slices.Sorted(maps.Keys(k.bindings)) {
		policy, b := k.source.bind(k.bindings[name])
		bindings[policy] = append(bindings[policy], b)
	}
	next := &set{policies: slices.Clone(k.static)}
	for _, p := range slices.SortedFunc(maps.Values(k.policies), func(a, b *policy) int {
		return strings.Compare(a.name, b.name)
	}) {
		if of := bindings[p.name]; len(of) > 0 {
			next.policies = append(next.policies, &bound{p, of})
		}
	}
	rules := make([]*match.Rules, len(next.policies))
	for i, p := range next.policies {
		rules[i] = p.constraints.rules
	}
	next.index = match.NewIndex(rules)
	k.source.publish(next, k.changed)
}

// concerned returns the policies whose rules may match a write. Policies themselves concern only those of files: one
// that refuses them could not be mended.
func (s *set) concerned(a *admission.Attributes) iter.Seq[*bound] {
	return func(yield func(*bound) bool) {
		isPolicy := match.IsPolicy(a)
		for _, i := range s.index.Candidates(a) {
			if p := s.policies[i]; (p.static || !isPolicy) && !yield(p) {
				return
			}
		}
	}
}
