package cel

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	celgo "github.com/google/cel-go/cel"
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
}

// Check compiles the rules of a schema and returns their faults: those for which kube-apiserver rejects a custom
// resource definition. Path is the path of the value in messages; resource is true for the root of an object.
func Check(s *Schema, path string, resource bool) []Fault {
	d := declare(s, path, resource)
	env, err := typed(d)
	if err != nil {
		return []Fault{{Schema: s, Part: InRule, Message: err.Error(), Path: path}}
	}
	one := uint64(1)
	j := judge{types: env}
	j.value(s, d, place{path: path, resource: resource, times: &one})
	if j.total > TotalEstimateLimit && !j.exceeded { // a rule that exceeds its own limit is reported
		j.add(j.dearest.schema, j.dearest.index, j.dearest.path, Fault{Part: InAll,
			Message: exceeded("the estimated cost of all rules", j.total, TotalEstimateLimit)})
	}
	return j.faults
}

// judge finds the faults of rules, and adds up their estimated costs.
type judge struct {
	types  *celgo.Env
	faults []Fault

	total    uint64
	exceeded bool // a rule exceeds its own limit
	dearest  struct {
		schema *Schema
		index  int
		path   string
		cost   uint64
	}
}

// place is the place of a value in an object.
type place struct {
	path     string
	resource bool
	// times bounds the number of such values in an object, by the bounds of the lists and maps around it; nil where one
	// of these has no bound.
	times *uint64
	// uncorrelated is the path of the list or map around the value within which old and new values can't be compared,
	// or empty.
	uncorrelated string
}

func (j *judge) add(s *Schema, index int, path string, f Fault) {
	f.Schema, f.Index, f.Path = s, index, path
	j.faults = append(j.faults, f)
}

func (j *judge) value(s *Schema, d *declaration, at place) {
	if !s.HasRules() {
		return
	}
	if d == nil {
		outer := j.types
		defer func() { j.types = outer }()
		if d = declare(s, at.path, at.resource); d != nil {
			j.types, _ = typed(d) // the same environment was made before
		}
	}
	j.rules(s, d, at)
	if d == nil {
		d = &declaration{} // the places below may still have rules
	}
	below := func(v *Schema, d *declaration, path string, number *uint64, correlated bool) {
		place := place{path: path, resource: v.EmbeddedResource, times: number, uncorrelated: at.uncorrelated}
		if !correlated {
			place.uncorrelated = cmp.Or(at.uncorrelated, at.path)
		}
		j.value(v, d, place)
	}
	granular := s.MapType == "atomic" || s.MapType == "granular" || s.MapType == ""
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		below(s.Properties[name], d.fields[escaped(name)], at.path+"."+name, at.times, granular)
	}
	if s.Values != nil {
		below(s.Values, d.elem, at.path+"[*]", times(at.times, s.MaxProperties), true)
	}
	if s.Items != nil {
		below(s.Items, d.elem, at.path+"[*]", times(at.times, s.MaxItems), s.ListType == "map")
	}
}

func (j *judge) rules(s *Schema, d *declaration, at place) {
	if len(s.Rules) == 0 {
		return
	}
	if d == nil {
		j.add(s, 0, at.path,
			Fault{Part: InRule, Message: "is for a value that expressions can't see: it has no type in the schema"})
		return
	}
	sc, err := newScope(j.types, d)
	if err != nil {
		j.add(s, 0, at.path, Fault{Part: InRule, Message: err.Error()})
		return
	}
	for i, r := range s.Rules {
		faults := static(r, s)
		c, more := sc.compile(r)
		for _, f := range append(faults, more...) {
			j.add(s, i, at.path, f)
		}
		if c.program == nil {
			continue
		}
		j.cost(s, i, at, c, d)
		if missing := c.probe(s, at.resource); missing != "" {
			j.add(s, i, at.path, Fault{Part: InRule, Advice: true,
				Message: fmt.Sprintf("fails where %s is not there, and so refuses the object: ask with has() first, "+
					"make it required, or give it a default", missing)})
		}
		switch {
		case c.transition && at.uncorrelated != "":
			j.add(s, i, at.path, Fault{Part: InRule, Message: fmt.Sprintf("oldSelf cannot be used on the "+
				"uncorrelatable portion of the schema within %s: make it a list of type map, or put the rule there",
				at.uncorrelated)})
		case !c.transition && r.OptionalOldSelf:
			j.add(s, i, at.path, Fault{Part: InOptionalOldSelf,
				Message: "may not be set if oldSelf is not used in rule"})
		}
	}
}

// cost compares a rule's cost, for all its evaluations in one object, with the limits.
func (j *judge) cost(s *Schema, i int, at place, c compiled, d *declaration) {
	count := uint64(requestLimit / (d.least + 1)) // so many values fit into an object
	if at.times != nil {
		count = *at.times
	}
	cost := multiply(c.cost, count)
	j.exceeded = j.exceeded || max(cost, c.messageCost) > RuleEstimateLimit
	if cost > RuleEstimateLimit {
		j.add(s, i, at.path, Fault{Part: InRule, Message: exceeded("estimated rule cost", cost, RuleEstimateLimit)})
	}
	if c.messageCost > RuleEstimateLimit {
		j.add(s, i, at.path, Fault{Part: InMessageExpression,
			Message: exceeded("estimated messageExpression cost", c.messageCost, RuleEstimateLimit)})
	}
	if dear := max(cost, c.messageCost); dear >= j.dearest.cost {
		j.dearest.schema, j.dearest.index, j.dearest.path, j.dearest.cost = s, i, at.path, dear
	}
	for _, part := range []uint64{cost, c.messageCost} {
		if j.total += part; j.total < part {
			j.total = math.MaxUint64
		}
	}
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
