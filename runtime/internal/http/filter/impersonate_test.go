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

// asked allows all that it is asked for with the verb impersonate, and remembers it.
type asked []string

func (a *asked) Authorize(_ context.Context, attributes auth.Attributes) (auth.Decision, string, error) {
	if attributes.Verb != "impersonate" {
		return auth.NoOpinion, "", nil
	}
	*a = append(*a, strings.TrimSpace(attributes.Resource+" "+attributes.Namespace+"/"+attributes.Name))
	return auth.Allow, "", nil
}

// Who is impersonated has the groups that authentication would have given, as in kube-apiserver.
func TestImpersonatedGroups(t *testing.T) {
	for name, test := range map[string]struct {
		user         string
		groups       []string
		want, rights string
	}{
		"a user":              {"bob", nil, "bob system:authenticated", "users /bob"},
		"a user with a group": {"bob", []string{"g"}, "bob g,system:authenticated", "users /bob, groups /g"},
		"a user who is nobody": {"bob", []string{"system:unauthenticated"}, "bob system:unauthenticated",
			"users /bob, groups /system:unauthenticated"},
		"anonymous": {"system:anonymous", nil, "system:anonymous system:unauthenticated",
			"users /system:anonymous"},
		"a service account": {"system:serviceaccount:ns:robot", nil,
			"system:serviceaccount:ns:robot " +
				"system:serviceaccounts,system:serviceaccounts:ns,system:authenticated", "serviceaccounts ns/robot"},
		"one with groups of its own": {"system:serviceaccount:ns:robot", []string{"g"},
			"system:serviceaccount:ns:robot g,system:authenticated", "serviceaccounts ns/robot, groups /g"},
		"no service account": {"system:serviceaccount:robot", nil,
			"system:serviceaccount:robot system:authenticated", "users /system:serviceaccount:robot"},
		"one of a bad name": {"system:serviceaccount:ns:Ro/bot", nil,
			"system:serviceaccount:ns:Ro/bot system:authenticated", "users /system:serviceaccount:ns:Ro/bot"},
	} {
		t.Run(name, func(t *testing.T) {
			var rights asked
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/x", nil)
			r.Header = http.Header{"Authorization": {"Bearer admin"}, "Impersonate-User": {test.user},
				"Impersonate-Group": test.groups}
			w := httptest.NewRecorder()
			Chain(http.HandlerFunc(whoami), RequestInfo(nil, nil), Authenticate(users,
				slog.New(slog.DiscardHandler)), Impersonate(&rights, nil)).ServeHTTP(w, r)
			if got := w.Body.String(); w.Code != http.StatusOK || got != test.want {
				t.Errorf("%d %s", w.Code, got)
			}
			if want := strings.Split(test.rights, ", "); !slices.Equal(rights, want) {
				t.Errorf("asked for %q, want %q", rights, want)
			}
		})
	}
}

// missing is an authorizer that remembers the last right that a user didn't have.
type missing struct {
	rights
	right string
}

func (m *missing) Authorize(ctx context.Context, a auth.Attributes) (auth.Decision, string, error) {
	decision, reason, err := m.rights.Authorize(ctx, a)
	if decision != auth.Allow {
		m.right = strings.TrimSpace(a.Verb + " " + a.Resource + "/" + a.Subresource + " " + a.Namespace + "/" + a.Name)
	}
	return decision, reason, err
}

