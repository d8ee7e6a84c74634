package auth

import (
	"testing"

	"apigen.dev/runtime/request"
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
