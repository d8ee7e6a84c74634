package filter

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/audit/trail"
	"apigen.dev/runtime/internal/http/respond"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/timing"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Authorize asks whether the user may do what the request asks for. It answers 403 if the authorizer doesn't allow it,
// and 500 if the authorizer fails.
func Authorize(authorizer auth.Authorizer) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a := auth.Attributes{User: auth.UserFrom(r.Context()), Info: request.InfoFrom(r.Context())}
			began := time.Now()
			decision, reason, err := authorizer.Authorize(r.Context(), a)
			timing.End(r.Context(), timing.Authorization, "", began)
			annotate(r, decision, reason, err)
			switch {
			case decision == auth.Allow:
				next.ServeHTTP(w, r)
			case err != nil:
				undecided(w, r, err)
			default:
				respond.Error(w, r, forbidden(a, reason))
			}
		})
	}
}

// escaped are characters of an error that a browser would take for HTML.
var escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// undecided answers a request about which no authorizer could decide, in kube-apiserver's words, which are no Status.
func undecided(w http.ResponseWriter, r *http.Request, err error) {
	text := fmt.Sprintf("Internal Server Error: %q: %v", r.RequestURI, err)
	http.Error(w, escaped.Replace(text), http.StatusInternalServerError)
}

// annotate adds kube-apiserver's annotations of a decision to the audit of the request.
func annotate(r *http.Request, decision auth.Decision, reason string, err error) {
	ctx, verdict := r.Context(), "forbid"
	switch {
	case decision == auth.Allow:
		verdict = "allow"
	case err != nil:
		trail.Annotate(ctx, "authorization.k8s.io/reason", "internal error")
		return
	}
	trail.Annotate(ctx, "authorization.k8s.io/decision", verdict)
	trail.Annotate(ctx, "authorization.k8s.io/reason", reason)
}

// MayCreate returns a function that asks whether the user of an update or a patch may also create the object, if it
// doesn't exist. The function returns nil or the error 403.
func MayCreate(authorizer auth.Authorizer) func(r *http.Request) error {
	return func(r *http.Request) error {
		return decide(authorizer, r, request.InfoFrom(r.Context()).WithVerb("create"))
	}
}

// MayDeleteUnreadable returns a function that asks whether the user of a request may delete an object that the server
// can't read. As in kube-apiserver that is a verb of its own, which the user needs in addition to delete. The function
// returns nil or the error 403.
func MayDeleteUnreadable(authorizer auth.Authorizer) func(r *http.Request) error {
	return func(r *http.Request) error {
		return decide(authorizer, r, request.InfoFrom(r.Context()).WithVerb("unsafe-delete-ignore-read-errors"))
	}
}

// decide asks whether the user of a request may do what info says. It returns nil or the error 403, also if the
// authorizer fails.
func decide(authorizer auth.Authorizer, r *http.Request, info *request.Info) error {
	a := auth.Attributes{User: auth.UserFrom(r.Context()), Info: info}
	decision, reason, err := authorizer.Authorize(r.Context(), a)
	if decision == auth.Allow && err == nil {
		return nil
	}
	return forbidden(a, reason)
}

// forbidden returns the error 403 with the text of kube-apiserver, which users and tools know.
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
	resource := schema.GroupResource{Group: a.Group, Resource: a.Resource}
	return apierrors.NewForbidden(resource, a.Name, errors.New(message))
}
