package cel

import (
	"fmt"
	"strings"

	"apigen.dev/runtime/reach"
	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const exhausted = "validation failed due to running out of cost budget, no further validation rules will be run"

// variables are the variables of an evaluation; old is nil without oldSelf.
type variables struct{ self, old ref.Val }

func (v variables) ResolveName(name string) (any, bool) {
	switch name {
	case self:
		return v.self, true
	case oldSelf:
		return v.old, v.old != nil
	}
	return nil, false
}

// Parent returns nil: there are no other variables.
func (variables) Parent() interpreter.Activation { return nil }

func (w *walk) rules(n *node, path *field.Path, v, old any, at ratchet) {
	if len(n.rules) == 0 {
		return
	}
	if w.budget <= 0 {
		w.stop(field.Invalid(path, n.schema.Type, exhausted))
		return
	}
	s := n.schema
	if n.resource {
		s = s.asResource()
	}
	vars := variables{self: value(v, s)}
	optional := variables{self: vars.self, old: types.OptionalNone}
	if n.transitions && old != nil {
		vars.old = value(old, s)
		optional.old = types.OptionalOf(vars.old)
	}
	for i := range n.rules {
		r := &n.rules[i]
		if r.program == nil || r.transition && old == nil && !r.OptionalOldSelf {
			continue
		}
		these := vars
		if r.OptionalOldSelf {
			these = optional
		}
		if !w.holds(n, r, path, these) {
			w.failed(n, r, path, v, vars, !r.transition && at.forgives())
		}
		if w.budget < 0 {
			return
		}
	}
}

// stop adds the error after which no further rule runs.
func (w *walk) stop(err *field.Error) {
	w.errs = append(w.errs, err)
	w.budget = -1
}

// spend subtracts the cost of an evaluation from the budget, and returns false if the budget doesn't suffice.
func (w *walk) spend(details *celgo.EvalDetails) bool {
	if details == nil || details.ActualCost() == nil {
		return false
	}
	cost := *details.ActualCost()
	if w.budget < 0 || cost > uint64(w.budget) {
		return false
	}
	w.budget -= int64(cost)
	return true
}

// holds reports whether a value satisfies a rule. If the evaluation fails, it adds an error and returns true.
func (w *walk) holds(n *node, r *compiled, path *field.Path, vars variables) bool {
	out, details, err := r.program.ContextEval(w.ctx, vars)
	if !w.spend(details) {
		w.stop(field.Invalid(path, n.schema.Type, exhausted))
		return true
	}
	if err == nil {
		return out == types.True
	}
	fault := func(format string, args ...any) *field.Error {
		return field.Invalid(path, n.schema.Type, fmt.Sprintf(format, args...))
	}
	switch text := err.Error(); {
	case strings.HasPrefix(text, "no such overload"): // the types of int-or-string are not known before
		w.errs = append(w.errs, fault("'%v': call arguments did not match a supported operator, function or macro "+
			"signature for rule: %v", text, r.title()))
	case strings.HasPrefix(text, "operation cancelled: actual cost limit exceeded"):
		w.stop(fault("'%v': no further validation rules will be run due to call cost exceeds limit for rule: %v", text,
			r.title()))
	default:
		w.errs = append(w.errs, fault("%v evaluating rule: %v", text, r.title()))
	}
	return true
}

// failed adds the error of a rule that the value doesn't satisfy. Where ratcheting forgives it, it is a warning for the
// client, as in KEP-4008's implementation. The message is computed with the oldSelf of rules without optionalOldSelf.
func (w *walk) failed(n *node, r *compiled, path *field.Path, v any, vars variables, forgiven bool) {
	if r.path != "" {
		path = path.Child(r.path)
	}
	detail, stopped := "", ""
	if r.message != nil {
		detail, stopped = w.message(r, vars)
	}
	if detail == "" {
		if detail = strings.TrimSpace(r.Message); r.Message == "" {
			detail = "failed rule: " + r.title()
		}
	}
	if n.schema.Type == "object" || n.schema.Type == "array" {
		v = field.OmitValueType{}
	}
	fault := reasons[r.Reason]
	if fault == nil {
		fault = reasons[""]
	}
	err := fault(path, v, detail)
	if stopped != "" {
		err, w.budget = field.Invalid(path, n.schema.Type, stopped), -1
	}
	if forgiven {
		reach.Warn(w.ctx, err.Error())
	} else {
		w.errs = append(w.errs, err)
	}
}

// message computes a message. It is empty if the evaluation fails, which is not a fault of the object. stopped is
// why no further rules run.
func (w *walk) message(r *compiled, vars variables) (text, stopped string) {
	out, details, err := r.message.ContextEval(w.ctx, vars)
	if !w.spend(details) {
		return "", "messageExpression evaluation failed due to running out of cost budget, no further validation " +
			"rules will be run"
	}
	if err != nil {
		if strings.HasPrefix(err.Error(), "operation cancelled: actual cost limit exceeded") {
			return "", fmt.Sprintf("no further validation rules will be run due to call cost exceeds limit for "+
				"messageExpression: %q", r.MessageExpression)
		}
		return "", ""
	}
	text, _ = out.Value().(string)
	text = strings.TrimSpace(text)
	if len(text) > messageLimit || strings.Contains(text, "\n") {
		return "", ""
	}
	return text, ""
}

func (r *compiled) title() string {
	if r.Message != "" {
		return strings.TrimSpace(r.Message)
	}
	return strings.TrimSpace(r.Rule.Rule)
}
