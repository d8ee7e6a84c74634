package flow

import (
	"fmt"
	"testing"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/flow/class"
	"apigen.dev/runtime/internal/request"
)

// TestUsers: what is remembered of a user is what the rules say, also of users that have one place, and of one whose
// groups are others now.
func TestUsers(t *testing.T) {
	every := []string{class.All}
	rule := func(user, group string) class.Rule {
		paths := []class.Path{{Verbs: every, Paths: every}}
		return class.Rule{Users: []string{user}, Groups: []string{group}, Paths: paths}
	}
	schemas := []*class.Schema{
		{Name: "a", Rules: []class.Rule{rule("u1", "none"), rule("u2", "none")}},
		{Name: "b", Rules: []class.Rule{rule("none", "g")}},
	}
	var remembered users
	for range 2 {
		for i := range 300 {
			for _, groups := range [][]string{nil, {"g"}, {"g", "h"}} {
				user := &auth.User{Name: fmt.Sprintf("u%d", i), Groups: groups}
				want := -1
				switch {
				case i == 1 || i == 2:
					want = 0
				case groups != nil:
					want = 1
				}
				info := &request.Info{Path: "/x", Verb: "get"}
				for range 2 {
					if got := remembered.candidates(user, schemas).Find(info); got != want {
						t.Fatalf("%+v is of schema %d, want %d", user, got, want)
					}
				}
			}
		}
	}
}
