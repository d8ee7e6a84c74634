package cel

import (
	"fmt"
	"strings"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

type compiled struct {
	Rule
	program celgo.Program // nil if the rule is empty
	message celgo.Program // nil if there is none
	// path is the path of errors below the value; empty for the value itself.
	path string
	// transition says that the rule uses oldSelf.
	transition bool
	// cost and messageCost are the estimated worst costs of the expressions.
	cost, messageCost uint64
}

// Part is a part of a Rule that has a fault.
type Part string

// The parts of a rule.
const (
	InRule              Part = "rule"
	InMessage           Part = "message"
	InMessageExpression Part = "messageExpression"
	InReason            Part = "reason"
	InFieldPath         Part = "fieldPath"
	InOptionalOldSelf   Part = "optionalOldSelf"
	// InAll stands for all rules of a kind together.
	InAll Part = "all"
)

// Issue is a message of the compiler about an expression, at a line and a column, both from 1.
type Issue struct {
	Line, Column int
	Message      string
}

// scope compiles the rules of one schema.
type scope struct {
	declaration *declaration
	env         *celgo.Env
	costs       *costs
}

// newScope declares self. types is the environment with the types of self's parts.
func newScope(types *celgo.Env, d *declaration) (*scope, error) {
	env, err := types.Extend(celgo.Variable(self, d.typ))
	if err != nil {
		return nil, err
	}
	return &scope{declaration: d, env: env, costs: &costs{root: d}}, nil
}

// compile compiles a rule. It returns faults that prevent this, or that make a part of the rule useless.
func (s *scope) compile(r Rule) (compiled, []Fault) {
	c := compiled{Rule: r}
	if strings.TrimSpace(r.Rule) == "" {
		return c, nil
	}
	old := s.declaration.typ
	if r.OptionalOldSelf {
		old = types.NewOptionalType(old)
	}
	env, err := s.env.Extend(celgo.Variable(oldSelf, old))
	if err != nil {
		return c, []Fault{{Part: InRule, Message: err.Error()}}
	}
	ast, f := check(env, r.Rule, InRule, celgo.BoolType)
	if f != nil {
		return c, []Fault{*f}
	}
	for _, ref := range ast.NativeRep().ReferenceMap() {
		c.transition = c.transition || ref.Name == oldSelf
	}
	if c.program, c.cost, f = s.executable(env, ast, InRule); f != nil {
		return c, []Fault{*f}
	}
	if path, err := parseFieldPath(r.FieldPath, s.declaration.schema); err == nil && path != nil {
		c.path = path.String()
	}
	if r.MessageExpression == "" {
		return c, nil
	}
	if ast, f = check(env, r.MessageExpression, InMessageExpression, celgo.StringType); f != nil {
		return c, []Fault{*f}
	}
	if c.message, c.messageCost, f = s.executable(env, ast, InMessageExpression); f != nil {
		return c, []Fault{*f}
	}
	return c, nil
}

// check parses and type-checks an expression, which must have a type.
func check(env *celgo.Env, text string, part Part, want *celgo.Type) (*celgo.Ast, *Fault) {
	ast, issues := env.Compile(text)
	if issues != nil && issues.Err() != nil {
		f := &Fault{Part: part, Message: "compilation failed: " + issues.String()}
		for _, e := range issues.Errors() {
			f.Issues = append(f.Issues, Issue{e.Location.Line(), e.Location.Column() + 1, e.Message})
		}
		return nil, f
	}
	if !ast.OutputType().IsExactType(want) {
		return nil, &Fault{Part: part, Message: fmt.Sprintf("must evaluate to a %s, and evaluates to %s", want,
			ast.OutputType())}
	}
	return ast, nil
}

func (s *scope) executable(env *celgo.Env, ast *celgo.Ast, part Part) (celgo.Program, uint64, *Fault) {
	p, err := program(env, ast, s.costs)
	if err != nil {
		return nil, 0, &Fault{Part: part, Message: "program instantiation failed: " + err.Error()}
	}
	estimate, err := env.EstimateCost(ast, s.costs)
	if err != nil {
		return nil, 0, &Fault{Part: part, Message: "cost estimation failed: " + err.Error()}
	}
	return p, estimate.Max, nil
}

func static(r Rule, s *Schema) []Fault {
	var out []Fault
	add := func(part Part, message string) { out = append(out, Fault{Part: part, Message: message}) }
	rule, message := strings.TrimSpace(r.Rule), strings.TrimSpace(r.Message)
	switch {
	case rule == "":
		add(InRule, "is missing")
	case r.Message != "" && message == "":
		add(InMessage, "must be non-empty if specified")
	case strings.ContainsAny(message, "\r\n"):
		add(InMessage, "must not contain line breaks")
	case strings.ContainsAny(rule, "\r\n") && message == "":
		add(InMessage, "must be specified if rule contains line breaks")
	}
	if r.MessageExpression != "" && strings.TrimSpace(r.MessageExpression) == "" {
		add(InMessageExpression, "must be non-empty if specified")
	}
	if r.Reason != "" && reasons[r.Reason] == nil {
		add(InReason, fmt.Sprintf("is %q, and must be one of FieldValueDuplicate, FieldValueForbidden, "+
			"FieldValueInvalid, FieldValueRequired", r.Reason))
	}
	if r.FieldPath != "" {
		if _, err := parseFieldPath(r.FieldPath, s); err != nil || strings.ContainsAny(r.FieldPath, "\r\n") {
			text := fmt.Sprintf("is %s, and must be a valid path below the value, as .spec.replicas", r.FieldPath)
			if err != nil {
				text += ": " + err.Error()
			}
			add(InFieldPath, text)
		}
	}
	return out
}

var reasons = map[string]func(path *field.Path, value any, detail string) *field.Error{
	"":                  field.Invalid,
	"FieldValueInvalid": field.Invalid,
	"FieldValueForbidden": func(path *field.Path, _ any, detail string) *field.Error {
		return field.Forbidden(path, detail)
	},
	"FieldValueRequired": func(path *field.Path, _ any, detail string) *field.Error {
		return field.Required(path, detail)
	},
	"FieldValueDuplicate": func(path *field.Path, value any, _ string) *field.Error {
		return field.Duplicate(path, value)
	},
}
