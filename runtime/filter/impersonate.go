package filter

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/endpoint"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
)

// The headers with which a request asks to be taken for another user's, as kubectl --as sends them.
const (
	impersonateUser  = "Impersonate-User"
	impersonateUID   = "Impersonate-Uid"
	impersonateGroup = "Impersonate-Group"
	impersonateExtra = "Impersonate-Extra-"
)

// Impersonate lets those who may (verb impersonate on users or serviceaccounts, groups, uids and userextras) act as somebody else, who
// then has only the rights of that user. Headers that ask for more than the user may refuse the request: they are never
// ignored, which would act with the wrong rights.
func Impersonate(authorizer auth.Authorizer) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			wanted, asked, err := impersonated(r.Header)
			if err == nil && !asked {
				next.ServeHTTP(w, r)
				return
			}
			if err == nil {
				err = mayImpersonate(authorizer, r, wanted)
			}
			if err != nil {
				endpoint.WriteStatus(w, r, err)
				return
			}
			for name := range r.Header {
				if strings.HasPrefix(name, "Impersonate-") {
					r.Header.Del(name)
				}
			}
			next.ServeHTTP(w, r.WithContext(auth.WithUser(r.Context(), withImplied(wanted))))
		})
	}
}

// impersonated reads the headers; asked tells whether there were any.
func impersonated(header http.Header) (user *auth.User, asked bool, err error) {
	if !hasPrefix(header, "Impersonate-") {
		return nil, false, nil
	}
	user = &auth.User{Name: header.Get(impersonateUser), UID: header.Get(impersonateUID), Groups: header[impersonateGroup]}
	for name, values := range header {
		if !strings.HasPrefix(name, impersonateExtra) {
			continue
		}
		escaped := strings.ToLower(name[len(impersonateExtra):])
		key, unescapeErr := url.PathUnescape(escaped)
		if unescapeErr != nil {
			key = escaped // and that is what the user must be allowed to say
		}
		if user.Extra == nil {
			user.Extra = map[string][]string{}
		}
		user.Extra[key] = append(user.Extra[key], values...)
	}
	if user.Name == "" && (user.UID != "" || len(user.Groups) > 0 || len(user.Extra) > 0) {
		return nil, true, apierrors.NewBadRequest("requested " + impersonateGroup + ", " + impersonateUID + " or " + impersonateExtra + " without impersonating a user")
	}
	return user, user.Name != "", nil
}

func hasPrefix(header http.Header, prefix string) bool {
	for name := range header {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func mayImpersonate(authorizer auth.Authorizer, r *http.Request, wanted *auth.User) error {
	ask := func(group, resource, subresource, name string) error {
		return decide(authorizer, r, auth.Attributes{
			User: auth.UserFrom(r.Context()), Verb: "impersonate", IsResource: true,
			Group: group, Version: "v1", Resource: resource, Subresource: subresource, Name: name,
		})
	}
	if err := mayBe(authorizer, r, wanted.Name); err != nil {
		return err
	}
	for _, group := range wanted.Groups {
		if err := ask("", "groups", "", group); err != nil {
			return err
		}
	}
	if wanted.UID != "" {
		if err := ask("authentication.k8s.io", "uids", "", wanted.UID); err != nil {
			return err
		}
	}
	for key, values := range wanted.Extra {
		for _, value := range values {
			if err := ask("authentication.k8s.io", "userextras", key, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// mayBe asks for the right to a name: that of a service account is a right in its namespace, all others are users'.
func mayBe(authorizer auth.Authorizer, r *http.Request, wanted string) error {
	attributes := auth.Attributes{User: auth.UserFrom(r.Context()), Verb: "impersonate", IsResource: true, Version: "v1", Resource: "users", Name: wanted}
	if namespace, name, ok := serviceAccount(wanted); ok {
		attributes.Resource, attributes.Namespace, attributes.Name = "serviceaccounts", namespace, name
	}
	return decide(authorizer, r, attributes)
}

// serviceAccounts is the group of all service accounts, and the beginning of the names of groups of a namespace's; the
// accounts' own names begin with accountPrefix.
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
	ok = ok && len(validation.NameIsDNSLabel(namespace, false)) == 0 && len(validation.NameIsDNSSubdomain(name, false)) == 0
	return namespace, name, ok
}

// withImplied adds the groups that authentication would have added: a service account's where none are asked for, and
// those of all users.
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
