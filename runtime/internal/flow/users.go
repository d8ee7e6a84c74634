package flow

import (
	"hash/maphash"
	"slices"
	"sync/atomic"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/flow/class"
)

// users remembers which rules may select the requests of some users: most of a server's requests are of few. It is safe
// for concurrent use, and its zero value knows nobody.
type users struct {
	// known has a place for each of some hashes of names; the user who came last has it.
	known [64]atomic.Pointer[known]
}

// known is what is remembered of a user.
type known struct {
	name       string
	groups     []string
	candidates class.Candidates
}

// seed makes hashes of names.
var seed = maphash.MakeSeed()

// candidates returns the rules of schemas that may select the requests of a user. The schemas are always the same.
func (u *users) candidates(user *auth.User, schemas []*class.Schema) class.Candidates {
	at := &u.known[maphash.String(seed, user.Name)%uint64(len(u.known))]
	if k := at.Load(); k != nil && k.name == user.Name && slices.Equal(k.groups, user.Groups) {
		return k.candidates
	}
	k := &known{user.Name, slices.Clone(user.Groups), class.Of(user, schemas)}
	at.Store(k)
	return k.candidates
}
