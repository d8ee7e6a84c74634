package builtin_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/server"
)

// permissions are what users may: USER VERB RESOURCE.
type permissions struct{ held atomic.Pointer[[]string] }

func (p *permissions) hold(held ...string) { p.held.Store(&held) }

func (p *permissions) Authorize(_ context.Context, a auth.Attributes) (auth.Decision, string, error) {
	for _, held := range *p.held.Load() {
		if held == a.User.Name+" "+a.Verb+" "+a.Resource {
			return auth.Allow, "", nil
		}
	}
	return auth.NoOpinion, "", nil
}

// TestImpersonatedWrites: in a constrained mode, the one who impersonates needs the verb of the request, also where it
// creates; the right to create is asked of the one who is impersonated.
func TestImpersonatedWrites(t *testing.T) {
	p := &permissions{}
	p.hold()
	s := startFeatures(t, func(c *server.Config) {
		tokens := new(auth.Tokens)
		tokens.Add("bob", &auth.User{Name: "bob"})
		c.Authentication.Tokens = append(c.Authentication.Tokens, tokens)
		c.Authorizer = p
	})
	until(t, s, http.MethodGet, "/api/v1/namespaces/default", "", http.StatusOK)
	client := &http.Client{Transport: transportOf(t, s, true)}
	defer client.CloseIdleConnections()
	const name = "bob impersonate:user-info users"
	for what, test := range map[string]struct {
		method, format string
		held           []string
		want           string // what the refusal says, "" if there is none
	}{
		"a PUT": {http.MethodPut, "application/json", []string{
			name, "bob impersonate-on:user-info:update leases", "alice update leases", "alice create leases",
		}, ""},
		"a PUT with the right to create": {http.MethodPut, "application/json", []string{
			name, "bob impersonate-on:user-info:create leases", "alice update leases", "alice create leases",
		}, `"bob" cannot impersonate-on:user-info:update resource "leases"`},
		"a PUT of one who may not create": {http.MethodPut, "application/json", []string{
			name, "bob impersonate-on:user-info:update leases", "bob impersonate-on:user-info:create leases",
			"bob create leases", "alice update leases",
		}, `"alice" cannot create resource "leases"`},
		"an apply": {http.MethodPatch, "application/apply-patch+yaml", []string{
			name, "bob impersonate-on:user-info:patch leases", "alice patch leases", "alice create leases",
		}, ""},
		"an apply with the rights of a PUT": {http.MethodPatch, "application/apply-patch+yaml", []string{
			name, "bob impersonate-on:user-info:update leases", "bob impersonate-on:user-info:create leases",
			"alice patch leases", "alice create leases",
		}, `"bob" cannot impersonate-on:user-info:patch resource "leases"`},
		"an apply of one who may not create": {http.MethodPatch, "application/apply-patch+yaml", []string{
			name, "bob impersonate-on:user-info:patch leases", "bob create leases", "alice patch leases",
		}, `"alice" cannot create resource "leases"`},
	} {
		p.hold(test.held...)
		object := "it-" + strings.ToLower(strings.ReplaceAll(what, " ", "-"))
		r, err := http.NewRequestWithContext(t.Context(), test.method, s.URL+
			"/apis/coordination.k8s.io/v1/namespaces/default/leases/"+object+"?fieldManager=test&dryRun=All",
			strings.NewReader(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease",
"metadata":{"name":"`+object+`"}}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{
			"Authorization": {"Bearer bob"}, "Impersonate-User": {"alice"}, "Content-Type": {test.format},
		}
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		said := strings.ReplaceAll(string(text), `\"`, `"`)
		if err != nil || test.want == "" && response.StatusCode != http.StatusCreated ||
			test.want != "" && (response.StatusCode != http.StatusForbidden || !strings.Contains(said, test.want)) {
			t.Errorf("%s: %s %s (%v), want %q", what, response.Status, said, err, test.want)
		}
	}
}
