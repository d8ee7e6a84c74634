package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/internal/object/patch"
	"apigen.dev/runtime/internal/verb"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The keys of the audit annotations of mutating webhooks begin so.
const (
	mutated           = "mutation.webhook.admission.k8s.io/"
	patched           = "patch.webhook.admission.k8s.io/"
	failedOpenMutated = "failed-open." + mutated
)

// passes are what the second pass of the mutating plug-ins needs to know of the first.
type passes struct {
	// called are the hooks to be called again after the next change, again those to be called in the second pass.
	called, again map[string]bool
	// left is the object as the last hook left it.
	left []byte
}

func (p *passes) requireAgain() {
	for id := range p.called {
		p.again[id] = true
	}
	clear(p.called)
}

const pluginName = "MutatingAdmissionWebhook"

func passesOf(a *admission.Attributes) *passes {
	if kept, ok := a.ReinvocationValue(pluginName).(*passes); ok {
		return kept
	}
	p := &passes{called: map[string]bool{}, again: map[string]bool{}}
	a.SetReinvocationValue(pluginName, p)
	return p
}

// admit calls the mutating webhooks one after the other, in the order of their configurations. In the second pass it
// calls those again that ask for it and that have not seen the last change.
func (f *Feature) admit(ctx context.Context, a *admission.Attributes) error {
	known, err := f.mutating.wait(ctx)
	if err != nil {
		return err
	}
	if len(known.index.Candidates(a)) == 0 {
		return nil
	}
	kept := passesOf(a)
	if a.IsReinvoked() && len(kept.called) > 0 && a.Object != nil {
		now, err := a.Object.JSON(a.Kind)
		if err != nil {
			return err
		}
		if !bytes.Equal(now, kept.left) {
			kept.requireAgain()
		}
	}
	for i, h := range known.concerned(a) {
		form, matches, err := f.calls(ctx, h, a, typeAdmit)
		if err != nil {
			return err
		}
		if !matches || a.IsReinvoked() && !kept.again[h.id] {
			continue
		}
		if err := f.callMutating(ctx, &mutation{hook: h, index: i, form: form, a: a, passes: kept}); err != nil {
			return err
		}
	}
	if len(kept.called) > 0 && a.Object != nil {
		kept.left, err = a.Object.JSON(a.Kind)
	}
	return err
}

// mutation is one call of a mutating webhook.
type mutation struct {
	hook   *hook
	index  int
	form   admission.Form
	a      *admission.Attributes
	passes *passes
}

// key returns the key of an audit annotation.
func (m *mutation) key(prefix string) string {
	round := 0
	if m.a.IsReinvoked() {
		round = 1
	}
	return fmt.Sprintf("%sround_%d_index_%d", prefix, round, m.index)
}

// annotation is the value of an audit annotation.
type annotation struct {
	Configuration string          `json:"configuration"`
	Webhook       string          `json:"webhook"`
	Mutated       *bool           `json:"mutated,omitempty"`
	Patch         json.RawMessage `json:"patch,omitempty"`
	PatchType     string          `json:"patchType,omitempty"`
}

func (m *mutation) value(note annotation) string {
	note.Configuration, note.Webhook = m.hook.configuration, m.hook.Name
	text, err := json.Marshal(note)
	if err != nil {
		return "" // the patch was decoded before
	}
	return string(text)
}

func (f *Feature) callMutating(ctx context.Context, m *mutation) error {
	began := time.Now()
	changed, err := f.mutating.mutate(ctx, m)
	m.a.Annotate(ctx, m.key(mutated), m.value(annotation{Mutated: &changed}))
	f.metrics.observe(m.hook, typeAdmit, m.a, time.Since(began), err)
	if changed {
		m.passes.requireAgain()
		m.a.Reinvoke()
	}
	if m.hook.reinvoked {
		m.passes.called[m.hook.id] = true
	}
	if err == nil || !f.mutating.passes(ctx, m.hook, err) {
		return final(err)
	}
	f.metrics.failOpen.WithLabelValues(m.hook.Name, typeAdmit).Inc()
	m.a.Annotate(ctx, m.key(failedOpenMutated), m.hook.Name)
	if ctx.Err() != nil {
		return errEnded()
	}
	return nil
}

// mutate calls the hook, and changes the object as it answers.
func (p *plugin) mutate(ctx context.Context, m *mutation) (changed bool, err error) {
	answer, err := p.ask(ctx, m.hook, m.a, m.form, true)
	if err != nil {
		return false, err
	}
	note(ctx, m.hook, m.a, answer)
	if !answer.Allowed {
		return false, reject(m.hook, answer.Result)
	}
	if len(answer.Patch) == 0 {
		return false, nil
	}
	return m.apply(ctx, answer)
}

// apply patches the object.
func (m *mutation) apply(ctx context.Context, answer *admissionv1.AdmissionResponse) (changed bool, err error) {
	var operations []json.RawMessage
	err = json.Unmarshal(answer.Patch, &operations)
	var change patch.Patch
	if err == nil {
		body := verb.Body{Data: answer.Patch, Validation: metav1.FieldValidationIgnore}
		change, _, err = patch.New(verb.JSONPatch, body)
	}
	if err != nil {
		err = fmt.Errorf("received undecodable patch in webhook response: %w", err)
		return false, &failedCall{m.hook.Name, err, http.StatusServiceUnavailable}
	}
	switch {
	case len(operations) == 0:
		return false, nil
	case m.a.Object == nil:
		return false, apierrors.NewInternalError(fmt.Errorf("admission webhook %q attempted to modify the object, "+
			"which is not supported for this operation", m.hook.Name))
	case *answer.PatchType != admissionv1.PatchTypeJSONPatch:
		err = fmt.Errorf("unsupported patch type %q", *answer.PatchType)
		return false, &failedCall{m.hook.Name, err, http.StatusBadRequest}
	}
	before, err := m.a.Object.JSON(m.form.Kind)
	if err != nil {
		return false, err
	}
	after, err := change.Apply(before)
	if err == nil {
		err = m.a.Object.Replace(m.form.Kind, after)
	}
	if err != nil {
		return false, apierrors.NewInternalError(patch.Cause(err))
	}
	m.a.AnnotateRequest(ctx, m.key(patched), m.value(annotation{
		Patch: answer.Patch, PatchType: string(admissionv1.PatchTypeJSONPatch),
	}))
	after, err = m.a.Object.JSON(m.form.Kind)
	return !bytes.Equal(before, after), err
}