// TestForgedImpersonation: whatever headers ask for, a user needs the right to each part of it, and a header that isn't
// one of impersonation changes nothing. The one who asks may act for alice, and for nobody else.
func TestForgedImpersonation(t *testing.T) {
	const masters = "system:masters"
	alice := rights{"impersonate /users alice"}
	as := func(user string, more ...string) http.Header {
		header := http.Header{"Impersonate-User": {user}}
		for i := 0; i+1 < len(more); i += 2 {
			header[more[i]] = append(header[more[i]], more[i+1])
		}
		return header
	}
	and := func(right string) rights { return append(rights{right}, alice...) }
	const group, extra = "Impersonate-Group", "Impersonate-Extra-"
	for name, test := range map[string]struct {
		rights rights
		header http.Header
		want   string // who acts, the right that is missing, or "" for a bad request
	}{
		"nobody":                 {alice, as(""), "bob"},
		"a space":                {alice, as(" alice"), "users/ / alice"},
		"a space after it":       {alice, as("alice\t"), "users/ /alice"},
		"in capitals":            {alice, as("ALICE"), "users/ /ALICE"},
		"two users":              {alice, as("alice", "Impersonate-User", "root"), "alice"},
		"a forbidden user first": {alice, as("root", "Impersonate-User", "alice"), "users/ /root"},
		"users with commas":      {alice, as("alice,root"), "users/ /alice,root"},
		"a group":                {alice, as("alice", group, masters), "groups/ /system:masters"},
		"a group after a good one": {and("impersonate /groups g"),
			as("alice", group, "g", group, masters), "groups/ /system:masters"},
		"groups with commas": {and("impersonate /groups g"),
			as("alice", group, "g,"+masters), "groups/ /g,system:masters"},
		"a group in capitals":       {and("impersonate /groups g"), as("alice", group, "G"), "groups/ /G"},
		"an empty group":            {alice, as("alice", group, ""), "groups/ /"},
		"a group alone":             {alice, http.Header{group: {masters}}, ""},
		"a group and an empty user": {alice, as("", group, masters), ""},
		"a UID":                     {alice, as("alice", "Impersonate-Uid", "0"), "uids/ /0"},
		"a UID alone":               {alice, http.Header{"Impersonate-Uid": {"0"}}, ""},
		"extra":                     {alice, as("alice", extra+"Scopes", "all"), "userextras/scopes /all"},
		"extra alone":               {alice, http.Header{extra + "A": {"a"}}, ""},
		"an escaped key": {and("impersonate authentication.k8s.io/userextras/a a"),
			as("alice", extra+"%61%2f..", "a"), "userextras/a/.. /a"},
		"a key escaped twice": {and("impersonate authentication.k8s.io/userextras/a/b a"),
			as("alice", extra+"A%252fb", "a"), "userextras/a%2fb /a"},
		"a key that isn't escaped": {alice, as("alice", extra+"%zz", "a"), "userextras/%zz /a"},
		"a key without a name":     {alice, as("alice", extra, "a"), "userextras/ /a"},
		"another value of a key": {and("impersonate authentication.k8s.io/userextras/a good"),
			as("alice", extra+"A", "good", extra+"A", "evil"), "userextras/a /evil"},
		"an unknown header": {alice, http.Header{"Impersonate-Groups": {masters}}, "bob"},
		"underscores":       {alice, http.Header{"Impersonate_user": {"alice"}}, "bob"},
		"a service account": {and("impersonate /users system:serviceaccount:ns:a"),
			as("system:serviceaccount:ns:a"), "serviceaccounts/ ns/a"},
		"an account elsewhere": {and("impersonate /serviceaccounts a"),
			as("system:serviceaccount:ns:b"), "serviceaccounts/ ns/b"},
		"a node":                     {alice, as("system:node:a"), "users/ /system:node:a"},
		"anonymous":                  {alice, as(auth.Anonymous), "users/ /system:anonymous"},
		"with a front proxy's group": {alice, as("alice", "X-Remote-Group", masters), "alice"},
	} {
		t.Run(name, func(t *testing.T) {
			authorizer := &missing{rights: test.rights}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/x", nil)
			r.Header = test.header.Clone()
			r.Header.Set("Authorization", "Bearer bob")
			w := httptest.NewRecorder()
			Chain(http.HandlerFunc(whoami), RequestInfo(nil, nil), Authenticate(users, slog.New(slog.DiscardHandler)),
				Impersonate(authorizer, nil)).ServeHTTP(w, r)
			got := map[int]string{
				http.StatusOK:         strings.TrimSuffix(w.Body.String(), " system:authenticated"),
				http.StatusForbidden:  strings.TrimPrefix(authorizer.right, "impersonate "),
				http.StatusBadRequest: "",
			}[w.Code]
			if got != test.want {
				t.Errorf("%d %s: %q, want %q", w.Code, w.Body, got, test.want)
			}
		})
	}
}
