package cel

import (
	"fmt"
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
	r := &Rules{kind: kind}
	d := declare(s, kind.Kind, true)
	env, err := typed(d)
	if err != nil {
		r.fault = err
		return r
	}
	c := compiler{env: env}
	r.root = c.node(s, d, kind.Kind, true)
	r.fault = c.fault
	return r
}

// compiler makes nodes. It keeps the first fault.
type compiler struct {
	env   *celgo.Env
	fault error
}

// node compiles the rules of a place and of the places below, or returns nil where there are none. Path names types
// whose declaration is not part of the one above.
func (c *compiler) node(s *Schema, d *declaration, path string, resource bool) *node {
	if !s.HasRules() {
		return nil
	}
	if d == nil {
		var err error
		if d = declare(s, path, resource); d == nil {
			return nil // expressions don't see it
		}
		outer := c.env
		defer func() { c.env = outer }()
		if c.env, err = typed(d); err != nil {
			c.fault = err
			return nil
		}
	}
	n := &node{schema: s, resource: resource}
	c.compile(n, s, d)
	for name, p := range s.Properties {
		f := d.fields[escaped(name)]
		if f == nil {
			if _, named := Escape(name); named {
				continue // expressions don't see it
			}
		}
		if child := c.node(p, f, path+"."+name, p.EmbeddedResource); child != nil {
			if n.properties == nil {
				n.properties = map[string]*node{}
			}
			n.properties[name] = child
			n.names = append(n.names, name)
		}
	}
	slices.Sort(n.names)
	if d.elem != nil {
		if s.Items != nil {
			n.items = c.node(s.Items, d.elem, path+".@idx", s.Items.EmbeddedResource)
		}
		if s.Values != nil {
			n.values = c.node(s.Values, d.elem, path+".@elem", s.Values.EmbeddedResource)
		}
	}
	return n
}

func (c *compiler) compile(n *node, s *Schema, d *declaration) {
	if len(s.Rules) == 0 {
		return
	}
	sc, err := newScope(c.env, d)
	if err != nil {
		c.fault = err
		return
	}
	for _, r := range s.Rules {
		rule, faults := sc.compile(r)
		for _, f := range faults {
			if c.fault == nil {
				c.fault = fmt.Errorf("CEL rule %s: %s: %s", r.Rule, f.Part, f.Message)
			}
		}
		n.rules = append(n.rules, rule)
		n.transitions = n.transitions || rule.transition
	}
}

func escaped(name string) string {
	e, _ := Escape(name)
	return e
}
