package v1

import (
	"regexp"
	"slices"
	"strings"

	"apigen.dev/runtime/internal/access/policy"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// place is a field that holds a CEL expression, which decides the type that the expression must have.
type place int

const (
	condition place = iota
	message
	annotation
	applyConfiguration
	jsonPatch
	variable
)

// expressions compiles the expressions of one object. Those that follow a variable may use it.
type expressions struct {
	declared policy.Declared
	// compiler is that of all expressions but messages, which have no authorizer; nil before the first.
	compiler, messages *policy.Compiler
}

// newConditions returns a compiler for match conditions, which may use params.
func newConditions(params bool) *expressions {
	return &expressions{declared: policy.Declared{Params: params, Authorizer: true}}
}

// newValidations returns a compiler for the expressions of a validating policy, which may use params and variables.
func newValidations(params bool, variables []registrationv1.Variable) *expressions {
	declared := policy.Declared{Params: params, Authorizer: true, Variables: len(variables) > 0}
	return &expressions{declared: declared}
}

// newMutations returns a compiler for the expressions of a mutating policy, which may use params and variables.
func newMutations(params bool, variables []registrationv1.Variable) *expressions {
	e := newValidations(params, variables)
	e.declared.Mutation = true
	return e
}

// results are the types that an expression of a place may evaluate to.
var results = map[place][]*policy.Type{
	condition: {policy.Bool}, message: {policy.Text}, annotation: {policy.Text, policy.Null},
	applyConfiguration: {policy.Object}, jsonPatch: {policy.Patch},
}

// check returns the error of an expression as kube-apiserver words it. name is that of a variable.
func (e *expressions) check(at place, name, expression string, path *field.Path) field.ErrorList {
	if err := e.prepare(); err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	var compiled *policy.Expression
	switch at {
	case variable:
		compiled = e.compiler.Variable(name, expression)
		e.messages.Variable(name, expression)
	case message:
		compiled = e.messages.Compile(expression, results[at]...)
	default:
		compiled = e.compiler.Compile(expression, results[at]...)
	}
	if compiled.Err == nil {
		return nil
	}
	return field.ErrorList{field.Invalid(path, expression, compiled.Err.Error())}
}

func (e *expressions) prepare() (err error) {
	if e.compiler != nil {
		return nil
	}
	if e.compiler, err = policy.NewCompiler(e.declared); err != nil {
		return err
	}
	without := e.declared
	without.Authorizer = false
	e.messages, err = policy.NewCompiler(without)
	return err
}

const maxConditions = 64

// validateConditions validates the match conditions of a policy or of a webhook.
func validateConditions(
	conditions []registrationv1.MatchCondition, params bool, path *field.Path,
) (errs field.ErrorList) {
	if len(conditions) > maxConditions {
		errs = append(errs, field.TooMany(path, len(conditions), maxConditions))
	}
	names, compiler := map[string]bool{}, newConditions(params)
	for i, c := range conditions {
		at := path.Index(i)
		if expression := strings.TrimSpace(c.Expression); expression == "" {
			errs = append(errs, field.Required(at.Child("expression"), ""))
		} else {
			errs = append(errs, compiler.check(condition, "", expression, at.Child("expression"))...)
		}
		if c.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
			continue
		}
		errs = append(errs, validateQualifiedName(c.Name, at.Child("name"))...)
		if names[c.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
		}
		names[c.Name] = true
	}
	return errs
}

func validateQualifiedName(name string, path *field.Path) (errs field.ErrorList) {
	for _, message := range validation.IsQualifiedName(name) {
		errs = append(errs, field.Invalid(path, name, message))
	}
	return errs
}

// validateVariables validates variables and declares them to the compiler.
func (e *expressions) validateVariables(variables []registrationv1.Variable, path *field.Path) (errs field.ErrorList) {
	for i, v := range variables {
		at := path.Index(i)
		switch {
		case strings.TrimSpace(v.Name) == "":
			errs = append(errs, field.Required(at.Child("name"), "name is not specified"))
		case !isIdentifier(v.Name):
			errs = append(errs, field.Invalid(at.Child("name"), v.Name, "must be a valid CEL identifier"))
		}
		if strings.TrimSpace(v.Expression) == "" {
			errs = append(errs, field.Required(at.Child("expression"), "expression is not specified"))
			continue
		}
		errs = append(errs, e.check(variable, v.Name, v.Expression, at.Child("expression"))...)
	}
	return errs
}

var (
	identifier = regexp.MustCompile("^[_a-zA-Z][_a-zA-Z0-9]*$")
	// reserved are the words of CEL that are no identifiers.
	reserved = []string{
		"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
		"let", "loop", "package", "namespace", "return", "var", "void", "while",
	}
)

func isIdentifier(name string) bool {
	return identifier.MatchString(name) && !slices.Contains(reserved, name)
}
