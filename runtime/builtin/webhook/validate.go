package webhook

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"apigen.dev/runtime/admission"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// failedOpen begins the keys of the audit annotations that name validating webhooks whose failure was ignored.
const failedOpen = "failed-open.validating.webhook.admission.k8s.io/"

// validation is one call of a validating webhook.
type validation struct {
	hook   *hook
	form   admission.Form
	answer *admissionv1.AdmissionResponse
	err    error
}

// validate calls all validating webhooks at once. The error is that of the first in their order.
func (f *Feature) validate(ctx context.Context, a *admission.Attributes) error {
	known, err := f.validating.wait(ctx)
	if err != nil {
		return err
	}
	var calls []*validation
	for _, h := range known.concerned(a) {
		form, matches, err := f.calls(ctx, h, a, typeValidating)
		if err != nil {
			return err
		}
		if !matches {
			continue
		}
		// The objects keep their forms, which the calls then share.
		if err := encode(a, form); err != nil {
			return err
		}
		calls = append(calls, &validation{hook: h, form: form})
	}
	if len(calls) == 0 {
		return nil
	}
	if ctx.Err() != nil {
		return errEnded()
	}
	var all sync.WaitGroup
	for _, call := range calls {
		all.Go(func() { f.callValidating(ctx, a, call) })
	}
	all.Wait()
	for i, call := range calls {
		if call.answer != nil {
			note(ctx, call.hook, a, call.answer)
		}
		switch {
		case call.err == nil:
		case f.validating.passes(ctx, call.hook, call.err):
			f.metrics.failOpen.WithLabelValues(call.hook.Name, typeValidating).Inc()
			a.Annotate(ctx, fmt.Sprintf("%sround_0_index_%d", failedOpen, i), call.hook.Name)
		case err == nil:
			err = final(call.err)
		}
	}
	return err
}

// encode has both objects encode themselves in a form.
func encode(a *admission.Attributes, form admission.Form) error {
	for _, o := range []admission.Object{a.Object, a.Old} {
		if _, err := jsonOf(o, form.Kind); err != nil {
			return apierrors.NewInternalError(err)
		}
	}
	return nil
}

func (f *Feature) callValidating(ctx context.Context, a *admission.Attributes, call *validation) {
	began := time.Now()
	defer func() {
		if panicked := recover(); panicked != nil {
			f.validating.log.ErrorContext(ctx, "the call of a webhook panicked", "webhook", call.hook.Name,
				"panic", panicked, "stack", string(debug.Stack()))
			call.err = apierrors.NewInternalError(
				fmt.Errorf("ValidatingAdmissionWebhook/%v has panicked: %v", call.hook.Name, panicked))
		}
		f.metrics.observe(call.hook, typeValidating, a, time.Since(began), call.err)
	}()
	call.answer, call.err = f.validating.ask(ctx, call.hook, a, call.form, false)
	if call.err == nil && !call.answer.Allowed {
		call.err = reject(call.hook, call.answer.Result)
	}
}
