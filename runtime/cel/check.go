package cel

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Fault is a fault of a rule of a schema.
type Fault struct {
	// Schema has the rule, at Index. For a fault InAll the rule is the most expensive one.
	Schema *Schema
	Index  int
	Part   Part
	// Message describes the fault; Issues has the places in the expression, if it doesn't compile.
	Message string
	Issues  []Issue
	// Path leads to the value: Widget.spec.items[*].name
	Path string
	// Advice says that the rule works, but probably not as its author means it.
	Advice bool
	// Dearest are the expressions that cost most, of a fault InAll.
	Dearest []RulePart
	// Follows says that another fault is the reason for this one.
	Follows bool
}

// RulePart is an expression of a rule of a schema.
type RulePart struct {
	Schema *Schema
	Index  int
	Part   Part
	cost   uint64
}

// Check compiles the rules of a schema and returns their faults: those for which kube-apiserver rejects a custom
// resource definition. Path is the path of the value in messages; resource is true for the root of an object.
func Check(s *Schema, path string, resource bool) []Fault {
	one, budget := uint64(1), budget{}
	c := compiler{budget: &budget}
	c.node(location{schema: s, path: path, resource: resource, times: &one})
	if budget.total > totalEstimateLimit {
		c.add(budget.dearest, budget.index, Fault{Part: InAll, Dearest: budget.most, Follows: budget.exceeded,
			Message: exceeded("the estimated cost of all rules", budget.total, totalEstimateLimit)})
	}
	return c.faults
}

// budget adds up the estimated costs of rules.
type budget struct {
	total    uint64
	exceeded bool // a rule exceeds its own limit
	// The rule at index of the location dearest has the highest cost.
	dearest location
	index   int
	cost    uint64
	// most are the expressions with the highest costs, dearest first.
	most []RulePart
}

// maxDearest bounds how many expressions a fault InAll names. kube-apiserver names as many.
const maxDearest = 4

// check adds the faults of a rule beside those of its compilation.
func (b *budget) check(c *compiler, l location, i int, rule compiled) {
	if rule.program == nil {
		return
	}
	b.spend(c, l, i, rule)
	if missing := rule.probe(l.schema, l.resource); missing != "" {
		c.add(l, i, Fault{Part: InRule, Advice: true,
			Message: fmt.Sprintf("fails where %s is not there, and so refuses the object: ask with has() first, "+
				"make it required, or give it a default", missing)})
	}
	switch {
	case rule.transition && l.uncorrelated != "":
		c.add(l, i, Fault{Part: InRule, Message: fmt.Sprintf("oldSelf cannot be used on the uncorrelatable portion of "+
			"the schema within %s: make it a list of type map, or put the rule there", l.uncorrelated)})
	case !rule.transition && rule.OptionalOldSelf:
		c.add(l, i, Fault{Part: InOptionalOldSelf, Message: "may not be set if oldSelf is not used in rule"})
	}
}

// spend compares a rule's cost, for all its evaluations in one object, with the limits.
func (b *budget) spend(c *compiler, l location, i int, rule compiled) {
	count := uint64(requestLimit / (l.declaration.least + 1)) // so many values fit into an object
	if l.times != nil {
		count = *l.times
	}
	cost := multiply(rule.cost, count)
	if cost > ruleEstimateLimit {
		c.add(l, i, Fault{Part: InRule, Message: exceeded("estimated rule cost", cost, ruleEstimateLimit)})
	}
	if rule.messageCost > ruleEstimateLimit {
		c.add(l, i, Fault{Part: InMessageExpression,
			Message: exceeded("estimated messageExpression cost", rule.messageCost, ruleEstimateLimit)})
	}
	highest := max(cost, rule.messageCost)
	b.exceeded = b.exceeded || highest > ruleEstimateLimit
	if highest >= b.cost {
		b.dearest, b.index, b.cost = l, i, highest
	}
	b.add(RulePart{Schema: l.schema, Index: i, Part: InRule, cost: cost})
	if rule.message != nil {
		b.add(RulePart{Schema: l.schema, Index: i, Part: InMessageExpression, cost: rule.messageCost})
	}
}

// add adds the cost of an expression. As in kube-apiserver, one is named from a hundredth of the limit.
func (b *budget) add(e RulePart) {
	if b.total += e.cost; b.total < e.cost {
		b.total = math.MaxUint64
	}
	if e.cost < totalEstimateLimit/100 {
		return
	}
	b.most = append(b.most, e)
	slices.SortStableFunc(b.most, func(a, b RulePart) int { return cmp.Compare(b.cost, a.cost) })
	b.most = b.most[:min(len(b.most), maxDearest)]
}

// times returns a bound of the number of elements in a number of lists of a bounded size.
func times(lists *uint64, most *int64) *uint64 {
	if lists == nil || most == nil {
		return nil
	}
	n := multiply(*lists, uint64(max(0, *most)))
	return &n
}

func multiply(a, b uint64) uint64 {
	if a != 0 && b > math.MaxUint64/a {
		return math.MaxUint64
	}
	return a * b
}

// exceeded says by which factor a limit is exceeded. Where the limit is far exceeded it omits the factor.
func exceeded(what string, cost, limit uint64) string {
	factor := float64(cost) / float64(limit)
	text := fmt.Sprintf("%.1fx", factor)
	switch {
	case factor > 100:
		text = "more than 100x"
	case factor < 1.5:
		text = fmt.Sprintf("%fx", factor)
	}
	return fmt.Sprintf("%s exceeds budget by factor of %s (try simplifying the rule, or adding maxItems, "+
		"maxProperties, and maxLength where arrays, maps, and strings are declared)", what, text)
}
