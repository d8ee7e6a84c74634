package cel

import (
	"context"
	"errors"
	"fmt"

	celgo "github.com/google/cel-go/cel"
)

// Conditions compiles conditions: expressions of type bool over one variable, such as those of a server's
// configuration. Names of fields are as they are, without the escapes of rules.
type Conditions struct {
	variable string
	env      *celgo.Env
	costs    *costs
}

// Condition is a compiled condition. It is safe for concurrent use.
type Condition struct {
	text, variable string
	program        celgo.Program
}

// NewConditions declares the variable. typ names its type in messages; s is its schema, of type object.
func NewConditions(variable, typ string, s *Schema) (*Conditions, error) {
	d := declare(s, typ, false)
	if d == nil {
		return nil, errors.New("the variable has no type")
	}
	d.unescape()
	types, err := typed(d)
	if err != nil {
		return nil, err
	}
	env, err := types.Extend(celgo.Variable(variable, d.typ))
	if err != nil {
		return nil, err
	}
	return &Conditions{variable: variable, env: env, costs: &costs{root: d}}, nil
}

// unescape gives the fields of objects the names that they have in JSON.
func (d *declaration) unescape() {
	if d == nil {
		return
	}
	for escaped, f := range d.fields {
		f.unescape()
		if name, ok := unescape(escaped); ok && name != escaped {
			delete(d.fields, escaped)
			d.fields[name] = f
		}
	}
	d.elem.unescape()
}

// Compile compiles a condition. Its errors have kube-apiserver's words.
func (c *Conditions) Compile(text string) (*Condition, error) {
	ast, issues := c.env.Compile(text)
	if issues != nil && issues.Err() != nil {
		return nil, errors.New("compilation failed: " + issues.String())
	}
	if !ast.OutputType().IsExactType(celgo.BoolType) {
		return nil, fmt.Errorf("must evaluate to bool but got %s", ast.OutputType())
	}
	p, err := program(c.env, ast, c.costs)
	if err != nil {
		return nil, fmt.Errorf("program instantiation failed: %w", err)
	}
	return &Condition{text: text, variable: c.variable, program: p}, nil
}

// Holds evaluates the condition. value is that of the variable: maps with strings as keys, slices and scalars.
func (c *Condition) Holds(ctx context.Context, value map[string]any) (bool, error) {
	out, _, err := c.program.ContextEval(ctx, map[string]any{c.variable: value})
	if err != nil {
		return false, fmt.Errorf("cel evaluation error: expression '%v' resulted in error: %w", c.text, err)
	}
	holds, ok := out.Value().(bool)
	if !ok {
		return false, fmt.Errorf("cel evaluation error: expression '%v' is no bool but %v", c.text, out.Type())
	}
	return holds, nil
}
