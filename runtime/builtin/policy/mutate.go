package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/internal/access/match"
	celpolicy "apigen.dev/runtime/internal/access/policy"
	"apigen.dev/runtime/internal/object/patch"
	"apigen.dev/runtime/internal/verb"
	registration "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const pluginName = "MutatingAdmissionPolicy"

// mutation is a compiled mutation.
type mutation struct {
	// expression evaluates to a JSON patch, or to an apply configuration.
	expression *celpolicy.Expression
	applies    bool
}

func newMutating(p *registration.MutatingAdmissionPolicy) *policy {
	spec := &p.Spec
	compile := func(p *policy) (*programs, error) {
		c, err := p.newPrograms(true, spec.Variables, spec.MatchConditions)
		if err != nil {
			return nil, err
		}
		c.reinvoked = spec.ReinvocationPolicy == registration.IfNeededReinvocationPolicy
		for _, m := range spec.Mutations {
			switch {
			case m.PatchType == registration.PatchTypeJSONPatch && m.JSONPatch != nil:
				compiled := c.compiler.Compile(m.JSONPatch.Expression, celpolicy.Patch)
				c.mutations = append(c.mutations, mutation{compiled, false})
			case m.PatchType == registration.PatchTypeApplyConfiguration && m.ApplyConfiguration != nil:
				compiled := c.compiler.Compile(m.ApplyConfiguration.Expression, celpolicy.Object)
				c.mutations = append(c.mutations, mutation{compiled, true})
			}
		}
		return c, nil
	}
	return newPolicy(p.Name, spec.FailurePolicy, spec.ParamKind, spec.MatchConstraints, compile)
}

// mutatingFailure is why a mutating policy doesn't let a write pass.
type mutatingFailure struct {
	policy  string
	binding *binding // nil for a policy that can't be used
	err     error
	reason  metav1.StatusReason
}

func (f *mutatingFailure) Error() string {
	if f.binding == nil {
		return fmt.Sprintf("policy %q denied request: %v", f.policy, f.err)
	}
	return fmt.Sprintf("policy '%s' with binding '%s' denied request: %v", f.policy, f.binding.name, f.err)
}

// call is a policy with a binding and a parameter that concern a write.
type call struct {
	policy  *bound
	binding *binding
	form    admission.Form
	param   *unstructured.Unstructured
}

// id tells calls apart in the second pass.
type id struct{ policy, binding, paramNamespace, param string }

func (c *call) id() id {
	of := id{policy: c.policy.name, binding: c.binding.name}
	if c.param != nil {
		of.paramNamespace, of.param = c.param.GetNamespace(), c.param.GetName()
	}
	return of
}

// passes are what the second pass of the mutating plug-ins needs to know of the first.
type passes struct {
	// called are the calls to be repeated after the next change, again those to be repeated in the second pass.
	called, again map[id]bool
	// left is the object as the last policy left it.
	left []byte
}

func passesOf(a *admission.Attributes) *passes {
	if kept, ok := a.ReinvocationValue(pluginName).(*passes); ok {
		return kept
	}
	p := &passes{called: map[id]bool{}, again: map[id]bool{}}
	a.SetReinvocationValue(pluginName, p)
	return p
}

func (p *passes) requireAgain() {
	for id := range p.called {
		p.again[id] = true
	}
	clear(p.called)
}

// mutating is the state of the mutating policies for one write.
type mutating struct {
	*Feature
	a        *admission.Attributes
	kept     *passes
	failures []*mutatingFailure
}

// admit runs the mutating policies, in the order of their names.
func (f *Feature) admit(ctx context.Context, a *admission.Attributes) error {
	known, err := f.mutating.wait(ctx)
	if err != nil {
		return err
	}
	run := &mutating{Feature: f, a: a}
	calls := run.calls(ctx, known)
	if len(calls) > 0 {
		if err := run.all(ctx, calls); err != nil {
			return err
		}
	}
	return run.status()
}

// calls returns the policies that concern the write.
func (m *mutating) calls(ctx context.Context, known *set) (calls []*call) {
	for p := range known.concerned(m.a) {
		form, matches, err := p.constraints.find(ctx, m.a, &m.namespaces)
		if err != nil {
			m.misconfigured(p, nil, err)
			continue
		}
		if !matches {
			continue
		}
		if err := m.params.served(ctx, p.paramKind); err != nil {
			m.misconfigured(p, nil, err)
			continue
		}
		for _, b := range p.bindings {
			_, matches, err := b.constraints.find(ctx, m.a, &m.namespaces)
			if err != nil {
				m.misconfigured(p, b, err)
			}
			if err != nil || !matches {
				continue
			}
			params, err := m.params.of(ctx, p.paramKind, b.params, m.a.Namespace)
			if err != nil {
				m.misconfigured(p, b, err)
				continue
			}
			for _, param := range params {
				calls = append(calls, &call{p, b, form, param})
			}
		}
	}
	return calls
}

func (m *mutating) misconfigured(p *bound, b *binding, err error) {
	what := "policy"
	if b != nil {
		what = "binding"
	}
	m.fail(p, b, fmt.Errorf("failed to configure %s: %w", what, err), "")
}

