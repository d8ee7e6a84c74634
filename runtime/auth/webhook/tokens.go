package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"apigen.dev/runtime/auth"
	"golang.org/x/sync/singleflight"
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

// sharedTimeout bounds a review that several requests wait for.
const sharedTimeout = 30 * time.Second

// Tokens is a TokenAuthenticator that asks an endpoint. It keeps answers, not failures, and asks once for requests with
// the same token.
type Tokens struct {
	endpoint *Endpoint
	kind     schema.GroupVersionKind
	ttl      time.Duration
	secret   []byte
	answers  *cache[*auth.Identity]
	reviews  singleflight.Group
}

// NewTokens returns an authenticator that sends TokenReviews of a version, and keeps their answers for ttl.
func NewTokens(endpoint *Endpoint, version string, ttl time.Duration) (*Tokens, error) {
	if version != v1 && version != v1beta1 {
		return nil, errVersion("authentication webhook", version)
	}
	secret := make([]byte, sha256.Size)
	_, _ = rand.Read(secret) // it never fails
	return &Tokens{
		endpoint: endpoint, ttl: ttl, secret: secret, answers: newCache[*auth.Identity](),
		kind: schema.GroupVersionKind{Group: "authentication.k8s.io", Version: version, Kind: "TokenReview"},
	}, nil
}

// AuthenticateToken implements auth.TokenAuthenticator. A webhook that answers without audiences knows none: its tokens
// are for the audiences of the server.
func (t *Tokens) AuthenticateToken(ctx context.Context, token string, audiences []string) (*auth.Identity, error) {
	own := auth.AccessFrom(ctx).Audiences
	if audiences == nil {
		audiences = own
	}
	key := t.digest(token, audiences)
	if identity, ok := t.answers.get(key); ok {
		return identity, nil
	}
	asking := t.reviews.DoChan(string(key[:]), func() (any, error) {
		// The review outlives the request that began it, since others wait for it, too.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sharedTimeout)
		defer cancel()
		identity, err := t.review(ctx, token, audiences, own)
		if err == nil {
			t.answers.put(key, identity, t.ttl)
		}
		return identity, err
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case answer := <-asking:
		identity, _ := answer.Val.(*auth.Identity)
		return identity, answer.Err
	}
}

// digest is that of a token and audiences, with a secret, so that nobody can choose tokens whose digests collide.
func (t *Tokens) digest(token string, audiences []string) digest {
	hash := hmac.New(sha256.New, t.secret)
	for _, text := range append([]string{token}, audiences...) {
		var size [8]byte
		binary.LittleEndian.PutUint64(size[:], uint64(len(text)))
		hash.Write(size[:])
		hash.Write([]byte(text))
	}
	return digest(hash.Sum(nil))
}

func (t *Tokens) review(ctx context.Context, token string, audiences, own []string) (*auth.Identity, error) {
	question := tokenQuestion{Spec: TokenReviewSpec{Token: token, Audiences: audiences}}
	question.SetGroupVersionKind(t.kind)
	answer, err := ask[tokenAnswer](ctx, t.endpoint, t.kind, question)
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
