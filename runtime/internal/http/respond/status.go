// Package respond writes the answers that aren't made of renditions: statuses, small documents, and documents that are
// kept encoded. It also has what such answers share with the answers of resources: compression, the time that a client
// has to read, ETags and the header Warning.
//
// It may know packages encoder, jsondoc, negotiation and trail and what those know. Filters use it as well as the
// endpoint.
package respond

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"apigen.dev/runtime/internal/audit/trail"
	"apigen.dev/runtime/internal/http/negotiation"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// ErrNotFound is the answer 404 to a path that the server doesn't serve. It has empty details: clients look there
	// for the name of the object, which only the answer for an object that doesn't exist has.
	ErrNotFound = apierrors.NewGenericServerResponse(http.StatusNotFound, "", schema.GroupResource{}, "", "", 0, false)
	// ErrMethodNotAllowed is the answer 405 to a method that a path doesn't have.
	ErrMethodNotAllowed = apierrors.NewGenericServerResponse(
		http.StatusMethodNotAllowed, "", schema.GroupResource{}, "", "", 0, false)
)

// Error writes err as a metav1.Status with its code. The Status is in the format that the request accepts, and in JSON
// if the request accepts no format that the server has: the server never hides one error behind another. Error answers
// an error that neither is nor wraps an API status with 500 InternalError and leaves out its text, which the caller
// logs (see IsWithheld). A status with retryAfterSeconds sets the header Retry-After.
func Error(w http.ResponseWriter, r *http.Request, err error) {
	status := StatusOf(err)
	header := w.Header()
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		header.Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	// The handler may have set these for the answer that the error replaces.
	header.Del("Content-Encoding")
	header.Del("Content-Length")
	header.Del("Etag")
	header.Del("Expires")
	allow := negotiation.AllowFormat(negotiation.StatusFormats)
	if status.Code == http.StatusNotAcceptable {
		allow = negotiation.TextFormats // a person reads it: no program asks for a format that it doesn't get
	}
	media, acceptErr := negotiation.Output(r, allow)
	if acceptErr != nil {
		media = negotiation.MediaType{Pretty: negotiation.WantsPretty(r)}
	}
	record(r, status, err)
	Document(w, media, int(status.Code), status)
}

// record records the Status of an error in the audit of the request.
func record(r *http.Request, status *metav1.Status, err error) {
	var quoting interface{ Unquoted() string }
	unquoted := ""
	if errors.As(err, &quoting) {
		unquoted = quoting.Unquoted()
	}
	trail.RecordFrom(r.Context()).SetStatus(status, unquoted)
}

// Status writes a Status, which the audit of the request records.
func Status(w http.ResponseWriter, r *http.Request, media negotiation.MediaType, code int, status *metav1.Status) {
	trail.RecordFrom(r.Context()).SetStatus(status, "")
	Document(w, media, code, status)
}

// maxText bounds each text of a Status. An error repeats what a client sent, which may be as large as a body.
const maxText = 16 << 10

// StatusOf returns the Status with which the server answers an error. All errors become answers here.
func StatusOf(err error) *metav1.Status {
	var known apierrors.APIStatus
	var status metav1.Status
	switch {
	case errors.As(err, &known):
		status = known.Status()
	case isContextEnd(err):
		status = apierrors.NewTimeoutError("the request ended before it was answered", 0).Status()
	default:
		status = apierrors.NewInternalError(errors.New("the server's log tells more")).Status()
	}
	if status.Status == "" {
		status.Status = metav1.StatusFailure
	}
	if status.Code < 200 || status.Code > 599 {
		status.Code = http.StatusInternalServerError
		if status.Status == metav1.StatusSuccess {
			status.Code = http.StatusOK
		}
	}
	status.Kind, status.APIVersion = "Status", "v1"
	return shortened(&status)
}

// IsWithheld reports whether StatusOf leaves out the text of an error.
func IsWithheld(err error) bool {
	var known apierrors.APIStatus
	return !errors.As(err, &known) && !isContextEnd(err)
}

// isContextEnd reports whether a request ended before the server answered it.
func isContextEnd(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// shortened returns a status with texts of at most maxText. It doesn't change the error's own details.
func shortened(status *metav1.Status) *metav1.Status {
	long := false
	visitTexts(status, func(text *string) { long = long || len(*text) > maxText })
	if !long {
		return status
	}
	status = status.DeepCopy()
	visitTexts(status, func(text *string) { *text = withoutMiddle(*text) })
	return status
}

// visitTexts visits the texts of a status that may repeat what a client sent.
func visitTexts(status *metav1.Status, visit func(*string)) {
	visit(&status.Message)
	details := status.Details
	if details == nil {
		return
	}
	visit(&details.Name)
	visit(&details.Group)
	visit(&details.Kind)
	for i := range details.Causes {
		visit(&details.Causes[i].Message)
		visit(&details.Causes[i].Field)
	}
}

// withoutMiddle cuts out the middle of a long text: a message says at its beginning where something is wrong, and at
// its end what is wrong.
func withoutMiddle(text string) string {
	const half = maxText / 2
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:half], "") + "..." + strings.ToValidUTF8(text[len(text)-half:], "")
}
