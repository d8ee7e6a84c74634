// Package review sends reviews to webhooks: objects such as TokenReview and AdmissionReview, which hold a question and
// come back with its answer. It knows no other package.
package review

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
)

// Post sends a question, which is in JSON, and returns the body of the answer. The error of an answer with a code of
// failure, or with a Status about one, is an API status. ctx and the client bound the call.
func Post(ctx context.Context, client *http.Client, url string, question []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(question))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, */*")
	response, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // it was opened for reading
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the answer of the webhook: %w", err)
	}
	if response.StatusCode < http.StatusOK || response.StatusCode > http.StatusPartialContent {
		return nil, failure(response, body)
	}
	if len(body) == 0 {
		return nil, fmt.Errorf("0-length response with status code: %d and content type: %s", response.StatusCode,
			cmp.Or(response.Header.Get("Content-Type"), "application/json"))
	}
	return body, nil
}

// failure is the error of an answer with a code of failure: the Status in the body, or one made of the code.
func failure(response *http.Response, body []byte) error {
	if status := statusIn(body); status != nil {
		return status
	}
	message := "unknown"
	if format := response.Header.Get("Content-Type"); format == "" || strings.HasPrefix(format, "text/") {
		message = strings.TrimSpace(string(body[:min(len(body), 2<<10)]))
	}
	retryAfter, _ := strconv.Atoi(response.Header.Get("Retry-After")) // 0 if it is none
	return apierrors.NewGenericServerResponse(response.StatusCode, http.MethodPost, schema.GroupResource{}, "", message,
		max(retryAfter, 0), true)
}

// statusIn returns the error of a body that is a Status about a failure, or nil.
func statusIn(body []byte) error {
	var status metav1.Status
	err := kjson.UnmarshalCaseSensitivePreserveInts(body, &status)
	if err == nil && status.Kind == "Status" && status.APIVersion == "v1" && status.Status != metav1.StatusSuccess {
		return &apierrors.StatusError{ErrStatus: status}
	}
	return nil
}

// Decode decodes an answer of a kind into a pointer. An answer without kind and version is taken for the expected one,
// as kube-apiserver does.
func Decode(body []byte, kind schema.GroupVersionKind, into any) error {
	if status := statusIn(body); status != nil {
		return status
	}
	var is metav1.TypeMeta
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, &is); err != nil {
		return fmt.Errorf("the answer of the webhook is no JSON object: %w", err)
	}
	version, name := kind.ToAPIVersionAndKind()
	if cmp.Or(is.APIVersion, version) != version || cmp.Or(is.Kind, name) != name {
		return fmt.Errorf("the webhook answered with a %.100q of %.100q, want a %s of %s", is.Kind, is.APIVersion, name,
			version)
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, into); err != nil {
		return fmt.Errorf("the answer of the webhook: %w", err)
	}
	return nil
}
