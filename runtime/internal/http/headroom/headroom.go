// Package headroom refuses the largest requests when memory gets short, so that the server lives on and small requests
// pass. A request holds a Claim, to which it adds the bytes that it is about to take: what a list reads from storage or
// renders, and what a large body takes to decode. An Account sums the claims, and knows how much of the process's
// memory limit a garbage collection would leave in use.
//
// It may know no other package of ours.
package headroom

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// threshold is the percentage of the limit up to which an Account refuses nothing. What is above it is left to the
	// largest claims last. It also covers what nobody claims: buffers of connections, fragmentation, garbage.
	threshold = 85
	// small is how much a request may always hold, so that small lists pass while large ones don't.
	small = 64 << 10
	// readInterval is how long a Reading is used.
	readInterval = 5 * time.Millisecond
	// collectInterval is how old the last garbage collection is when a refusal starts another one: a Reading may count
	// what requests have given back since.
	collectInterval = time.Second
)

// Kind is what an Account counts refused requests by.
type Kind int

// The kinds of requests.
const (
	Read Kind = iota
	Write
	kinds
)

// Account knows how much memory there is, and how much requests have claimed. It is safe for concurrent use. A nil
// Account has no limit and measures nothing.
type Account struct {
	limit   int64
	exempt  func(ctx context.Context) bool
	read    func() Reading
	now     func() time.Time
	collect func()

	mu      sync.Mutex // guards the fields below
	reading Reading
	readAt  time.Time
	cycleAt time.Time // when a read first saw the last garbage collection
	claimed int64     // by all claims
	claims  int       // that hold something
	refused [kinds]int64
	// collecting: a garbage collection that a refusal started is under way.
	collecting bool
}

// New returns the Account of the process: nil if the process has no memory limit, as GOMEMLIMIT or
// debug.SetMemoryLimit set it. exempt reports whether nothing limits the request of a context.
func New(exempt func(ctx context.Context) bool) *Account {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return nil
	}
	return &Account{limit: limit, exempt: exempt, read: readRuntime(), now: time.Now, collect: runtime.GC}
}

// Claim returns the claim of a request, which holds nothing yet.
func (a *Account) Claim(ctx context.Context, kind Kind) Claim {
	return Claim{account: a, ctx: ctx, kind: kind}
}

// Claim is what one request holds, or is about to. One goroutine uses it. The zero value has no limit.
type Claim struct {
	account *Account
	ctx     context.Context //nolint:containedctx // a Claim is a part of one request, and lives as long
	kind    Kind
	held    int64
}

// Hold adds bytes to the claim before the request takes them. It returns an error 429 if memory is short and the
// request would hold more than its share of what is left; the claim then stays what it was.
func (c *Claim) Hold(bytes int64) error {
	a := c.account
	if a == nil || bytes <= 0 {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	others := a.claims
	if c.held > 0 {
		others--
	}
	if !a.fits(c.held, bytes, others) && !a.exempt(c.ctx) {
		a.refused[c.kind]++
		a.collectIfStale()
		return refusal(c.held + bytes)
	}
	a.claims = others + 1
	a.claimed += bytes
	c.held += bytes
	return nil
}

// Release gives back what the claim holds. It may be called more than once.
func (c *Claim) Release() {
	if c.held == 0 {
		return
	}
	a := c.account
	a.mu.Lock()
	defer a.mu.Unlock()
	a.claims--
	a.claimed -= c.held
	c.held = 0
}

// GiveBack gives a part back, of what the claim holds.
func (c *Claim) GiveBack(bytes int64) {
	if bytes = min(bytes, c.held); bytes == c.held {
		c.Release()
		return
	}
	a := c.account
	a.mu.Lock()
	defer a.mu.Unlock()
	a.claimed -= bytes
	c.held -= bytes
}

// fits reports whether a claim that holds some bytes may hold more, beside other claims. Each claim may hold as much as
// if all of them shared what is left of the limit, so that the largest are refused first, and all together never hold
// more than there is. A claim whose bytes the last garbage collection has found alive counts twice until it is
// released: nobody knows which bytes are whose, and the server must not hope.
func (a *Account) fits(held, more int64, others int) bool {
	a.refresh()
	inUse := a.reading.Used + a.claimed
	if inUse+more <= a.limit/100*threshold {
		return true
	}
	share := (a.limit - inUse + held) / int64(others+1)
	return held+more <= max(share, small)
}

// refresh reads again if the last Reading is old.
func (a *Account) refresh() {
	now := a.now()
	if !a.readAt.IsZero() && now.Sub(a.readAt) < readInterval {
		return
	}
	next := a.read()
	if next.Collections != a.reading.Collections || a.readAt.IsZero() {
		a.cycleAt = now
	}
	a.reading, a.readAt = next, now
}

// collectIfStale starts a garbage collection if the last one is old. Without it, a server that refuses all large
// requests would allocate little, and keep an old Reading for minutes.
func (a *Account) collectIfStale() {
	if a.collecting || a.now().Sub(a.cycleAt) < collectInterval {
		return
	}
	a.collecting = true
	go func() {
		a.collect()
		a.mu.Lock()
		defer a.mu.Unlock()
		a.collecting, a.readAt = false, time.Time{}
	}()
}

func refusal(bytes int64) error {
	const mebibyte = 1 << 20
	return apierrors.NewTooManyRequests(fmt.Sprintf("the server is short of memory, and this request needs about "+
		"%d MiB of it at once: try again later, or ask for less at once, for example with limit=500",
		(bytes+mebibyte-1)/mebibyte), 1)
}

// Stats are the numbers of an Account.
type Stats struct {
	// Limit is the memory limit, in bytes; 0 is none. Claimed is what requests hold or are about to.
	Limit, Claimed int64
	// Reads and Writes are how many requests were refused.
	Reads, Writes int64
}

// Stats returns the present numbers.
func (a *Account) Stats() Stats {
	if a == nil {
		return Stats{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return Stats{Limit: a.limit, Claimed: a.claimed, Reads: a.refused[Read], Writes: a.refused[Write]}
}
