package policy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/request"
	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// Input is what the expressions of one request see. Maps are decoded JSON, with numbers as int64 or float64, and must
// not change while an Evaluation uses them. A nil map is null.
type Input struct {
	Object, OldObject map[string]any
	// Request is the variable request: an AdmissionRequest (admission.k8s.io/v1) without its objects.
	Request map[string]any
	Params  map[string]any
	// Namespace is the namespace of the request, nil for a cluster-scoped resource.
	Namespace map[string]any
	// Authorizer answers for User; Resource is what authorizer.requestResource asks about.
	Authorizer auth.Authorizer
	User       *auth.User
	Resource   request.Info
}

// ErrBudget tells that an evaluation ran out of its budget: no further expression runs.
var ErrBudget = errors.New("validation failed due to running out of cost budget, no further validation rules will be " +
	"run")

// Evaluation evaluates expressions of one policy for one request. Variables are evaluated once, at first use. One
// goroutine at a time may use it.
type Evaluation struct {
	ctx    context.Context
	in     *Input
	budget int64

	variables *variables
	values    map[string]ref.Val
	// spent is what variables cost since the last expression ended.
	spent int64
}

// Evaluate begins an evaluation with a budget.
func (c *Compiler) Evaluate(ctx context.Context, in *Input, budget int64) *Evaluation {
	return &Evaluation{ctx: ctx, in: in, budget: budget, variables: c.variables}
}

// Budget returns what is left of the budget.
func (e *Evaluation) Budget() int64 { return e.budget }

// SetParams changes the variable params, and begins with new variables.
func (e *Evaluation) SetParams(params map[string]any) {
	in := *e.in
	in.Params = params
	e.in, e.values = &in, nil
}

// Bool evaluates an expression of type bool. An expression that isn't true is false.
func (e *Evaluation) Bool(x *Expression) (bool, error) {
	out, err := e.eval(x)
	return out == types.True, err
}

// Text evaluates an expression; ok is false if it is not text, such as null.
func (e *Evaluation) Text(x *Expression) (text string, ok bool, err error) {
	out, err := e.eval(x)
	value, ok := out.(types.String)
	return string(value), ok, err
}

// Object evaluates an expression of type Object, an apply configuration, to decoded JSON.
func (e *Evaluation) Object(x *Expression) (map[string]any, error) {
	out, err := e.eval(x)
	if err != nil {
		return nil, err
	}
	value, ok := out.(*made)
	if !ok {
		return nil, fmt.Errorf("unsupported return type from ApplyConfiguration expression: %v", out.Type())
	}
	if err := checkNames(value, objectTypeName); err != nil {
		return nil, fmt.Errorf("type mismatch: %w", err)
	}
	return value.content()
}

// Operation is one operation of a JSON patch (RFC 6902).
type Operation struct {
	Op, Path, From string
	// Value is decoded JSON; HasValue reports whether there is one, null included.
	Value    any
	HasValue bool
}

// Patch evaluates an expression of type Patch.
func (e *Evaluation) Patch(x *Expression) ([]Operation, error) {
	out, err := e.eval(x)
	if err != nil {
		return nil, err
	}
	list, ok := out.(traits.Lister)
	if !ok {
		return nil, fmt.Errorf("type mismatch: JSONPatchType.expression should evaluate to array")
	}
	var operations []Operation
	for it := list.Iterator(); it.HasNext() == types.True; {
		value, ok := it.Next().(*made)
		if !ok || value.typ.TypeName() != patchTypeName {
			return nil, fmt.Errorf("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch")
		}
		content, err := value.content()
		if err != nil {
			return nil, err
		}
		operation := Operation{Value: content["value"]}
		operation.Op, _ = content["op"].(string)
		operation.Path, _ = content["path"].(string)
		operation.From, _ = content["from"].(string)
		_, operation.HasValue = content["value"]
		operations = append(operations, operation)
	}
	return operations, nil
}