func (m *mutating) fail(p *bound, b *binding, err error, reason metav1.StatusReason) {
	if !p.ignore {
		m.failures = append(m.failures, &mutatingFailure{p.name, b, err, reason})
	}
}

// status returns the failures as clients get them.
func (m *mutating) status() error {
	if len(m.failures) == 0 {
		return nil
	}
	first := m.failures[0]
	status := apierrors.NewForbidden(m.a.Resource.GroupResource(), m.a.ObjectName(), first)
	status.ErrStatus.Message = first.Error()
	if first.reason != "" {
		status.ErrStatus.Reason = first.reason
	}
	details := status.ErrStatus.Details
	for _, f := range m.failures {
		details.Causes = append(details.Causes, metav1.StatusCause{Message: f.Error()})
	}
	return status
}

func (m *mutating) all(ctx context.Context, calls []*call) (err error) {
	m.kept = passesOf(m.a)
	if m.a.IsReinvoked() && len(m.kept.called) > 0 {
		now, err := m.a.Object.JSON(m.a.Kind)
		if err != nil {
			return err
		}
		if !bytes.Equal(now, m.kept.left) {
			m.kept.requireAgain()
		}
	}
	for _, c := range calls {
		if err := m.call(ctx, c); err != nil {
			return err
		}
	}
	if len(m.kept.called) > 0 {
		m.kept.left, err = m.a.Object.JSON(m.a.Kind)
	}
	return err
}

// call runs one policy with one parameter. Its error is an internal one.
func (m *mutating) call(ctx context.Context, c *call) error {
	programs, err := c.policy.programs()
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	in, err := match.Input(ctx, m.a, c.form, &m.namespaces)
	if err != nil {
		return err
	}
	in.Params = contentOf(c.param)
	matches, err := programs.conditions.Hold(ctx, in)
	if err != nil {
		m.fail(c.policy, c.binding, err, metav1.StatusReasonInvalid)
		return nil
	}
	if !matches || m.a.IsReinvoked() && !m.kept.again[c.id()] {
		return nil
	}
	before, err := m.a.Object.JSON(c.form.Kind)
	if err != nil {
		return err
	}
	for i := range programs.mutations {
		began := time.Now()
		err := m.mutate(ctx, c, programs, &programs.mutations[i])
		m.mutated.observe(c.policy.name, c.binding.name, time.Since(began), err)
		if err != nil {
			var status apierrors.APIStatus
			if errors.As(err, &status) {
				return err
			}
			m.fail(c.policy, c.binding, err, metav1.StatusReasonInvalid)
		}
	}
	after, err := m.a.Object.JSON(c.form.Kind)
	if err != nil {
		return err
	}
	if !bytes.Equal(before, after) {
		m.kept.requireAgain()
		m.a.Reinvoke()
	}
	if programs.reinvoked {
		m.kept.called[c.id()] = true
	}
	return nil
}

// mutate changes the object by one mutation, which sees what those before it did.
func (m *mutating) mutate(ctx context.Context, c *call, p *programs, mutation *mutation) error {
	in, err := match.Input(ctx, m.a, c.form, &m.namespaces)
	if err != nil {
		return err
	}
	in.Params = contentOf(c.param)
	evaluation := p.compiler.Evaluate(ctx, in, celpolicy.Budget)
	if mutation.applies {
		config, err := evaluation.Object(mutation.expression)
		if err != nil {
			return err
		}
		return m.apply(c.form, in.Object, config)
	}
	operations, err := evaluation.Patch(mutation.expression)
	if err != nil {
		return err
	}
	return m.patch(c.form, operations)
}

// apply merges an apply configuration into the object, as server-side apply merges it.
func (m *mutating) apply(form admission.Form, object, config map[string]any) error {
	config["apiVersion"], config["kind"] = form.Kind.GroupVersion().String(), form.Kind.Kind
	merged, err := m.a.Merge(form.Kind, object, config)
	if err != nil {
		return fmt.Errorf("error applying patch: %w", err)
	}
	data, err := json.Marshal(merged)
	if err != nil {
		return fmt.Errorf("error applying patch: %w", err)
	}
	return m.a.Object.Replace(form.Kind, data)
}

// patch applies a JSON patch to the object. A patch whose test fails does nothing.
func (m *mutating) patch(form admission.Form, operations []celpolicy.Operation) error {
	body := make([]map[string]any, len(operations))
	for i, o := range operations {
		body[i] = map[string]any{"op": o.Op, "path": o.Path}
		if o.From != "" {
			body[i]["from"] = o.From
		}
		if o.HasValue {
			body[i]["value"] = o.Value
		}
	}
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("JSONPath valueExpression evaluated to a type that could not marshal to JSON: %w", err)
	}
	change, _, err := patch.New(verb.JSONPatch, verb.Body{Data: data, Validation: metav1.FieldValidationIgnore})
	if err != nil {
		return fmt.Errorf("JSON Patch: %w", patch.Cause(err))
	}
	before, err := m.a.Object.JSON(form.Kind)
	if err != nil {
		return err
	}
	after, err := change.Apply(before)
	switch {
	case patch.IsFailedTest(err):
		return nil
	case err != nil:
		return fmt.Errorf("JSON Patch: %w", patch.Cause(err))
	}
	return m.a.Object.Replace(form.Kind, after)
}
