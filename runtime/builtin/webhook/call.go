package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/internal/review"
	admissionv1 "k8s.io/api/admission/v1"
	registration "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// failedCall is the error of a hook that could not be asked, or whose answer is none. Such a failure lets the write
// pass if the hook says so.
type failedCall struct {
	hook   string
	reason error
	// code is that of HTTP, for metrics.
	code int32
}

func (e *failedCall) Error() string {
	return fmt.Sprintf("failed calling webhook %q: %v", e.hook, e.reason)
}

func (e *failedCall) Unwrap() error { return e.reason }

// rejection is the error of a hook that refuses a write.
type rejection struct{ apierrors.StatusError }

// ask sends a hook the question, and returns its answer if that is valid. Errors are failedCalls, or statuses.
func (p *plugin) ask(
	ctx context.Context, h *hook, a *admission.Attributes, form admission.Form, mutating bool,
) (*admissionv1.AdmissionResponse, error) {
	if a.DryRun {
		switch effects := h.SideEffects; {
		case effects == nil:
			return nil, &failedCall{h.Name, errors.New("Webhook SideEffects is nil"), http.StatusBadRequest}
		case *effects != registration.SideEffectClassNone && *effects != registration.SideEffectClassNoneOnDryRun:
			return nil, apierrors.NewBadRequest(
				fmt.Sprintf("admission webhook %q does not support dry run", h.Name))
		}
	}
	q, err := newQuestion(h, a, form)
	if err != nil {
		err = fmt.Errorf("could not create admission objects: %w", err)
		return nil, &failedCall{h.Name, err, http.StatusBadRequest}
	}
	client, err := p.client(h)
	if err != nil {
		err = fmt.Errorf("could not get REST client: %w", err)
		return nil, &failedCall{h.Name, err, http.StatusInternalServerError}
	}
	body, err := client.post(ctx, h, q.json)
	var answered admissionv1.AdmissionReview
	if err == nil {
		err = review.Decode(body, q.kind, &answered)
	}
	if err != nil {
		return nil, &failedCall{h.Name, fmt.Errorf("failed to call webhook: %w", err), codeOf(err)}
	}
	answer, err := q.check(&answered, mutating)
	if err != nil {
		err = fmt.Errorf("received invalid webhook response: %w", err)
		return nil, &failedCall{h.Name, err, http.StatusServiceUnavailable}
	}
	return answer, nil
}

func codeOf(err error) int32 {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status().Code
	}
	return http.StatusServiceUnavailable
}

// post sends a question, and tells the webhook in the URL how long the server waits.
func (c *client) post(ctx context.Context, h *hook, question []byte) ([]byte, error) {
	if h.TimeoutSeconds != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(*h.TimeoutSeconds)*time.Second)
		defer cancel()
	}
	u := *c.url
	if deadline, ok := ctx.Deadline(); ok {
		query := u.Query()
		query.Set("timeout", strconv.Itoa(int(math.Ceil(time.Until(deadline).Seconds())))+"s")
		u.RawQuery = query.Encode()
	}
	return review.Post(ctx, c.Client, u.String(), question)
}

// reject returns the error of an answer that refuses the write.
func reject(h *hook, result *metav1.Status) error {
	status := metav1.Status{Status: metav1.StatusFailure}
	if result != nil {
		status = *result
	}
	status.Code = max(status.Code, http.StatusBadRequest)
	if status.Status == "" || status.Status == metav1.StatusSuccess {
		status.Status = metav1.StatusFailure
	}
	said := cmp.Or(status.Message, string(status.Reason))
	status.Message = fmt.Sprintf("admission webhook %q denied the request", h.Name)
	if said == "" {
		status.Message += " without explanation"
	} else {
		status.Message += ": " + said
	}
	return &rejection{apierrors.StatusError{ErrStatus: status}}
}

// final returns what the client gets for the error of a hook.
func final(err error) error {
	var failed *failedCall
	var refused *rejection
	switch {
	case errors.As(err, &failed):
		return apierrors.NewInternalError(failed)
	case errors.As(err, &refused):
		return &refused.StatusError
	}
	return err
}

// passes reports whether a write goes on although a hook failed, and records it.
func (p *plugin) passes(ctx context.Context, h *hook, err error) bool {
	var failed *failedCall
	if !errors.As(err, &failed) {
		return false
	}
	p.log.WarnContext(ctx, "a webhook could not be called", "webhook", h.Name, "configuration", h.configuration,
		"ignored", h.ignoresFailures(), "error", failed.reason)
	return h.ignoresFailures()
}

// errEnded is the error of a request whose time is over.
func errEnded() error {
	return apierrors.NewTimeoutError("request did not complete within requested timeout", 0)
}
