package auth

import (
	"slices"
	"testing"

	"apigen.dev/runtime/internal/request"
)

// Who is authenticated reads discovery, and nothing else.
func TestDiscovery(t *testing.T) {
	member, nobody := &User{Name: "a", Groups: []string{Authenticated}},
		&User{Name: Anonymous, Groups: []string{Unauthenticated}}
	for _, test := range []struct {
		user *User
		verb string
		path string
		want Decision
	}{
		{member, "get", "/api", Allow},
		{member, "get", "/apis/g/v1", Allow},
		{member, "get", "/openapi/v3", Allow},
		{member, "get", "/version", Allow},
		{member, "head", "/version", NoOpinion},
		{member, "post", "/apis", NoOpinion},
		{member, "get", "/metrics", NoOpinion},
		{member, "get", "/apisx", NoOpinion},
		{member, "get", "/", NoOpinion},
		{nobody, "get", "/api", NoOpinion},
		{nil, "get", "/api", NoOpinion},
	} {
		got, _, err := Discovery{}.Authorize(t.Context(),
			Attributes{test.user, &request.Info{Verb: test.verb, Path: test.path}})
		if got != test.want || err != nil {
			t.Errorf("%v %s %s: %v, %v; want %v", test.user, test.verb, test.path, got, err, test.want)
		}
	}
	resource := Attributes{member, &request.Info{Verb: "get", IsResource: true, Path: "/api/v1/secrets"}}
	if got, _, _ := (Discovery{}).Authorize(t.Context(), resource); got != NoOpinion {
		t.Error("a resource is read as discovery")
	}
}

// The list of what a user may do is complete, whatever of the server's own authorizers there are.
func TestListsAreComplete(t *testing.T) {
	member := &User{Name: "a", Groups: []string{Authenticated}}
	always := Union{MastersOnly{}, Paths{"/livez"}, Discovery{}, Union{Always(Allow)}, Always(Deny)}
	rules, complete, err := always.RulesFor(t.Context(), member, "ns")
	if !complete || err != nil || len(rules.Resources) != 1 || len(rules.NonResources) != 2 {
		t.Errorf("%+v, %v, %v", rules, complete, err)
	}
	rules, complete, err = Discovery{}.RulesFor(t.Context(), member, "ns")
	if !complete || err != nil || len(rules.Resources) > 0 || len(rules.NonResources) != 1 ||
		!slices.Contains(rules.NonResources[0].Paths, "/apis/*") {
		t.Errorf("%+v, %v, %v", rules, complete, err)
	}
	if rules, complete, err = (Discovery{}).RulesFor(t.Context(), AnonymousUser, "ns"); !complete || err != nil ||
		len(rules.NonResources) > 0 {
		t.Errorf("anonymous: %+v, %v, %v", rules, complete, err)
	}
}
