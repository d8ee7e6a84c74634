package store

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"apigen.dev/runtime/internal/state/cache"
	"apigen.dev/runtime/storage"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	expiredList = "The resourceVersion for the provided list is too old."
	// These are the messages of kube-apiserver.
	expiredContinue = "The provided continue parameter is too old to display a consistent list result. " +
		"You can start a new list without the continue parameter."
	resumeContinue = "The provided continue parameter is too old to display a consistent list result. " +
		"You can start a new list without the continue parameter, or use the continue token in this response to " +
		"retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - " +
		"objects that were created, modified, or deleted between the time the first chunk was returned " +
		"and now may show up in the list."
	// OptimisticLock is the message of a conflict with another write.
	OptimisticLock = "the object has been modified; please apply your changes to the latest version and try again"
	// RetryAfterSeconds is the retry hint of errors after which a client may safely repeat its request.
	RetryAfterSeconds = 1
)

// Error is an API status with its cause, the error of storage or cache: errors.Is and errors.As find both.
type Error struct {
	*apierrors.StatusError
	cause error
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// WithCause returns a status that wraps its cause.
func WithCause(status *apierrors.StatusError, cause error) error {
	return &Error{StatusError: status, cause: cause}
}

// ToStatus maps an error of storage, cache or a context to the status that the client gets, and returns an error that
// is a status as it is. No other function maps these errors.
func ToStatus(err error, gr schema.GroupResource, verb, name string) error {
	if err == nil {
		return nil
	}
	var known apierrors.APIStatus
	if errors.As(err, &known) {
		return err
	}
	return WithCause(statusOf(err, gr, verb, name), err)
}

func statusOf(err error, gr schema.GroupResource, verb, name string) *apierrors.StatusError {
	var conflict *storage.ConflictError
	var compacted *storage.CompactedError
	switch {
	case errors.As(err, &conflict):
		return apierrors.NewConflict(gr, name, errors.New(OptimisticLock))
	case errors.As(err, &compacted), errors.Is(err, cache.ErrExpired):
		return apierrors.NewResourceExpired(expiredList)
	case errors.Is(err, storage.ErrUnknownOutcome):
		// No hint to retry: the backend may have done the write, and a second one may do harm.
		return apierrors.NewTimeoutError(fmt.Sprintf("the %s of %s may or may not have been done: "+
			"read the object before trying again", verb, subject(gr, name)), 0)
	case errors.Is(err, cache.ErrCorrupt):
	case errors.Is(err, storage.ErrTooLarge):
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("%s %q is larger than storage takes", gr, name))
	case errors.Is(err, storage.ErrNoSpace):
		return noSpace(gr, name)
	case errors.Is(err, storage.ErrUnavailable), errors.Is(err, storage.ErrClosed),
		errors.Is(err, cache.ErrNotReady), errors.Is(err, cache.ErrLagging):
		return unavailable(err, gr, verb, name)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return apierrors.NewTimeoutError(fmt.Sprintf("the %s of %s did not end in time", verb, subject(gr, name)), 0)
	}
	return apierrors.NewInternalError(err)
}

// noSpace returns 507, without a hint to retry: the backend gets no space by waiting.
func noSpace(gr schema.GroupResource, name string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInsufficientStorage, Reason: ReasonNoSpace,
		Message: fmt.Sprintf("%s %q was not written: storage has no space left. Reads and deletions are served; "+
			"/readyz tells an administrator what to do", gr, name),
		Details: &metav1.StatusDetails{Group: gr.Group, Kind: gr.Resource, Name: name},
	}}
}

// ReasonNoSpace is the reason of a 507: the backend has no space left, and wrote nothing.
const ReasonNoSpace metav1.StatusReason = "InsufficientStorage"

// unavailable returns 503 with a hint to retry: the backend wrote nothing. The message names the object as its client
// knows it; only the cause has keys and addresses of storage.
func unavailable(err error, gr schema.GroupResource, verb, name string) *apierrors.StatusError {
	reason := storage.ErrUnavailable
	for _, known := range []error{storage.ErrClosed, cache.ErrNotReady, cache.ErrLagging} {
		if errors.Is(err, known) && !errors.Is(err, storage.ErrUnavailable) {
			reason = known
		}
	}
	status := apierrors.NewServiceUnavailable(fmt.Sprintf("the %s of %s was not done: %s", verb, subject(gr, name),
		reason))
	status.ErrStatus.Details = &metav1.StatusDetails{Group: gr.Group, Kind: gr.Resource, Name: name,
		RetryAfterSeconds: RetryAfterSeconds}
	return status
}

// subject names a resource, or an object of it if there is a name.
func subject(gr schema.GroupResource, name string) string {
	if name == "" {
		return gr.String()
	}
	return fmt.Sprintf("%s %q", gr, name)
}

func tooLargeVersion(wanted, current int64) error {
	status := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", wanted, current),
		RetryAfterSeconds)
	status.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version",
	}}
	return WithCause(status, storage.ErrFutureRevision)
}

func expiredWatch(wanted int64, cause error) error {
	message := "too old resource version: " + strconv.FormatInt(wanted, 10)
	var compacted *storage.CompactedError
	if errors.As(cause, &compacted) && compacted.Revision > 0 {
		message += fmt.Sprintf(" (%d)", compacted.Revision-1)
	}
	return WithCause(apierrors.NewResourceExpired(message), cause)
}

// ParseVersion parses a resourceVersion; "" is 0.
func ParseVersion(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return 0, InvalidVersion(s)
	}
	return int64(n), nil
}

// InvalidVersion returns the error for a resourceVersion that is not a number, or out of range.
func InvalidVersion(s string) error {
	return apierrors.NewBadRequest("invalid resource version: " + VersionFault(s).Error())
}

// VersionFault describes what is wrong with a resourceVersion.
func VersionFault(s string) *field.Error {
	s = Excerpt(s)
	_, err := strconv.ParseUint(s, 10, 63)
	if err == nil {
		err = errors.New("out of range")
	}
	return field.Invalid(field.NewPath("resourceVersion"), s, err.Error())
}

// Excerpt shortens text of a client for a message.
func Excerpt(text string) string {
	const most = 64
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}
