package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/internal/access/match"
	celpolicy "apigen.dev/runtime/internal/access/policy"
	registration "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// maxMessage and maxAnnotation bound what expressions evaluate to, in bytes: kube-apiserver's bounds.
	maxMessage    = 5 << 10
	maxAnnotation = 10 << 10
)

// validation is a compiled validation.
type validation struct {
	*registration.Validation
	expression *celpolicy.Expression
	message    *celpolicy.Expression // nil without one
}

// annotation is a compiled audit annotation.
type annotation struct {
	key   string
	value *celpolicy.Expression
}

func newValidating(p *registration.ValidatingAdmissionPolicy) *policy {
	spec := &p.Spec
	compile := func(p *policy) (*programs, error) {
		c, err := p.newPrograms(false, spec.Variables, spec.MatchConditions)
		if err != nil {
			return nil, err
		}
		for i := range spec.Validations {
			v := validation{Validation: &spec.Validations[i]}
			if v.expression = c.compiler.Compile(v.Expression, celpolicy.Bool); v.MessageExpression != "" {
				v.message = c.compiler.Compile(v.MessageExpression, celpolicy.Text)
			}
			c.validations = append(c.validations, v)
		}
		for _, a := range spec.AuditAnnotations {
			value := c.compiler.Compile(a.ValueExpression, celpolicy.Text, celpolicy.Null)
			c.annotations = append(c.annotations, annotation{a.Key, value})
		}
		return c, nil
	}
	return newPolicy(p.Name, spec.FailurePolicy, spec.ParamKind, spec.MatchConstraints, compile)
}

// failure is why a policy doesn't let a write pass.
type failure struct {
	policy  string
	binding *binding // nil for a policy that can't be used
	message string
	reason  metav1.StatusReason
}

func (f *failure) Error() string {
	if f.binding == nil {
		return fmt.Sprintf("ValidatingAdmissionPolicy '%s' denied request: %s", f.policy, f.message)
	}
	return fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", f.policy, f.binding.name,
		f.message)
}

// codes are those of the reasons that policies give.
var codes = map[metav1.StatusReason]int32{
	metav1.StatusReasonForbidden: http.StatusForbidden, metav1.StatusReasonUnauthorized: http.StatusUnauthorized,
	metav1.StatusReasonRequestEntityTooLarge: http.StatusRequestEntityTooLarge,
	metav1.StatusReasonInvalid:               http.StatusUnprocessableEntity,
}

// validate runs the validating policies. The first failure is the answer, but all are evaluated.
func (f *Feature) validate(ctx context.Context, a *admission.Attributes) error {
	known, err := f.validating.wait(ctx)
	if err != nil {
		return err
	}
	run := &validating{Feature: f, a: a, inputs: map[admission.Form]*celpolicy.Input{}}
	for p := range known.concerned(a) {
		if err := run.policy(ctx, p); err != nil {
			return err
		}
	}
	if len(run.failures) == 0 {
		return nil
	}
	first := run.failures[0]
	status := apierrors.NewForbidden(a.Resource.GroupResource(), a.ObjectName(), first)
	status.ErrStatus.Reason = first.reason
	if first.reason == "" {
		status.ErrStatus.Reason = metav1.StatusReasonInvalid
	}
	status.ErrStatus.Code = http.StatusUnprocessableEntity
	if code, ok := codes[status.ErrStatus.Reason]; ok {
		status.ErrStatus.Code = code
	}
	details := status.ErrStatus.Details
	details.Causes = append(details.Causes, metav1.StatusCause{Message: first.Error()})
	return status
}

// validating is the state of the validating policies for one write.
type validating struct {
	*Feature
	a        *admission.Attributes
	failures []*failure
	// inputs are what expressions see of the write, but for parameters, by the form of the object.
	inputs map[admission.Form]*celpolicy.Input
}

func (v *validating) input(ctx context.Context, form admission.Form) (*celpolicy.Input, error) {
	if in := v.inputs[form]; in != nil {
		return in, nil
	}
	in, err := match.Input(ctx, v.a, form, &v.namespaces)
	if err == nil {
		v.inputs[form] = in
	}
	return in, err
}

// misconfigured fails a write because a policy or a binding can't be used.
func (v *validating) misconfigured(p *bound, b *binding, err error) {
	if p.ignore {
		return
	}
	what := "policy"
	if b != nil {
		what = "binding"
	}
	v.failures = append(v.failures, &failure{p.name, b, fmt.Sprintf("failed to configure %s: %v", what, err), ""})
}

func (v *validating) policy(ctx context.Context, p *bound) error {
	form, matches, err := p.constraints.find(ctx, v.a, &v.namespaces)
	if err != nil {
		v.misconfigured(p, nil, err)
		return nil
	}
	if !matches {
		return nil
	}
	if err := v.params.served(ctx, p.paramKind); err != nil {
		v.misconfigured(p, nil, err)
		return nil
	}
	one := &evaluated{validating: v, policy: p, form: form, notes: map[string][]string{}}
	for _, b := range p.bindings {
		if err := one.binding(ctx, b); err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(one.notes)) {
		v.a.Annotate(ctx, p.name+"/"+key, strings.Join(one.notes[key], ", "))
	}
	return nil
}

// evaluated is one policy that concerns the write.
type evaluated struct {
	*validating
	policy *bound
	form   admission.Form
	// notes are the values of its audit annotations.
	notes map[string][]string
}

