package webhookauth

import (
	"context"
	"errors"
	"slices"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/access/meter"
	"apigen.dev/runtime/internal/access/tokencache"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TokenReviewSpec and TokenReviewStatus have the wire form of authentication.k8s.io, v1 and v1beta1.
type TokenReviewSpec struct {
	Token     string   `json:"token,omitempty"`
	Audiences []string `json:"audiences,omitempty"`
}

// TokenReviewStatus is the answer to a TokenReviewSpec.
type TokenReviewStatus struct {
	Authenticated bool     `json:"authenticated,omitempty"`
	User          UserInfo `json:"user,omitzero"`
	Audiences     []string `json:"audiences,omitempty"`
	Error         string   `json:"error,omitempty"`
}

// UserInfo is the user of a token.
type UserInfo struct {
	Username string              `json:"username,omitempty"`
	UID      string              `json:"uid,omitempty"`
	Groups   []string            `json:"groups,omitempty"`
	Extra    map[string][]string `json:"extra,omitempty"`
}

type tokenQuestion struct {
	metav1.TypeMeta `json:""`
	Spec            TokenReviewSpec `json:"spec"`
}

type tokenAnswer struct {
	Status TokenReviewStatus `json:"status"`
}

// tokens asks an endpoint about each token.
type tokens struct {
	endpoint *Endpoint
	kind     schema.GroupVersionKind
}

// NewTokens returns an authenticator that sends TokenReviews of a version. It keeps answers, not failures, for ttl, and
// asks once for requests with the same token. metrics count the questions to its cache; nil counts none.
func NewTokens(
	endpoint *Endpoint, version string, ttl time.Duration, metrics *meter.TokenCache,
) (auth.TokenAuthenticator, error) {
	if version != v1 && version != v1beta1 {
		return nil, errVersion("authentication webhook", version)
	}
	asking := &tokens{endpoint, schema.GroupVersionKind{
		Group: "authentication.k8s.io", Version: version, Kind: "TokenReview",
	}}
	if ttl <= 0 {
		ttl = -1 // 0 would be the cache's own figure
	}
	return tokencache.New(asking, tokencache.Config{Success: ttl, Unknown: ttl, Metrics: metrics}), nil
}

// AuthenticateToken implements auth.TokenAuthenticator. A webhook that answers without audiences knows none: its tokens
// are for the audiences of the server.
func (t *tokens) AuthenticateToken(ctx context.Context, token string, audiences []string) (*auth.Identity, error) {
	own := auth.AccessFrom(ctx).Audiences
	if audiences == nil {
		audiences = own
	}
	question := tokenQuestion{Spec: TokenReviewSpec{Token: token, Audiences: audiences}}
	question.SetGroupVersionKind(t.kind)
	answer, err := ask[tokenAnswer](ctx, t.endpoint, t.kind, question, nil)
	if err != nil {
		return nil, err
	}
	return identityOf(&answer.Status, audiences, own)
}

// identityOf returns the identity that a webhook found, or nil without an error if the token isn't the webhook's, or is
// for other audiences.
func identityOf(status *TokenReviewStatus, audiences, own []string) (*auth.Identity, error) {
	valid := own
	if len(status.Audiences) > 0 {
		valid = status.Audiences
	}
	valid = slices.DeleteFunc(slices.Clone(audiences), func(a string) bool { return !slices.Contains(valid, a) })
	switch {
	case len(audiences) > 0 && len(valid) == 0:
		return nil, nil
	case !status.Authenticated && status.Error != "":
		return nil, errors.New(status.Error)
	case !status.Authenticated:
		return nil, nil
	case status.User.Username == "":
		return nil, errEmptyUser
	}
	user := status.User
	return &auth.Identity{
		User:      &auth.User{Name: user.Username, UID: user.UID, Groups: user.Groups, Extra: user.Extra},
		Audiences: valid,
	}, nil
}
