package class

import (
	"net/http/httptest"
	"testing"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/request"
)

func info(t testing.TB, method, url string) *request.Info {
	t.Helper()
	i, err := request.New(httptest.NewRequest(method, url, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

const (
	pods  = "/api/v1/namespaces/ns/pods"
	nodes = "/api/v1/nodes"
)

// TestSelects: each row is a rule, and requests that it selects or doesn't.
func TestSelects(t *testing.T) {
	every := []string{All}
	of := func(r Rule) Rule {
		r.Resources = []Resource{{every, every, every, every, true}}
		r.Paths = []Path{{every, every}}
		return r
	}
	everybody := func(r Rule) Rule {
		r.Groups = every
		return r
	}
	ann := &auth.User{Name: "ann", Groups: []string{"g", "h"}}
	robot := &auth.User{Name: "system:serviceaccount:ns:robot"}
	for _, row := range []struct {
		name        string
		rule        Rule
		user        *auth.User
		method, url string
		want        bool
	}{
		{"a user", of(Rule{Users: []string{"bob", "ann"}}), ann, "GET", pods, true},
		{"another user", of(Rule{Users: []string{"bob"}}), ann, "GET", pods, false},
		{"every user", of(Rule{Users: every}), ann, "GET", "/x", true},
		{"a group", of(Rule{Groups: []string{"h"}}), ann, "GET", pods, true},
		{"another group", of(Rule{Groups: []string{"i"}}), ann, "GET", pods, false},
		{"an account", of(Rule{Accounts: []Account{{"ns", "robot"}}}), robot, "GET", pods, true},
		{"an account of another namespace", of(Rule{Accounts: []Account{{"n", "robot"}}}), robot, "GET", pods, false},
		{"another account", of(Rule{Accounts: []Account{{"ns", "r"}}}), robot, "GET", pods, false},
		{"every account", of(Rule{Accounts: []Account{{"ns", All}}}), robot, "GET", pods, true},
		{"a user is no account", of(Rule{Accounts: []Account{{"ns", All}}}), ann, "GET", pods, false},
		{"a verb", everybody(Rule{Resources: []Resource{{[]string{"list"}, every, every, every, false}}}), ann,
			"GET", pods, true},
		{"another verb", everybody(Rule{Resources: []Resource{{[]string{"get"}, every, every, every, false}}}), ann,
			"GET", pods, false},
		{"the core group", everybody(Rule{Resources: []Resource{{every, []string{""}, every, every, false}}}), ann,
			"GET", pods, true},
		{"another group of resources", everybody(Rule{Resources: []Resource{{every, []string{"apps"}, every, every,
			true}}}), ann, "GET", pods, false},
		{"a namespace", everybody(Rule{Resources: []Resource{{every, every, every, []string{"ns"}, false}}}), ann,
			"GET", pods, true},
		{"another namespace", everybody(Rule{Resources: []Resource{{every, every, every, []string{"x"}, true}}}), ann,
			"GET", pods, false},
		{"no namespace", everybody(Rule{Resources: []Resource{{every, every, every, nil, true}}}), ann,
			"GET", nodes, true},
		{"all namespaces don't have what is in none", everybody(Rule{Resources: []Resource{{every, every, every, every,
			false}}}), ann, "GET", nodes, false},
		{"a subresource", everybody(Rule{Resources: []Resource{{every, every, []string{"pods/status"}, every, false}}}),
			ann, "PUT", pods + "/a/status", true},
		{"the resource without it", everybody(Rule{Resources: []Resource{{every, every, []string{"pods"}, every,
			false}}}), ann, "PUT", pods + "/a/status", false},
		{"it without the resource", everybody(Rule{Resources: []Resource{{every, every, []string{"pods/status"}, every,
			false}}}), ann, "PUT", pods + "/a", false},
		{"every subresource", everybody(Rule{Resources: []Resource{{every, every, every, every, false}}}), ann,
			"PUT", pods + "/a/status", true},
		{"a path", everybody(Rule{Paths: []Path{{[]string{"get"}, []string{"/healthz"}}}}), ann, "GET",
			"/healthz", true},
		{"a path below it", everybody(Rule{Paths: []Path{{every, []string{"/healthz"}}}}), ann, "GET", "/healthz/etcd",
			true},
		{"a path that begins so", everybody(Rule{Paths: []Path{{every, []string{"/healthz"}}}}), ann, "GET",
			"/healthzz",
			false},
		{"paths below", everybody(Rule{Paths: []Path{{every, []string{"/a/*"}}}}), ann, "GET", "/a/b", true},
		{"a path is no resource", everybody(Rule{Paths: []Path{{every, every}}}), ann, "GET", pods, false},
		{"a resource is no path", everybody(Rule{Resources: []Resource{{every, every, every, every, true}}}), ann,
			"GET", "/version", false},
	} {
		s := &Schema{Rules: []Rule{row.rule}}
		if got := Of(row.user, []*Schema{s}).Find(info(t, row.method, row.url)) == 0; got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
}

// TestPrecedence: the lowest precedence comes first, then the name.
func TestPrecedence(t *testing.T) {
	all := []Rule{{Users: []string{All}, Paths: []Path{{[]string{All}, []string{All}}}}}
	schemas := []*Schema{{Name: "c", Precedence: 2, Rules: all}, {Name: "b", Precedence: 1},
		{Name: "z", Precedence: 2, Rules: all}, {Name: "a", Precedence: 9, Rules: all}}
	Sort(schemas)
	if found := Of(&auth.User{}, schemas).Find(info(t, "GET", "/x")); schemas[found].Name != "c" {
		t.Errorf("%s", schemas[found].Name)
	}
	if found := Of(&auth.User{}, schemas).Find(info(t, "GET", pods)); found != -1 {
		t.Errorf("%s", schemas[found].Name)
	}
}

// TestFlows: requests are of one flow or of different ones.
func TestFlows(t *testing.T) {
	ann, bob := &auth.User{Name: "ann"}, &auth.User{Name: "bob"}
	in, other := info(t, "GET", pods), info(t, "GET", "/api/v1/namespaces/other/pods")
	for _, row := range []struct {
		by                        By
		users, namespaces, differ bool
	}{{by: Nothing}, {by: User, users: true}, {by: Namespace, namespaces: true}} {
		s := &Schema{Name: "s", By: row.by}
		name, hash := s.Flow(ann, in)
		byUser, ofBob := s.Flow(bob, in)
		byNamespace, elsewhere := s.Flow(ann, other)
		if (hash != ofBob) != row.users || (hash != elsewhere) != row.namespaces ||
			(name != byUser) != row.users || (name != byNamespace) != row.namespaces {
			t.Errorf("by %d: %q %q %q", row.by, name, byUser, byNamespace)
		}
	}
	_, a := (&Schema{Name: "a"}).Flow(ann, in)
	if _, b := (&Schema{Name: "b"}).Flow(ann, in); a == b {
		t.Error("two schemas have one flow")
	}
}
