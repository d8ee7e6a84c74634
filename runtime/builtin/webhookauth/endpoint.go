// Package webhookauth asks other servers who a user is, with TokenReviews, and what a user may do, with
// SubjectAccessReviews: those that an operator names (the features Authentication and Authorization), or the API server
// of a cluster. It speaks kube-apiserver's protocol, with its retries and its failures.
//
// It may know packages auth, access/meter, access/tokencache, kubeconfig, registry, request, review and server.
package webhookauth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"apigen.dev/runtime/internal/host/kubeconfig"
	"apigen.dev/runtime/internal/review"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
)

// answerLimit bounds the size of an answer in bytes.
const answerLimit = 1 << 20

// defaultTimeout bounds a try, with the reading of the answer, if nothing else does.
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

// Through has the reviews sent through what wrap returns for the present transport. It is called before the first one.
func (e *Endpoint) Through(wrap func(http.RoundTripper) http.RoundTripper) {
	e.client.Transport = wrap(e.client.Transport)
}

// Close closes the connections that no review uses.
func (e *Endpoint) Close() { e.client.CloseIdleConnections() }

// ask sends a review and decodes the answer, which must be of the same kind. It repeats the review
// after errors that may pass, until ctx ends, and calls tried after each try, if it isn't nil.
func ask[A any](
	ctx context.Context, e *Endpoint, kind schema.GroupVersionKind, asked any, tried func(time.Duration, error),
) (answer A, err error) {
	question, err := json.Marshal(asked)
	if err != nil {
		return answer, err
	}
	waited := wait.ExponentialBackoffWithContext(ctx, e.backoff, func(ctx context.Context) (bool, error) {
		var body []byte
		begin := time.Now()
		if body, err = e.post(ctx, question); err == nil {
			answer = *new(A)
			err = review.Decode(body, kind, &answer)
		}
		if tried != nil {
			tried(time.Since(begin), err)
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
	return review.Post(ctx, e.client, e.url, question)
}

// mayPass reports whether a review is worth another try.
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
