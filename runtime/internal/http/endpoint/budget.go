package endpoint

import (
	"context"
	"slices"
	"sync"
	"time"
)

// budget shares a number of bytes among the users who wait for some. Users take turns, and a user gets no more than
// half of the bytes, or one claim if that is larger: a user who holds bytes for long leaves some to those who come
// later.
type budget struct {
	size int64

	mu   sync.Mutex // guards the fields below
	free int64
	// accounts are those of users who hold bytes or wait for some.
	accounts map[string]*account
	// turns are the accounts with claims, the next one first.
	turns []*account
}

type account struct {
	user   string
	held   int64
	claims []*claim // the oldest first
}

type claim struct {
	size    int64
	granted chan struct{} // closed when the claim is granted
}

func newBudget(size int64) *budget {
	return &budget{size: size, free: size, accounts: map[string]*account{}}
}

// acquire waits until a user gets size bytes, which are at most those of the budget, or until ctx ends.
func (b *budget) acquire(ctx context.Context, user string, size int64) error {
	c := b.claim(user, size)
	select {
	case <-c.granted:
		return nil
	case <-ctx.Done():
		b.withdraw(user, c)
		return ctx.Err()
	}
}

// shareTime is how long a request holds bytes at most. Decoding and encoding take less; whoever still holds bytes waits
// for a webhook or for storage, and is bounded by the places for writes alone, as in kube-apiserver.
const shareTime = 2 * time.Second

// share waits as acquire does, and returns the function that gives the bytes back. After shareTime they go back anyway.
// The function may be called more than once.
func (b *budget) share(ctx context.Context, user string, size int64) (release func(), err error) {
	if err := b.acquire(ctx, user, size); err != nil {
		return nil, err
	}
	giveBack := sync.OnceFunc(func() { b.release(user, size) })
	timer := time.AfterFunc(shareTime, giveBack)
	return func() {
		timer.Stop()
		giveBack()
	}, nil
}

// release gives bytes of a user back.
func (b *budget) release(user string, size int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.accounts[user]
	a.held -= size
	b.free += size
	b.forget(a)
	b.grant()
}

func (b *budget) claim(user string, size int64) *claim {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.accounts[user]
	if a == nil {
		a = &account{user: user}
		b.accounts[user] = a
	}
	c := &claim{size, make(chan struct{})}
	if a.claims = append(a.claims, c); len(a.claims) == 1 {
		b.turns = append(b.turns, a)
	}
	b.grant()
	return c
}

// withdraw takes a claim back, which may have been granted in the meantime.
func (b *budget) withdraw(user string, c *claim) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.accounts[user]
	if i := slices.Index(a.claims, c); i >= 0 {
		a.claims = slices.Delete(a.claims, i, i+1)
	} else {
		a.held -= c.size
		b.free += c.size
	}
	if len(a.claims) == 0 {
		b.turns = slices.DeleteFunc(b.turns, func(other *account) bool { return other == a })
	}
	b.forget(a)
	b.grant()
}

func (b *budget) forget(a *account) {
	if a.held == 0 && len(a.claims) == 0 {
		delete(b.accounts, a.user)
	}
}

// grant grants claims as long as the next one fits. The next one waits until it fits: smaller claims don't pass it.
func (b *budget) grant() {
	for {
		i := slices.IndexFunc(b.turns, b.mayHave)
		if i < 0 || b.turns[i].claims[0].size > b.free {
			return
		}
		a := b.turns[i]
		c := a.claims[0]
		a.claims = a.claims[1:]
		a.held += c.size
		b.free -= c.size
		b.turns = slices.Delete(b.turns, i, i+1)
		if len(a.claims) > 0 {
			b.turns = append(b.turns, a)
		}
		close(c.granted)
	}
}

// mayHave reports whether a user who waits may have more.
func (b *budget) mayHave(a *account) bool {
	return a.held == 0 || a.held+a.claims[0].size <= b.size/2
}
