package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"apigen.dev/runtime/wire"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// WriteStatus writes err as a metav1.Status with its code, in the format that the request accepts, and in JSON where
// it accepts none that there is: an error is never hidden behind another. Errors that are no API status (also not
// wrapped) become 500 InternalError without their details, which whoever calls it logs. A status with retryAfterSeconds
// sets Retry-After.
func WriteStatus(w http.ResponseWriter, r *http.Request, err error) {
	status := statusOf(err)
	header := w.Header()
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		header.Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	// What was prepared for an answer that is not given.
	header.Del("Content-Encoding")
	header.Del("Content-Length")
	header.Del("Etag")
	header.Del("Expires")
	allow := allowFormat(statusFormats)
	if status.Code == http.StatusNotAcceptable {
		allow = textFormats // it is for people to read: no program asks for what it doesn't get
	}
	media, acceptErr := negotiate(r, allow)
	if acceptErr != nil {
		media = mediaType{pretty: wantsPretty(r)}
	}
	writeDocument(w, media, int(status.Code), status)
}

// maxText bounds each text of a Status: errors repeat what a client sent, which may be as large as a body.
const maxText = 16 << 10

// statusOf is the one place where errors become answers.
func statusOf(err error) *metav1.Status {
	var known apierrors.APIStatus
	var status metav1.Status
	switch {
	case errors.As(err, &known):
		status = known.Status()
	case isEnd(err):
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

// shortened is a status without the middle of texts that are too long. It leaves alone what the error has of it.
func shortened(status *metav1.Status) *metav1.Status {
	long := false
	texts(status, func(text *string) { long = long || len(*text) > maxText })
	if !long {
		return status
	}
	status = status.DeepCopy()
	texts(status, func(text *string) { *text = withoutMiddle(*text) })
	return status
}

// texts visits those texts of a status that may repeat what a client sent.
func texts(status *metav1.Status, visit func(*string)) {
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

// withoutMiddle shortens a text: messages begin with where something is wrong, and end with what it is.
func withoutMiddle(text string) string {
	const half = maxText / 2
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:half], "") + "..." + strings.ToValidUTF8(text[len(text)-half:], "")
}

// isEnd tells that a request ended before it was answered.
func isEnd(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// isWithheld tells errors of which statusOf keeps the text to itself.
func isWithheld(err error) bool {
	var known apierrors.APIStatus
	return !errors.As(err, &known) && !isEnd(err)
}

// writeDocument writes a small object that has no rendition: a Status, most of all.
func writeDocument(w http.ResponseWriter, media mediaType, code int, object message) {
	data, err := media.marshal(object)
	if err != nil {
		// Statuses and discovery documents are plain data; this cannot happen short of a bug.
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", media.contentType())
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(code)
	// An error here is a client that went away.
	_, _ = w.Write(data)
}

// message is a small object of metav1.
type message interface {
	runtime.Object
	Marshal() ([]byte, error)
}

// marshal encodes a small object.
func (m mediaType) marshal(object message) ([]byte, error) {
	switch m.format {
	case formatYAML:
		data, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		return toYAML(data)
	case formatCBOR:
		data, err := direct.Marshal(object)
		return append([]byte(wire.SelfDescribed), data...), err
	case formatProtobuf:
		return enveloped(object)
	}
	var data []byte
	var err error
	if m.pretty {
		data, err = json.MarshalIndent(object, "", "  ")
	} else {
		data, err = json.Marshal(object)
	}
	return append(data, '\n'), err
}

// enveloped is a small object in protobuf.
func enveloped(object message) ([]byte, error) {
	data, err := object.Marshal()
	apiVersion, kind := object.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	return wire.Enveloped(wire.EnvelopeHead(kind, apiVersion), data), err
}