func (e *Evaluation) eval(x *Expression) (ref.Val, error) {
	if x.Err != nil {
		return types.NullValue, fmt.Errorf("compilation error: %w", x.Err)
	}
	out, details, err := x.program.ContextEval(e.ctx, activation{e})
	variables := e.spent
	e.spent = 0
	if !e.spend(variables) || details == nil || details.ActualCost() == nil || !e.spend(costOf(details)) {
		e.budget = -1
		return types.NullValue, ErrBudget
	}
	if err != nil {
		return types.NullValue, fmt.Errorf("expression '%v' resulted in error: %w", x.Text, err)
	}
	return out, nil
}

func costOf(details *celgo.EvalDetails) int64 {
	return int64(min(*details.ActualCost(), math.MaxInt64))
}

func (e *Evaluation) spend(cost int64) bool {
	if e.budget < 0 || cost > e.budget {
		return false
	}
	e.budget -= cost
	return true
}

// activation resolves the variables of an evaluation.
type activation struct{ e *Evaluation }

// ResolveName implements interpreter.Activation.
func (a activation) ResolveName(name string) (any, bool) {
	in := a.e.in
	switch name {
	case "object":
		return orNull(in.Object), true
	case "oldObject":
		return orNull(in.OldObject), true
	case "request":
		return orNull(in.Request), true
	case "params":
		return orNull(in.Params), true
	case "namespaceObject":
		return orNull(in.Namespace), true
	case "authorizer":
		return newAuthorizer(a.e.ctx, in.Authorizer, in.User), in.Authorizer != nil
	case "authorizer.requestResource":
		return newAuthorizer(a.e.ctx, in.Authorizer, in.User).onResource(in.Resource), in.Authorizer != nil
	case "variables":
		return variableValues(a), true
	}
	return nil, false
}

// Parent implements interpreter.Activation: there are no other variables.
func (activation) Parent() interpreter.Activation { return nil }

func orNull(m map[string]any) any {
	if m == nil {
		return types.NullValue
	}
	return m
}

// variableValues is the variable variables.
type variableValues struct{ e *Evaluation }

// Get implements traits.Indexer: it evaluates a variable at its first use.
func (v variableValues) Get(key ref.Val) ref.Val {
	name, ok := key.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(key)
	}
	if value, known := v.e.values[string(name)]; known {
		return value
	}
	x := v.e.variables.compiled[string(name)]
	if x == nil {
		return types.NewErr("no such key: %v", name)
	}
	value := v.e.variable(string(name), x)
	if v.e.values == nil {
		v.e.values = map[string]ref.Val{}
	}
	v.e.values[string(name)] = value
	return value
}

func (e *Evaluation) variable(name string, x *Expression) ref.Val {
	if x.Err != nil {
		return types.NewErr("composited variable %q fails to compile: %v", name, x.Err)
	}
	value, details, err := x.program.ContextEval(e.ctx, activation{e})
	if details == nil || details.ActualCost() == nil {
		return types.NewErr("unable to calculate cost of variable %q", name)
	}
	if e.spent += costOf(details); e.spent < 0 {
		e.spent = math.MaxInt64
	}
	if err != nil {
		return types.NewErr("composited variable %q fails to evaluate: %v", name, err)
	}
	return value
}

// IsSet implements traits.FieldTester.
func (v variableValues) IsSet(key ref.Val) ref.Val {
	name, _ := key.(types.String)
	return types.Bool(v.e.variables.compiled[string(name)] != nil)
}

// ConvertToNative implements ref.Val.
func (variableValues) ConvertToNative(reflect.Type) (any, error) {
	return nil, errNotConverted(variablesTypeName)
}

// ConvertToType implements ref.Val.
func (variableValues) ConvertToType(to ref.Type) ref.Val {
	return types.NewErr("type conversion error from '%s' to '%s'", variablesTypeName, to)
}

// Equal implements ref.Val.
func (variableValues) Equal(ref.Val) ref.Val {
	return types.NewErr("%s: not comparable", variablesTypeName)
}

// Type implements ref.Val.
func (variableValues) Type() ref.Type { return celgo.ObjectType(variablesTypeName) }

// Value implements ref.Val.
func (v variableValues) Value() any { return v }

var (
	_ traits.Indexer     = variableValues{}
	_ traits.FieldTester = variableValues{}
)
