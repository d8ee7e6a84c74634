package authorization

import (
	"context"
	"strings"

	"apigen.dev/runtime/auth"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// accessReviews tell what some user may do.
type accessReviews struct{}

// Create implements wiring.SubjectAccessReviewProvider.
func (accessReviews) Create(
	ctx context.Context, review *authorizationv1.SubjectAccessReview, _ bool,
) (*authorizationv1.SubjectAccessReview, error) {
	errs := append(validateSubject(&review.Spec), validateEmpty(review.ObjectMeta)...)
	if err := invalid(errs); err != nil {
		return nil, err
	}
	spec := &review.Spec
	review.Status = decide(ctx, subject(spec), spec.ResourceAttributes, spec.NonResourceAttributes)
	return review, nil
}

// localAccessReviews tell what some user may do in a namespace.
type localAccessReviews struct{}

// Create implements wiring.LocalSubjectAccessReviewProvider.
func (localAccessReviews) Create(
	ctx context.Context, review *authorizationv1.LocalSubjectAccessReview, _ bool,
) (*authorizationv1.LocalSubjectAccessReview, error) {
	if err := invalid(validateLocal(review)); err != nil {
		return nil, err
	}
	review.Status = decide(ctx, subject(&review.Spec), review.Spec.ResourceAttributes, nil)
	return review, nil
}

// selfAccessReviews tell what the user who asks may do.
type selfAccessReviews struct{}

// Create implements wiring.SelfSubjectAccessReviewProvider.
func (selfAccessReviews) Create(
	ctx context.Context, review *authorizationv1.SelfSubjectAccessReview, _ bool,
) (*authorizationv1.SelfSubjectAccessReview, error) {
	spec := &review.Spec
	errs := validateAttributes(spec.ResourceAttributes, spec.NonResourceAttributes)
	errs = append(errs, validateSelectors(spec.ResourceAttributes)...)
	if err := invalid(append(errs, validateEmpty(review.ObjectMeta)...)); err != nil {
		return nil, err
	}
	user := auth.UserFrom(ctx)
	if user == nil {
		return nil, errNoUser()
	}
	review.Status = decide(ctx, user, spec.ResourceAttributes, spec.NonResourceAttributes)
	return review, nil
}

// rulesReviews list what the user who asks may do in a namespace.
type rulesReviews struct{}

// Create implements wiring.SelfSubjectRulesReviewProvider.
func (rulesReviews) Create(
	ctx context.Context, review *authorizationv1.SelfSubjectRulesReview, _ bool,
) (*authorizationv1.SelfSubjectRulesReview, error) {
	user := auth.UserFrom(ctx)
	if user == nil {
		return nil, errNoUser()
	}
	if review.Spec.Namespace == "" {
		return nil, apierrors.NewBadRequest("no namespace on request")
	}
	return &authorizationv1.SelfSubjectRulesReview{Status: list(ctx, user, review.Spec.Namespace)}, nil
}

func list(ctx context.Context, user *auth.User, namespace string) authorizationv1.SubjectRulesReviewStatus {
	status := authorizationv1.SubjectRulesReviewStatus{
		ResourceRules: []authorizationv1.ResourceRule{}, NonResourceRules: []authorizationv1.NonResourceRule{},
		Incomplete: true,
	}
	resolver, ok := auth.AccessFrom(ctx).Authorizer.(auth.RuleResolver)
	if !ok {
		return status
	}
	rules, complete, err := resolver.RulesFor(ctx, user, namespace)
	for _, r := range rules.Resources {
		status.ResourceRules = append(status.ResourceRules, authorizationv1.ResourceRule{
			Verbs: r.Verbs, APIGroups: r.Groups, Resources: r.Resources, ResourceNames: r.Names,
		})
	}
	for _, r := range rules.NonResources {
		status.NonResourceRules = append(status.NonResourceRules,
			authorizationv1.NonResourceRule{Verbs: r.Verbs, NonResourceURLs: r.Paths})
	}
	status.Incomplete = !complete
	if err != nil {
		status.EvaluationError = err.Error()
	}
	return status
}

func errNoUser() error { return apierrors.NewBadRequest("no user present on request") }

// invalid returns the status of errors. kube-apiserver names no kind in it.
func invalid(errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: authorizationv1.GroupName}, "", errs)
}

func subject(spec *authorizationv1.SubjectAccessReviewSpec) *auth.User {
	user := &auth.User{Name: spec.User, UID: spec.UID, Groups: spec.Groups, Extra: map[string][]string{}}
	for key, values := range spec.Extra {
		user.Extra[key] = values
	}
	return user
}

// decide asks the server's authorizer. One of the two kinds of attributes is nil.
func decide(
	ctx context.Context, user *auth.User, resource *authorizationv1.ResourceAttributes,
	path *authorizationv1.NonResourceAttributes,
) authorizationv1.SubjectAccessReviewStatus {
	asked, problems := requestOf(resource, path)
	authorizer := auth.AccessFrom(ctx).Authorizer
	if authorizer == nil {
		authorizer = auth.Always(auth.NoOpinion)
	}
	decision, reason, err := authorizer.Authorize(ctx, auth.Attributes{User: user, Info: asked})
	if err != nil {
		problems = append([]string{err.Error()}, problems...)
	}
	return authorizationv1.SubjectAccessReviewStatus{
		Allowed: decision == auth.Allow, Denied: decision == auth.Deny, Reason: reason,
		EvaluationError: strings.Join(problems, "; "),
	}
}
