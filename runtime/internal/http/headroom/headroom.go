// Package headroom refuses the largest requests when memory gets short, so that the server lives on and small requests
// pass. A request holds a Claim, to which it adds the bytes that it is about to take: what a list reads from storage or
// renders, and what a large body takes to decode. An Account sums the claims, and knows how much of the process's
// memory limit a garbage collection would leave in use.
//
// It may know package stats.
package headroom

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"apigen.dev/runtime/internal/state/stats"
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
	claims  int       // that hold something
	claimed int64     // by all claims
	// fresh was held since the last garbage collection, which therefore has not counted it. expected may be taken at
	// any time. gone was held before the collection, and released since.
	fresh, expected, gone int64
	refused               [kinds]int64
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

// Claim returns the claim of a request, which holds nothing yet; nil if there is no limit.
func (a *Account) Claim(ctx context.Context, kind Kind) *Claim {
	if a == nil {
		return nil
	}
	return &Claim{account: a, ctx: ctx, kind: kind}
}

// Claim is what one request holds, or is about to. One goroutine uses it. nil has no limit.
type Claim struct {
	account *Account
	ctx     context.Context //nolint:containedctx // a Claim is a part of one request, and lives as long
	kind    Kind
	held    int64
	// fresh and expected are the claim's parts of those of the Account, fresh as long as collections is the last one.
	fresh, expected int64
	collections     uint64
}

// Hold adds bytes to the claim that the request takes at once. It returns an error 429 if memory is short and the
// request would hold more than its share of what is left; the claim then stays what it was.
func (c *Claim) Hold(bytes int64) error { return c.add(bytes, false) }

// Expect is Hold for bytes that the request takes while it goes on. They count beside what the last garbage collection
// has found alive until they are given back, because nobody knows how many of them it has found.
func (c *Claim) Expect(bytes int64) error { return c.add(bytes, true) }

func (c *Claim) add(bytes int64, expected bool) error {
	if c == nil || bytes <= 0 {
		return nil
	}
	a := c.account
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refresh()
	c.settle()
	others := a.claims
	if c.held > 0 {
		others--
	}
	if !a.fits(c.held, bytes, others) && !a.exempt(c.ctx) {
		a.refused[c.kind]++
		a.collectIfStale()
		return refusal(c.kind, c.held+bytes)
	}
	a.claims = others + 1
	a.claimed += bytes
	c.held += bytes
	if expected {
		a.expected += bytes
		c.expected += bytes
	} else {
		a.fresh += bytes
		c.fresh += bytes
	}
	return nil
}

// settle says that a garbage collection has counted what was fresh before it. The Account is locked.
func (c *Claim) settle() {
	if now := c.account.reading.Collections; c.collections != now {
		c.fresh, c.collections = 0, now
	}
}

// Release gives back what the claim holds. It may be called more than once.
func (c *Claim) Release() {
	if c == nil || c.held == 0 {
		return
	}
	a := c.account
	a.mu.Lock()
	defer a.mu.Unlock()
	c.settle()
	a.claims--
	a.claimed -= c.held
	a.fresh -= c.fresh
	a.expected -= c.expected
	a.gone += c.held - c.fresh - c.expected
	c.held, c.fresh, c.expected = 0, 0, 0
}

// GiveBack gives back what the request expected.
func (c *Claim) GiveBack() {
	if c == nil || c.expected == 0 {
		return
	}
	if c.expected == c.held {
		c.Release()
		return
	}
	a := c.account
	a.mu.Lock()
	defer a.mu.Unlock()
	a.claimed -= c.expected
	a.expected -= c.expected
	c.held -= c.expected
	c.expected = 0
}

// fits reports whether a claim that holds some bytes may hold more, beside other claims. Each claim may hold as much as
// if all of them shared what is left of the limit, so that the largest are refused first, and all together never hold
// more than there is.
func (a *Account) fits(held, more int64, others int) bool {
	inUse := a.reading.Used + a.fresh + a.expected - a.gone
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
		a.cycleAt, a.fresh, a.gone = now, 0, 0
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

func refusal(kind Kind, bytes int64) error {
	const mebibyte = 1 << 20
	remedy := "ask for less at once, for example with limit=500"
	if kind == Write {
		remedy = "send a smaller object"
	}
	return apierrors.NewTooManyRequests(fmt.Sprintf("the server is short of memory, and this request needs about "+
		"%d MiB of it at once: try again later, or %s",
		(bytes+mebibyte-1)/mebibyte, remedy), 1)
}

// Collect sends the memory limit, what requests have claimed, and how many were refused.
func (a *Account) Collect(out *stats.Series) {
	var limit, claimed int64
	var refused [kinds]int64
	if a != nil {
		a.mu.Lock()
		limit, claimed, refused = a.limit, a.claimed, a.refused
		a.mu.Unlock()
	}
	out.Gauge("apigen_memory_limit_bytes",
		"Memory limit of the server, by GOMEMLIMIT or by its control group; 0 is none.", limit)
	out.Gauge("apigen_memory_claimed_bytes",
		"Memory that large requests hold or are about to take. It is 0 if there is no memory limit.", claimed)
	out.Counters("apigen_memory_refused_requests_total",
		"Requests that were refused with 429 because they needed more than their share of the memory that was left.",
		"request_kind", map[string]int64{"readOnly": refused[Read], "mutating": refused[Write]})
}
