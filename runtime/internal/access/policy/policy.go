// Package policy compiles and evaluates the expressions of admission policies and of webhooks' match conditions, in the
// environment that kube-apiserver 1.36 gives them: object, oldObject, request, params, namespaceObject, authorizer,
// variables, and the types by which mutations are written. Objects are decoded JSON. The words of errors and the costs
// are kube-apiserver's.
//
// It may know packages auth, cel and request.
package policy

import (
	"errors"
	"fmt"
	"sync"

	"apigen.dev/runtime/cel"
	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// The budgets of kube-apiserver, in CEL's units of cost. Package cel bounds a single evaluation.
const (
	// Budget is for all expressions of one binding of a policy, for one request.
	Budget int64 = 10_000_000
	// ConditionsBudget is for the match conditions of a policy or a webhook.
	ConditionsBudget int64 = 2_500_000
)

// Declared says which variables expressions see beside object, oldObject, request and namespaceObject.
type Declared struct {
	// Params declares params.
	Params bool
	// Authorizer declares authorizer and authorizer.requestResource.
	Authorizer bool
	// Mutation declares the types Object and JSONPatch, and jsonpatch.escapeKey.
	Mutation bool
	// Variables declares variables, which Variable then fills.
	Variables bool
}

// Type is what an expression may evaluate to.
type Type = celgo.Type

// The types that policies ask for. Patch is a list of JSONPatch.
var (
	Bool   = celgo.BoolType
	Text   = celgo.StringType
	Null   = celgo.NullType
	Any    = celgo.AnyType
	Object = types.NewObjectType(objectTypeName)
	Patch  = celgo.ListType(types.NewObjectType(patchTypeName))
)

// Compiler compiles the expressions of one policy. Only one goroutine may compile; what it compiled is safe for
// concurrent use once it compiles nothing more.
type Compiler struct {
	env       *celgo.Env
	variables *variables // nil without variables
	// plain is the environment of variables, which lacks the types of mutations.
	plain *celgo.Env
}

// Schemas are those of what expressions see; nil is any type. They must describe the root of an object.
type Schemas struct {
	Object, Params *cel.Schema
}

// NewChecker returns a compiler for Check: its expressions see objects of schemas, where NewCompiler's see any.
func NewChecker(d Declared, schemas Schemas) (*Compiler, error) {
	env, err := newEnvironment(d, schemas)
	if err != nil {
		return nil, err
	}
	v := &variables{fields: map[string]*celgo.Type{}, compiled: map[string]*Expression{}}
	env, err = v.declare(env)
	return &Compiler{env: env, plain: env, variables: v}, err
}

// Check compiles an expression of any type, and returns the compiler's words about it; "" if it is sound.
func (c *Compiler) Check(text string) string {
	if _, issues := c.env.Compile(text); issues != nil && issues.Err() != nil {
		return issues.String()
	}
	return ""
}

// NewCompiler returns a compiler.
func NewCompiler(d Declared) (*Compiler, error) {
	env, err := environmentOf(d)
	if err != nil || !d.Variables {
		return &Compiler{env: env}, err
	}
	v := &variables{fields: map[string]*celgo.Type{}, compiled: map[string]*Expression{}}
	if env, err = v.declare(env); err != nil || !d.Mutation {
		return &Compiler{env: env, plain: env, variables: v}, err
	}
	d.Mutation = false
	plain, err := environmentOf(d)
	if err == nil {
		plain, err = v.declare(plain)
	}
	return &Compiler{env: env, plain: plain, variables: v}, err
}

// variables are the compiled variables of a policy.
type variables struct {
	fields   map[string]*celgo.Type
	compiled map[string]*Expression
}

// declare returns an environment with the variable variables.
func (v *variables) declare(env *celgo.Env) (*celgo.Env, error) {
	return env.Extend(
		celgo.CustomTypeProvider(&structs{Provider: env.CELTypeProvider(), of: map[string]map[string]*celgo.Type{
			variablesTypeName: v.fields,
		}}),
		celgo.Variable("variables", celgo.ObjectType(variablesTypeName)),
	)
}

const variablesTypeName = "kubernetes.variables"

// Variable compiles a variable, which the expressions and variables after it see as variables.name.
func (c *Compiler) Variable(name, expression string) *Expression {
	x := compile(c.plain, expression, Any)
	c.variables.fields[name] = celgo.DynType
	if x.Err == nil {
		c.variables.fields[name] = x.typ
	}
	c.variables.compiled[name] = x
	return x
}

// Expression is a compiled expression, or the reason why it can't be compiled.
type Expression struct {
	// Text is its source.
	Text string
	// Err is in kube-apiserver's words; nil for an expression that can be evaluated.
	Err     error
	program celgo.Program
	typ     *celgo.Type
}

// Compile compiles an expression that evaluates to one of the types.
func (c *Compiler) Compile(text string, want ...*Type) *Expression {
	return compile(c.env, text, want...)
}

func compile(env *celgo.Env, text string, want ...*Type) *Expression {
	x := &Expression{Text: text}
	ast, issues := env.Compile(text)
	if issues != nil && issues.Err() != nil {
		x.Err = errors.New("compilation failed: " + issues.String())
		return x
	}
	if x.typ = ast.OutputType(); !isOne(x.typ, want) {
		if len(want) == 1 {
			x.Err = fmt.Errorf("must evaluate to %v but got %v", want[0], x.typ)
		} else {
			x.Err = fmt.Errorf("must evaluate to one of %v but got %v", want, x.typ)
		}
		return x
	}
	program, err := cel.Program(env, ast, costs{cel.Costs()})
	if err != nil {
		x.Err = fmt.Errorf("program instantiation failed: %w", err)
		return x
	}
	x.program = program
	return x
}

func isOne(typ *celgo.Type, want []*Type) bool {
	for _, one := range want {
		if typ.IsExactType(one) || one.IsExactType(Any) {
			return true
		}
	}
	return false
}

// environments are made at first demand: each takes milliseconds.
var environments sync.Map // Declared without Variables -> func() (*celgo.Env, error)

func environmentOf(d Declared) (*celgo.Env, error) {
	d.Variables = false
	once, _ := environments.LoadOrStore(d, sync.OnceValues(func() (*celgo.Env, error) {
		return newEnvironment(d, Schemas{})
	}))
	return once.(func() (*celgo.Env, error))()
}

func newEnvironment(d Declared, schemas Schemas) (*celgo.Env, error) {
	env, err := cel.Base()
	if err == nil {
		env, err = env.Extend(celgo.Types(authorizerType, pathType, groupType, resourceType, decisionType))
	}
	if err != nil {
		return nil, err
	}
	provider := &structs{Provider: env.CELTypeProvider(), of: declaredTypes, mutation: d.Mutation}
	options := []celgo.EnvOption{
		celgo.CustomTypeProvider(provider),
		celgo.Variable("namespaceObject", celgo.ObjectType("kubernetes.Namespace")),
		celgo.Variable("request", celgo.ObjectType("kubernetes.AdmissionRequest")),
	}
	options = append(options, authorizerFunctions()...)
	if d.Authorizer {
		options = append(options, celgo.Variable("authorizer", authorizerType),
			celgo.Variable("authorizer.requestResource", resourceType))
	}
	if d.Mutation {
		options = append(options, escapeKey())
	}
	if env, err = env.Extend(options...); err != nil {
		return nil, err
	}
	env, err = cel.Declare(env, schemas.Object, "kubernetes.Object", "object", "oldObject")
	if err != nil || !d.Params {
		return env, err
	}
	return cel.Declare(env, schemas.Params, "kubernetes.Params", "params")
}
