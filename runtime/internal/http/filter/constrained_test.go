package filter

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/auth"
)

// rights are what a user may: VERB GROUP/RESOURCE[/SUBRESOURCE] NAME, or VERB PATH.
type rights []string

func (have rights) Authorize(_ context.Context, a auth.Attributes) (auth.Decision, string, error) {
	want := a.Verb + " " + a.Path
	if a.IsResource && a.Path == "" {
		want = strings.TrimSuffix(a.Verb+" "+a.Group+"/"+a.Resource+"/"+a.Subresource, "/") + " " + a.Name
	}
	if slices.Contains(have, want) {
		return auth.Allow, "", nil
	}
	return auth.NoOpinion, "", nil
}

// In a constrained mode, a user acts for another one in the requests that a second verb names, and never as a member of
// system:masters.
func TestConstrainedImpersonation(t *testing.T) {
	const (
		on      = "impersonate-on:user-info:get /x"
		alice   = "impersonate:user-info authentication.k8s.io/users alice"
		masters = "impersonate:user-info authentication.k8s.io/groups system:masters"
		account = "system:serviceaccount:red:robot"
	)
	for name, test := range map[string]struct {
		rights rights
		header http.Header
		// want is who acts, or the end of the refusal.
		want string
	}{
		"allowed": {rights{on, alice}, http.Header{"Impersonate-User": {"alice"}}, "alice system:authenticated"},
		"not in this request": {rights{alice}, http.Header{"Impersonate-User": {"alice"}},
			`cannot impersonate-on:user-info:get path \"/x\"`},
		"not this user": {rights{on, alice}, http.Header{"Impersonate-User": {"bob"}},
			`cannot impersonate:user-info resource \"users\" in API group \"authentication.k8s.io\"`},
		"not as a master": {rights{on, alice, masters},
			http.Header{"Impersonate-User": {"alice"}, "Impersonate-Group": {auth.Masters}},
			"impersonating the system:masters group is not allowed"},
		"not as a group without a name": {rights{on, alice, "impersonate:user-info authentication.k8s.io/groups "},
			http.Header{"Impersonate-User": {"alice"}, "Impersonate-Group": {""}},
			"impersonating the empty string group is not allowed"},
		"all groups at once": {rights{on, alice, "impersonate:user-info authentication.k8s.io/groups *"},
			http.Header{"Impersonate-User": {"alice"}, "Impersonate-Group": {"a", "b", "c", "d"}},
			"alice a,b,c,d,system:authenticated"},
		"an extra value": {
			rights{on, alice, "impersonate:user-info authentication.k8s.io/userextras/example.com/team red"},
			http.Header{"Impersonate-User": {"alice"}, "Impersonate-Extra-Example.com%2fteam": {"red"}},
			"alice system:authenticated"},
		"an extra key without a domain": {
			rights{on, alice, "impersonate:user-info authentication.k8s.io/userextras/team red"},
			http.Header{"Impersonate-User": {"alice"}, "Impersonate-Extra-Team": {"red"}},
			"impersonating an invalid key in extra is not allowed"},
		"a service account": {
			rights{"impersonate-on:serviceaccount:get /x",
				"impersonate:serviceaccount authentication.k8s.io/serviceaccounts robot"},
			http.Header{"Impersonate-User": {account}},
			account + " system:serviceaccounts,system:serviceaccounts:red,system:authenticated"},
		"a service account is no other user": {
			rights{on, "impersonate:user-info authentication.k8s.io/serviceaccounts robot"},
			http.Header{"Impersonate-User": {account}}, `cannot impersonate-on:serviceaccount:get path \"/x\"`},
		"a node": {
			rights{"impersonate-on:arbitrary-node:get /x", "impersonate:arbitrary-node authentication.k8s.io/nodes a"},
			http.Header{"Impersonate-User": {"system:node:a"}}, "system:node:a system:nodes,system:authenticated"},
		"the verb impersonate": {rights{"impersonate /users alice"}, http.Header{"Impersonate-User": {"alice"}},
			"alice system:authenticated"},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/x", nil)
			r.Header = test.header.Clone()
			r.Header.Set("Authorization", "Bearer bob")
			w := httptest.NewRecorder()
			Chain(http.HandlerFunc(whoami), RequestInfo(nil, nil), Authenticate(users, slog.New(slog.DiscardHandler)),
				Impersonate(test.rights, nil)).ServeHTTP(w, r)
			if !strings.Contains(w.Body.String(), test.want) {
				t.Errorf("%d %s, want %s", w.Code, w.Body, test.want)
			}
		})
	}
}
