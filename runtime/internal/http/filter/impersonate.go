package filter

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/audit/trail"
	"apigen.dev/runtime/internal/http/respond"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
)

// The headers of a request that impersonates another user, as kubectl --as sends them.
const (
	impersonateUser  = "Impersonate-User"
	impersonateUID   = "Impersonate-Uid"
	impersonateGroup = "Impersonate-Group"
	impersonateExtra = "Impersonate-Extra-"
)

// Impersonate lets a user act as another user, with the rights of that user alone. The user needs the verb impersonate
// on users or serviceaccounts, groups, uids and userextras, or the verbs of a constrained mode; see impersonationMode.
// If a header asks for more than the user may, Impersonate refuses the request: a request without the header would
// have the wrong rights. It calls observe, if that isn't nil, with the verb of the constrained mode that allowed it, or
// "", the time that the decision took, and the error of a refusal.
func Impersonate(authorizer auth.Authorizer, observe func(verb string, took time.Duration, err error)) Filter {
	i := &impersonator{authorizer: authorizer}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			wanted, asked, err := impersonated(r.Header)
			if err == nil && !asked {
				next.ServeHTTP(w, r)
				return
			}
			var user *auth.User
			var constraint string
			if err == nil {
				begin := time.Now()
				user, constraint, err = i.impersonate(r, wanted)
				if observe != nil {
					observe(constraint, time.Since(begin), err)
				}
			}
			if err != nil {
				respond.Error(w, r, err)
				return
			}
			for name := range r.Header {
				if strings.HasPrefix(name, "Impersonate-") {
					r.Header.Del(name)
				}
			}
			trail.RecordFrom(r.Context()).SetImpersonated(user, constraint)
			next.ServeHTTP(w, r.WithContext(auth.WithUser(r.Context(), user)))
		})
	}
}

// impersonated reads the user from the headers. asked reports whether a header asks for one.
func impersonated(header http.Header) (user *auth.User, asked bool, err error) {
	for name, values := range header {
		if !strings.HasPrefix(name, "Impersonate-") {
			continue
		}
		if user == nil {
			user = &auth.User{
				Name: header.Get(impersonateUser), UID: header.Get(impersonateUID), Groups: header[impersonateGroup],
				Extra: map[string][]string{},
			}
		}
		if !strings.HasPrefix(name, impersonateExtra) {
			continue
		}
		escaped := strings.ToLower(name[len(impersonateExtra):])
		key, unescapeErr := url.PathUnescape(escaped)
		if unescapeErr != nil {
			key = escaped // the user needs the right to this key
		}
		user.Extra[key] = append(user.Extra[key], values...)
	}
	if user == nil {
		return nil, false, nil
	}
	if user.Name == "" && (user.UID != "" || len(user.Groups) > 0 || len(user.Extra) > 0) {
		return nil, true, apierrors.NewBadRequest("requested " + impersonateGroup + ", " + impersonateUID + " or " +
			impersonateExtra + " without impersonating a user")
	}
	return user, user.Name != "", nil
}

// serviceAccounts is the group of all service accounts, and begins that of a namespace; accountPrefix begins names.
const (
	serviceAccounts = "system:serviceaccounts"
	accountPrefix   = "system:serviceaccount:"
)

// serviceAccount splits the name of a service account: system:serviceaccount:NAMESPACE:NAME.
func serviceAccount(user string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(user, accountPrefix)
	if !ok {
		return "", "", false
	}
	namespace, name, ok = strings.Cut(rest, ":")
	if !ok || len(validation.NameIsDNSLabel(namespace, false)) > 0 ||
		len(validation.NameIsDNSSubdomain(name, false)) > 0 {
		return "", "", false
	}
	return namespace, name, true
}

// withImplied adds the groups that authentication would have added: the groups of a service account, unless the request
// names groups, and the group of all authenticated users.
func withImplied(user *auth.User) *auth.User {
	if namespace, _, ok := serviceAccount(user.Name); ok && len(user.Groups) == 0 {
		user = withGroup(withGroup(user, serviceAccounts), serviceAccounts+":"+namespace)
	}
	if user.Name == auth.Anonymous {
		return withGroup(user, auth.Unauthenticated)
	}
	if slices.Contains(user.Groups, auth.Unauthenticated) {
		return user
	}
	return withGroup(user, auth.Authenticated)
}
