package webhookauth

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/access/meter"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Bounds of what an Authorizer keeps: kube-apiserver's, of what the requester chooses, and of the answer's reason.
const (
	keptRequest = 10_000
	keptReason  = 1_000
)

// Config configures an Authorizer.
type Config struct {
	// Version of the SubjectAccessReviews: v1 or v1beta1.
	Version string
	// AuthorizedTTL and UnauthorizedTTL are how long permissions and refusals are kept; 0 means not at all.
	AuthorizedTTL, UnauthorizedTTL time.Duration
	// OnFailure is the decision if the webhook or Match fails: NoOpinion or Deny.
	OnFailure auth.Decision
	// Match reports whether the webhook decides about a request. nil stands for a function that returns true.
	Match func(ctx context.Context, spec *AccessReviewSpec) (bool, error)
	// Metrics count the questions under Name; nil counts none.
	Metrics *meter.Reviews
	Name    string
	// Log receives the failures; nil means slog.Default().
	Log *slog.Logger
}

// Authorizer asks an endpoint with SubjectAccessReviews what users may do.
type Authorizer struct {
	Config

	endpoint *Endpoint
	kind     schema.GroupVersionKind
	answers  *cache[AccessReviewStatus]
}

var _ auth.RuleResolver = (*Authorizer)(nil)

// NewAuthorizer returns an authorizer that asks an endpoint.
func NewAuthorizer(endpoint *Endpoint, config Config) (*Authorizer, error) {
	if config.Version != v1 && config.Version != v1beta1 {
		return nil, errVersion("webhook authorizer", config.Version)
	}
	if config.Log == nil {
		config.Log = slog.Default()
	}
	return &Authorizer{
		Config: config, endpoint: endpoint, answers: newCache[AccessReviewStatus](),
		kind: schema.GroupVersionKind{
			Group: "authorization.k8s.io", Version: config.Version, Kind: "SubjectAccessReview",
		},
	}, nil
}

// Close closes the connections that no review uses.
func (w *Authorizer) Close() { w.endpoint.Close() }

// Authorize implements auth.Authorizer.
func (w *Authorizer) Authorize(ctx context.Context, a auth.Attributes) (auth.Decision, string, error) {
	spec := specOf(a)
	if w.Match != nil {
		if matches, err := w.Match(ctx, spec); err != nil {
			return w.OnFailure, "", err
		} else if !matches {
			return auth.NoOpinion, "", nil
		}
	}
	status, err := w.status(ctx, spec)
	if err != nil {
		w.Log.WarnContext(ctx, "a webhook could not be asked for a permission", "error", err)
		if w.OnFailure == auth.NoOpinion {
			w.Metrics.FailedOpen(ctx, w.Name, err)
		}
		return w.OnFailure, "", err
	}
	switch {
	case status.Denied && status.Allowed:
		return auth.Deny, status.Reason,
			errors.New("webhook subject access review returned both allow and deny response")
	case status.Denied:
		return auth.Deny, status.Reason, nil
	case status.Allowed:
		return auth.Allow, status.Reason, nil
	}
	return auth.NoOpinion, status.Reason, nil
}

// RulesFor implements auth.RuleResolver: webhooks list no rules.
func (*Authorizer) RulesFor(context.Context, *auth.User, string) (auth.Rules, bool, error) {
	return auth.Rules{}, false, errors.New("webhook authorizer does not support user rule resolution")
}

// status returns an answer that was kept, or asks.
func (w *Authorizer) status(ctx context.Context, spec *AccessReviewSpec) (AccessReviewStatus, error) {
	key := spec.key()
	if status, ok := w.answers.get(key); ok {
		return status, nil
	}
	question := accessQuestion{Spec: spec}
	question.SetGroupVersionKind(w.kind)
	if w.Version == v1beta1 {
		question.Spec = spec.inBeta()
	}
	tried := func(took time.Duration, err error) { w.Metrics.Evaluated(ctx, w.Name, took, err) }
	answer, err := ask[accessAnswer](ctx, w.endpoint, w.kind, question, tried)
	if err != nil {
		return AccessReviewStatus{}, err
	}
	ttl := w.UnauthorizedTTL
	if answer.Status.Allowed {
		ttl = w.AuthorizedTTL
	}
	if spec.chosen() < keptRequest && len(answer.Status.Reason) <= keptReason {
		w.answers.put(key, answer.Status, ttl)
	}
	return answer.Status, nil
}

type accessQuestion struct {
	metav1.TypeMeta `json:""`
	Spec            any `json:"spec"` // of the version
}

type accessAnswer struct {
	Status AccessReviewStatus `json:"status"`
}
