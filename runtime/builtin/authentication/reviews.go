package authentication

import (
	"context"
	"errors"
	"slices"
	"time"

	"apigen.dev/runtime/auth"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// selfSubjectReviews tell users who they are.
type selfSubjectReviews struct{}

// Create implements wiring.SelfSubjectReviewProvider.
func (selfSubjectReviews) Create(
	ctx context.Context, _ *authenticationv1.SelfSubjectReview, _ bool,
) (*authenticationv1.SelfSubjectReview, error) {
	user := auth.UserFrom(ctx)
	if user == nil {
		return nil, apierrors.NewBadRequest("no user present on request")
	}
	return &authenticationv1.SelfSubjectReview{
		ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(time.Now())},
		Status:     authenticationv1.SelfSubjectReviewStatus{UserInfo: userInfo(user)},
	}, nil
}

func userInfo(user *auth.User) authenticationv1.UserInfo {
	info := authenticationv1.UserInfo{Username: user.Name, UID: user.UID, Groups: user.Groups,
		Extra: map[string]authenticationv1.ExtraValue{}}
	for key, values := range user.Extra {
		info.Extra[key] = values
	}
	return info
}

// tokenReviews tell whose token a token is.
type tokenReviews struct{}

// Create implements wiring.TokenReviewProvider.
func (tokenReviews) Create(
	ctx context.Context, review *authenticationv1.TokenReview, _ bool,
) (*authenticationv1.TokenReview, error) {
	if review.Spec.Token == "" {
		return nil, apierrors.NewBadRequest("token is required for TokenReview in authentication")
	}
	access := auth.AccessFrom(ctx)
	if access.Tokens == nil {
		return review, nil
	}
	identity, err := identify(ctx, access, review.Spec)
	record(&review.Status, identity, err)
	return review, nil
}

// record writes whose token it is, or why it is nobody's.
func record(status *authenticationv1.TokenReviewStatus, identity *auth.Identity, err error) {
	if err != nil {
		status.Error = err.Error()
		return
	}
	status.Authenticated, status.User, status.Audiences = true, userInfo(identity.User), identity.Audiences
	status.User.Groups = withAuthenticated(identity.User.Groups)
}

// withAuthenticated adds the group of all users whom the server authenticated, as the server does for requests.
func withAuthenticated(groups []string) []string {
	if slices.Contains(groups, auth.Authenticated) || slices.Contains(groups, auth.Unauthenticated) {
		return groups
	}
	return append(slices.Clone(groups), auth.Authenticated)
}

var errInvalidToken = errors.New("invalid bearer token")

// identify returns whose token it is. An authenticator that knows no audiences speaks for the server's own.
func identify(
	ctx context.Context, access *auth.Access, spec authenticationv1.TokenReviewSpec,
) (*auth.Identity, error) {
	audiences := spec.Audiences
	if len(audiences) == 0 {
		audiences = access.Audiences
	}
	identity, err := access.Tokens.AuthenticateToken(ctx, spec.Token, audiences)
	switch {
	case err != nil:
		return nil, flatten(err)
	case identity == nil:
		return nil, errInvalidToken
	case identity.Audiences != nil || len(audiences) == 0:
		return identity, nil
	}
	common := slices.DeleteFunc(slices.Clone(audiences), func(audience string) bool {
		return !slices.Contains(access.Audiences, audience)
	})
	if len(common) == 0 {
		return nil, errInvalidToken
	}
	return &auth.Identity{User: identity.User, Audiences: common}, nil
}

// flatten writes joined errors on one line, as kube-apiserver does.
func flatten(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return utilerrors.NewAggregate(joined.Unwrap())
	}
	return err
}
