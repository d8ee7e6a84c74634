package filter

import (
	"fmt"
	"net/http"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/endpoint"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Authorize asks whether the user may do what the request asks for; all that is not allowed is 403. Public paths need no
// leave.
func Authorize(authorizer auth.Authorizer, public func(path string) bool) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if isRead(r) && public(r.URL.Path) {
				next.ServeHTTP(w, r)
				return
			}
			attributes := attributesOf(auth.UserFrom(r.Context()), endpoint.RequestInfoFrom(r.Context()))
			if err := decide(authorizer, r, attributes); err != nil {
				endpoint.WriteStatus(w, r, err)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// MayDeleteUnreadable asks whether the user of a request may delete an object that can't be read: kube-apiserver's verb
// for it, in addition to delete. It is nil or 403.
func MayDeleteUnreadable(authorizer auth.Authorizer) func(r *http.Request) error {
	return func(r *http.Request) error {
		attributes := attributesOf(auth.UserFrom(r.Context()), endpoint.RequestInfoFrom(r.Context()))
		attributes.Verb = "unsafe-delete-ignore-read-errors"
		return decide(authorizer, r, attributes)
	}
}

func attributesOf(user *auth.User, info *endpoint.RequestInfo) auth.Attributes {
	return auth.Attributes{
		User: user, Verb: info.Verb, IsResource: info.IsResource, Path: info.Path,
		Group: info.Group, Version: info.Version, Resource: info.Resource, Subresource: info.Subresource,
		Namespace: info.Namespace, Name: info.Name,
	}
}

func decide(authorizer auth.Authorizer, r *http.Request, a auth.Attributes) error {
	decision, reason, err := authorizer.Authorize(r.Context(), a)
	switch {
	case decision == auth.Allow:
		return nil
	case err != nil:
		return apierrors.NewInternalError(err)
	}
	return forbidden(a, reason)
}

// forbidden says what was refused in kube-apiserver's words, which users and tools know.
func forbidden(a auth.Attributes, reason string) error {
	message := fmt.Sprintf("User %q cannot %s", a.User.Name, a.Verb)
	if !a.IsResource {
		message += fmt.Sprintf(" path %q", a.Path)
	} else {
		resource := a.Resource
		if a.Subresource != "" {
			resource += "/" + a.Subresource
		}
		message += fmt.Sprintf(" resource %q in API group %q", resource, a.Group)
		if a.Namespace != "" {
			message += fmt.Sprintf(" in the namespace %q", a.Namespace)
		} else {
			message += " at the cluster scope"
		}
	}
	if reason != "" {
		message += ": " + reason
	}
	return apierrors.NewForbidden(schema.GroupResource{Group: a.Group, Resource: a.Resource}, a.Name, fmt.Errorf("%s", message))
}