func (e *evaluated) binding(ctx context.Context, b *binding) error {
	_, matches, err := b.constraints.find(ctx, e.a, &e.namespaces)
	if err != nil {
		e.misconfigured(e.policy, b, err)
		return nil
	}
	if !matches {
		return nil
	}
	params, err := e.params.of(ctx, e.policy.paramKind, b.params, e.a.Namespace)
	if err != nil {
		e.misconfigured(e.policy, b, err)
		return nil
	}
	for _, param := range params {
		in, err := e.input(ctx, e.form)
		if err != nil {
			return err
		}
		e.param(ctx, b, *in, param)
	}
	return nil
}

// param evaluates the policy with one parameter of a binding.
func (e *evaluated) param(
	ctx context.Context, b *binding, in celpolicy.Input, param *unstructured.Unstructured,
) {
	began := time.Now()
	c, err := e.policy.programs()
	if err != nil {
		e.fail(ctx, b, check{began: began}, err)
		return
	}
	in.Params = contentOf(param)
	matches, err := c.conditions.Hold(ctx, &in)
	if err != nil {
		e.fail(ctx, b, check{began: began}, err)
		return
	}
	if !matches {
		return
	}
	evaluation := c.compiler.Evaluate(ctx, &in, celpolicy.Budget)
	if !e.validations(ctx, b, c.validations, evaluation) {
		return
	}
	evaluation = c.compiler.Evaluate(ctx, &in, celpolicy.Budget)
	for _, one := range c.annotations {
		e.annotation(b, one, evaluation)
	}
}

// check is the check of a validation that has ended.
type check struct {
	index int // of the validation; 0 for what fails all
	began time.Time
	took  time.Duration // 0 for a check that ends now
}

// validations returns false if the budget is spent.
func (e *evaluated) validations(
	ctx context.Context, b *binding, all []validation, evaluation *celpolicy.Evaluation,
) bool {
	type result struct {
		check
		holds bool
		err   error
	}
	results := make([]result, len(all))
	for i := range all {
		began := time.Now()
		holds, err := evaluation.Bool(all[i].expression)
		if errors.Is(err, celpolicy.ErrBudget) {
			e.fail(ctx, b, check{began: began}, err)
			return false
		}
		results[i] = result{check{i, began, time.Since(began)}, holds, err}
	}
	for i, r := range results {
		switch {
		case r.err != nil:
			e.fail(ctx, b, r.check, r.err)
		case !r.holds:
			reason := metav1.StatusReasonInvalid
			if all[i].Reason != nil {
				reason = *all[i].Reason
			}
			e.deny(ctx, b, r.check, denial{messageOf(&all[i], evaluation), reason, errDenied})
		}
	}
	return true
}

// messageOf returns the message of a validation that failed: what its expression says, if that is a line of text, or
// its message, or one with the expression.
func messageOf(v *validation, evaluation *celpolicy.Evaluation) string {
	if v.message != nil {
		text, _, err := evaluation.Text(v.message)
		text = strings.TrimSpace(text)
		if err == nil && text != "" && len(text) <= maxMessage && !strings.Contains(text, "\n") {
			return text
		}
	}
	if text := strings.TrimSpace(v.Message); text != "" {
		return text
	}
	return "failed expression: " + strings.TrimSpace(v.Expression)
}

// fail treats an error of an expression as the failure policy says.
func (e *evaluated) fail(ctx context.Context, b *binding, c check, err error) {
	if e.policy.ignore {
		e.observe(b, c, err, "allow")
		return
	}
	e.deny(ctx, b, c, denial{err.Error(), "", err})
}

// observe measures a check, and what followed from it.
func (e *evaluated) observe(b *binding, c check, err error, action string) {
	if c.took == 0 {
		c.took = time.Since(c.began)
	}
	e.validated.observe(e.policy.name, b.name, c.took, err, action)
}

// denial is why a write doesn't pass.
type denial struct {
	message string
	reason  metav1.StatusReason
	cause   error
}

// deny does what the actions of a binding say about a failed validation.
func (e *evaluated) deny(ctx context.Context, b *binding, c check, d denial) {
	for _, action := range b.actions {
		switch action {
		case registration.Deny:
			e.failures = append(e.failures, &failure{e.policy.name, b, d.message, d.reason})
		case registration.Audit:
			e.a.Annotate(ctx, "validation.policy.admission.k8s.io/validation_failure",
				auditValue(e.policy.name, b, c.index, d.message))
		case registration.Warn:
			e.a.Warn(fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s",
				e.policy.name, b.name, d.message))
		}
		e.observe(b, c, d.cause, strings.ToLower(string(action)))
	}
}

// auditValue returns the value of the audit annotation about a failed validation.
func auditValue(policy string, b *binding, index int, message string) string {
	value, err := json.Marshal([]struct {
		Message           string                          `json:"message"`
		Policy            string                          `json:"policy"`
		Binding           string                          `json:"binding"`
		ExpressionIndex   int                             `json:"expressionIndex"`
		ValidationActions []registration.ValidationAction `json:"validationActions"`
	}{{message, policy, b.name, index, b.actions}})
	if err != nil {
		panic(err) // it consists of texts and a number
	}
	return string(value)
}

// annotation evaluates an audit annotation. An error of it fails the write as the failure policy says.
func (e *evaluated) annotation(b *binding, one annotation, evaluation *celpolicy.Evaluation) {
	began := time.Now()
	text, isText, err := evaluation.Text(one.value)
	if err != nil {
		if !e.policy.ignore {
			e.failures = append(e.failures, &failure{e.policy.name, b, err.Error(), ""})
			e.observe(b, check{began: began}, err, "deny")
		}
		return
	}
	text = strings.TrimSpace(text)
	if !isText || text == "" {
		return
	}
	text = text[:min(len(text), maxAnnotation)]
	if !slices.Contains(e.notes[one.key], text) {
		e.notes[one.key] = append(e.notes[one.key], text)
	}
}
