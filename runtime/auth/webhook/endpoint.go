// Package webhook asks other servers who a user is, with TokenReviews, and what a user may do, with
// SubjectAccessReviews: those that an operator names (the features Authentication and Authorization), or the API server
// of a cluster. It speaks kube-apiserver's protocol, with its retries and its failures.
//
// It may know packages auth, auth/tokencache, kubeconfig, registry, request and server.
package webhook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"apigen.dev/runtime/kubeconfig"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	kjson "sigs.k8s.io/json"
)

// answerLimit bounds the size of an answer in bytes.
const answerLimit = 1 << 20

// defaultTimeout bounds a try, with the reading of the answer, where nothing else does.
const defaultTimeout = 30 * time.Second

// Endpoint is where reviews are sent.
type Endpoint struct {
	client  *http.Client
	url     string
	timeout time.Duration
	backoff wait.Backoff
}

// NewEndpoint makes an endpoint of a kubeconfig. path is added to the path of its server. timeout bounds each try; 0
// means 30 seconds.
func NewEndpoint(config *kubeconfig.Config, path string, timeout time.Duration, log *slog.Logger) (*Endpoint, error) {
	client, err := config.Client(log, answerLimit)
	if err != nil {
		return nil, err
	}
	timeout = cmp.Or(timeout, defaultTimeout)
	address := config.Server
	if path != "" {
		address = address.JoinPath(path)
	}
	return &Endpoint{
		client: client, timeout: timeout,
		url:     address.String() + "?" + url.Values{"timeout": {timeout.String()}}.Encode(),
		backoff: wait.Backoff{Duration: 500 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 5},
	}, nil
}

// Close closes the connections that no review uses.
func (e *Endpoint) Close() { e.client.CloseIdleConnections() }

// ask sends a review and decodes the answer, which must be of the same kind. It repeats the review
// after errors that may pass, until ctx ends.
func ask[A any](ctx context.Context, e *Endpoint, kind schema.GroupVersionKind, review any) (answer A, err error) {
	question, err := json.Marshal(review)
	if err != nil {
		return answer, err
	}
	waited := wait.ExponentialBackoffWithContext(ctx, e.backoff, func(ctx context.Context) (bool, error) {
		var body []byte
		if body, err = e.post(ctx, question); err == nil {
			answer, err = decode[A](body, kind)
		}
		return !mayPass(err), nil
	})
	if err == nil && waited != nil {
		err = fmt.Errorf("webhook call failed: %w", waited)
	}
	return answer, err
}

// post sends a question once.
func (e *Endpoint) post(ctx context.Context, question []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(question))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, */*")
	response, err := e.client.Do(r)
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
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/") {
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

// decode decodes an answer. An answer without kind and version is taken for the expected one, as kube-apiserver does.
func decode[A any](body []byte, kind schema.GroupVersionKind) (answer A, err error) {
	if status := statusIn(body); status != nil {
		return answer, status
	}
	var is metav1.TypeMeta
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, &is); err != nil {
		return answer, fmt.Errorf("the answer of the webhook is no JSON object: %w", err)
	}
	version, name := kind.ToAPIVersionAndKind()
	if cmp.Or(is.APIVersion, version) != version || cmp.Or(is.Kind, name) != name {
		return answer, fmt.Errorf("the webhook answered with a %.100q of %.100q, want a %s of %s", is.Kind,
			is.APIVersion,
			name, version)
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, &answer); err != nil {
		return answer, fmt.Errorf("the answer of the webhook: %w", err)
	}
	return answer, nil
}

// mayPass tells whether a review is worth another try.
func mayPass(err error) bool {
	if err == nil {
		return false
	}
	_, delayed := apierrors.SuggestsClientDelay(err)
	return delayed || utilnet.IsConnectionReset(err) || utilnet.IsHTTP2ConnectionLost(err) ||
		apierrors.IsInternalError(err) || apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err)
}

// errVersion is the error of a version of reviews that kube-apiserver doesn't have.
func errVersion(what, version string) error {
	return fmt.Errorf("unsupported %s version %q, supported versions are %q, %q", what, version, v1, v1beta1)
}

// The versions of reviews.
const (
	v1      = "v1"
	v1beta1 = "v1beta1"
)

var errEmptyUser = errors.New("the webhook authenticated a user without a name")
