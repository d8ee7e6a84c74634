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
			Chain(http.HandlerFunc(whoami), RequestInfo(nil), Authenticate(users,
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
