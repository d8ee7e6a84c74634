package cel

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	celgo "github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Rules are the compiled rules of a kind in one version. They are safe for concurrent use.
type Rules struct {
	kind schema.GroupVersionKind
	root *node
	// fault is the reason why the rules can't run. Check reports it, too.
	fault error
}

// node is a place in a schema that has rules, or has places with rules below it.
type node struct {
	schema *Schema
	// resource says that the place is the root of an object.
	resource bool
	rules    []compiled
	// transitions says that a rule uses oldSelf.
	transitions bool
	names       []string // of properties, sorted
	properties  map[string]*node
	items       *node
	values      *node
}

// New compiles the rules of a schema, which describes the objects of a kind. It takes milliseconds: the wiring calls it
// once, when the first object is written.
func New(kind schema.GroupVersionKind, s *Schema) *Rules {
	c := compiler{}
	r := &Rules{kind: kind, root: c.node(location{schema: s, path: kind.Kind, resource: true})}
	if len(c.faults) > 0 {
		f := c.faults[0]
		r.fault = fmt.Errorf("CEL rule %s: %s: %s", f.rule(), f.Part, f.Message)
	}
	return r
}

// rule returns the expression that has the fault, or the path of a value whose type has the fault.
func (f *Fault) rule() string {
	if f.Index < len(f.Schema.Rules) {
		return f.Schema.Rules[f.Index].Rule
	}
	return f.Path
}

// location is a place in a schema.
type location struct {
	schema *Schema
	// declaration is nil if the declaration above doesn't have the value, or where expressions can't see it. types
	// has the types of the declaration.
	declaration *declaration
	types       *celgo.Env
	// path leads to the value: Widget.spec.items[*].name. It names types that the declaration above doesn't have.
	path string
	// resource says that the place is the root of an object.
	resource bool
	// times bounds the number of such values in an object, by the bounds of the lists and maps around it; nil where one
	// of these has no bound.
	times *uint64
	// uncorrelated is the path of the list or map around the value within which old and new values can't be compared,
	// or empty.
	uncorrelated string
}

// below returns the location of a property or an element. s is its schema, or nil if there is none.
func (l *location) below(s *Schema, d *declaration, step string, times *uint64, correlated bool) location {
	b := location{schema: s, declaration: d, types: l.types, path: l.path + step, times: times,
		uncorrelated: l.uncorrelated, resource: s != nil && s.EmbeddedResource}
	if !correlated {
		b.uncorrelated = cmp.Or(l.uncorrelated, l.path)
	}
	return b
}

// compiler makes nodes, and collects the faults of rules.
type compiler struct {
	faults []Fault
	budget *budget // nil: the rules are not checked beyond their compilation
}

func (c *compiler) add(l location, index int, f Fault) {
	f.Schema, f.Index, f.Path = l.schema, index, l.path
	c.faults = append(c.faults, f)
}

// node compiles the rules of a place and of the places below, or returns nil if there are none.
func (c *compiler) node(l location) *node {
	s := l.schema
	if !s.HasRules() {
		return nil
	}
	if l.declaration == nil {
		var err error
		l.declaration = declare(s, l.path, l.resource)
		if l.types, err = typed(l.declaration); err != nil {
			c.add(l, 0, Fault{Part: InRule, Message: err.Error()})
			return nil
		}
	}
	if l.declaration == nil && c.budget == nil {
		return nil // expressions don't see it
	}
	n := &node{schema: s, resource: l.resource, properties: map[string]*node{}}
	c.rules(n, l)
	d := cmp.Or(l.declaration, &declaration{}) // the places below may still have rules
	granular := s.MapType == "atomic" || s.MapType == "granular" || s.MapType == ""
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		at := l.below(s.Properties[name], d.fields[escaped(name)], "."+name, l.times, granular)
		if child := c.node(at); child != nil {
			n.names, n.properties[name] = append(n.names, name), child
		}
	}
	n.values = c.node(l.below(s.Values, d.elem, "[*]", times(l.times, s.MaxProperties), true))
	n.items = c.node(l.below(s.Items, d.elem, "[*]", times(l.times, s.MaxItems), s.ListType == "map"))
	return n
}

func (c *compiler) rules(n *node, l location) {
	if len(n.schema.Rules) == 0 {
		return
	}
	if l.declaration == nil {
		c.add(l, 0, Fault{Part: InRule,
			Message: "is for a value that expressions can't see: it has no type in the schema"})
		return
	}
	sc, err := newScope(l.types, l.declaration)
	if err != nil {
		c.add(l, 0, Fault{Part: InRule, Message: err.Error()})
		return
	}
	for i, r := range n.schema.Rules {
		rule, faults := sc.compile(r)
		if c.budget != nil {
			faults = append(static(r, n.schema), faults...)
		}
		for _, f := range faults {
			c.add(l, i, f)
		}
		if c.budget != nil {
			c.budget.check(c, l, i, rule)
		}
		n.rules = append(n.rules, rule)
		n.transitions = n.transitions || rule.transition
	}
}

func escaped(name string) string {
	e, _ := Escape(name)
	return e
}
