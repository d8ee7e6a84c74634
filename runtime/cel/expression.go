package cel

import (
	"context"
	"errors"
	"fmt"

	celgo "github.com/google/cel-go/cel"
	celast "github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// Environment compiles expressions that see one variable, such as the claims of a token: the expressions of
// Kubernetes' configuration files. It is safe for concurrent use.
type Environment struct {
	variable string
	env      *celgo.Env
}

// NewEnvironment declares a variable, whose type has a name and the fields of a schema. A nil schema declares a map
// from
// text to anything.
func NewEnvironment(variable, typeName string, s *Schema) (*Environment, error) {
	if s == nil {
		env, err := base()
		if err != nil {
			return nil, err
		}
		env, err = env.Extend(celgo.Variable(variable, celgo.MapType(celgo.StringType, celgo.AnyType)))
		return &Environment{variable, env}, err
	}
	d := declare(s, typeName, false)
	if d == nil {
		return nil, fmt.Errorf("the variable %s has a schema that expressions can't use", variable)
	}
	env, err := typed(d)
	if err != nil {
		return nil, err
	}
	env, err = env.Extend(celgo.Variable(variable, d.typ))
	return &Environment{variable, env}, err
}

// Expression is a compiled expression. It is safe for concurrent use.
type Expression struct {
	variable string
	ast      *celgo.Ast
	program  celgo.Program
}

// Condition compiles an expression whose result is true or false. An error has kube-apiserver's words.
func (e *Environment) Condition(text string) (*Expression, error) {
	x, err := e.Expression(text)
	if err == nil && !x.ast.OutputType().IsExactType(celgo.BoolType) {
		return nil, errors.New("must evaluate to bool")
	}
	return x, err
}

// Expression compiles an expression whose result may have any type. An error has kube-apiserver's words.
func (e *Environment) Expression(text string) (*Expression, error) {
	ast, issues := e.env.Compile(text)
	if issues != nil && issues.Err() != nil {
		return nil, errors.New("compilation failed: " + issues.String())
	}
	p, err := program(e.env, ast, &costs{})
	if err != nil {
		return nil, fmt.Errorf("program instantiation failed: %w", err)
	}
	return &Expression{e.variable, ast, p}, nil
}

// Selects reports whether an expression uses a field of its variable: variable.field or variable.?field.
func (x *Expression) Selects(field string) bool {
	isVariable := func(e celast.Expr) bool { return e.Kind() == celast.IdentKind && e.AsIdent() == x.variable }
	matches := celast.MatchDescendants(celast.NavigateAST(x.ast.NativeRep()), func(e celast.NavigableExpr) bool {
		switch e.Kind() {
		case celast.SelectKind:
			return isVariable(e.AsSelect().Operand()) && e.AsSelect().FieldName() == field
		case celast.CallKind:
			call := e.AsCall()
			if call.FunctionName() != operators.OptSelect || len(call.Args()) != 2 {
				return false
			}
			name := call.Args()[1]
			return isVariable(call.Args()[0]) && name.Kind() == celast.LiteralKind &&
				name.AsLiteral() == types.String(field)
		}
		return false
	})
	return len(matches) > 0
}

// Value is a value of a variable, made for many evaluations.
type Value struct{ value ref.Val }

// NewValue converts a map of decoded JSON, or of lists and maps of strings. Expressions can name its keys in escaped
// form, at every depth: claims.example__dot__com. The map must not change as long as the Value is used.
func NewValue(fields map[string]any) Value {
	return Value{unescaping(types.DefaultTypeAdapter.NativeToValue(fields))}
}

// Holds evaluates a condition.
func (x *Expression) Holds(ctx context.Context, v Value) (bool, error) {
	out, err := x.eval(ctx, v)
	if err != nil {
		return false, err
	}
	holds, ok := out.(types.Bool)
	if !ok {
		return false, errors.New("validation expression must return a boolean")
	}
	return bool(holds), nil
}

// Text evaluates an expression that returns a string.
func (x *Expression) Text(ctx context.Context, v Value) (string, error) {
	out, err := x.eval(ctx, v)
	if err != nil {
		return "", err
	}
	text, ok := out.(types.String)
	if !ok {
		return "", errors.New("expression must return a string")
	}
	return string(text), nil
}

// Texts evaluates an expression that returns a string, a list of strings or null. It leaves out empty strings.
func (x *Expression) Texts(ctx context.Context, v Value) ([]string, error) {
	out, err := x.eval(ctx, v)
	if err != nil {
		return nil, err
	}
	var texts []string
	add := func(one ref.Val) bool {
		text, ok := one.(types.String)
		if text != "" {
			texts = append(texts, string(text))
		}
		return ok
	}
	valid := true
	switch out := out.(type) {
	case types.Null:
	case traits.Lister:
		for it := out.Iterator(); it.HasNext() == types.True && valid; {
			valid = add(it.Next())
		}
	default:
		valid = add(out)
	}
	if !valid {
		return nil, errors.New("expression must return a string or a list of strings")
	}
	return texts, nil
}

func (x *Expression) eval(ctx context.Context, v Value) (ref.Val, error) {
	out, _, err := x.program.ContextEval(ctx, single{x.variable, v.value})
	return out, err
}

// single is the one variable of an evaluation.
type single struct {
	name  string
	value ref.Val
}

func (s single) ResolveName(name string) (any, bool) { return s.value, name == s.name }

// Parent returns nil: there are no other variables.
func (single) Parent() interpreter.Activation { return nil }

// unescaping lets expressions name the keys of maps in escaped form, in the value and in what it holds.
func unescaping(v ref.Val) ref.Val {
	switch v := v.(type) {
	case traits.Mapper:
		return unescapingMap{v}
	case traits.Lister:
		return unescapingList{v}
	}
	return v
}

type unescapingMap struct{ traits.Mapper }

func (m unescapingMap) Find(key ref.Val) (ref.Val, bool) {
	if name, ok := key.(types.String); ok {
		if plain, ok := unescape(string(name)); ok {
			key = types.String(plain)
		}
	}
	v, found := m.Mapper.Find(key)
	return unescaping(v), found
}

// Get and Contains go through Find, as an index or a test of presence does.
func (m unescapingMap) Get(key ref.Val) ref.Val {
	if v, found := m.Find(key); found {
		return v
	}
	return types.ValOrErr(key, "no such key: %v", key)
}

func (m unescapingMap) Contains(key ref.Val) ref.Val {
	_, found := m.Find(key)
	return types.Bool(found)
}

type unescapingList struct{ traits.Lister }

func (l unescapingList) Get(index ref.Val) ref.Val { return unescaping(l.Lister.Get(index)) }
