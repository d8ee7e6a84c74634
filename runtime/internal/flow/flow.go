// Package flow shares a server among its clients: every request belongs to a priority level by rules (package class),
// occupies seats by its estimated cost (package cost), and waits in the fair queues of its level (package queue). The
// seats of the server are divided among the levels (package share). A Controller holds what is configured, and shows
// what happens: metrics and pages under kube-apiserver's names.
//
// It may know packages auth, request, and those below it. It knows no objects of the API: package builtin/flowcontrol
// makes its configuration of them.
package flow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/flow/class"
	"apigen.dev/runtime/internal/flow/queue"
	"apigen.dev/runtime/internal/flow/share"
	"apigen.dev/runtime/internal/request"
)

// borrowingPeriod is how often seats are divided anew.
const borrowingPeriod = 10 * time.Second

// Level is what is configured for a priority level. Name is unique; UID is what clients see of it.
type Level struct {
	Name, UID string
	Share     share.Level
	// Queues says how the level queues. Its Exempt is that of Share.
	Queues queue.Config
}

// Controller lets requests execute, or wait, or rejects them. It is safe for concurrent use.
type Controller struct {
	seats int
	clock queue.Clock
	// state is what is configured now. A request keeps the state that it found.
	state   atomic.Pointer[state]
	watches watches
	metrics *metrics

	mu sync.Mutex // guards the fields below, and changes of state
	// claims and sources are kept across changes of the configuration, as long as something uses them.
	claims  map[string]*claim
	sources map[[2]string]*source // by level and schema
	frac    float64
}

// state is a configuration. It is immutable, but for what it shares with other states, claims and sources, and for what
// it remembers of users.
type state struct {
	levels  []*level // in the order of their names
	schemas []*class.Schema
	routes  []route // one for each schema
	users   users
}

// route is where the requests of a schema go.
type route struct {
	schema *class.Schema
	level  *level
	source *source
	uids   *[2]string // of the schema and the level
}

// level is a level of a state. Levels of several states share what counts their requests.
type level struct {
	Level
	*claim
	// maxSeats is the number of seats that one request may have; 0 means no bound.
	maxSeats int
	// quiescing is a level that is no longer configured, and whose last requests are under way.
	quiescing bool
}

// claim is what is kept of a level while its configuration changes.
type claim struct {
	set   *queue.Set
	drops drops

	// Controller.mu guards these.
	limits  share.Limits
	demand  share.Demand
	current int
	target  float64
}

// source has the counts of the requests of one schema in one level.
type source struct {
	queue.Flow
	observers
	claim *claim
}

// New returns a Controller of a number of seats, in which nothing is configured yet: Configure comes before requests.
func New(seats int, clock queue.Clock) *Controller {
	c := &Controller{seats: seats, clock: clock, claims: map[string]*claim{}, sources: map[[2]string]*source{},
		metrics: newMetrics(clock)}
	c.watches.count = map[watched]int{}
	c.state.Store(&state{})
	return c
}

// Configure puts a configuration in force. The names of the levels, and those of the schemas, are distinct. It leaves
// out schemas without a level. Requests that no schema selects belong to the last one, of the highest precedence. A
// level that is gone keeps its seats until its requests have ended. After an error, the old configuration stays in
// force.
func (c *Controller) Configure(levels []Level, schemas []*class.Schema) error {
	var errs []error
	for _, l := range levels {
		if err := l.Queues.Check(); err != nil {
			errs = append(errs, fmt.Errorf("priority level %s: %w", l.Name, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.replace(levels, schemas)
	return nil
}

// replace makes the state of a configuration, in which levels that are still busy stay. c.mu is locked.
func (c *Controller) replace(levels []Level, schemas []*class.Schema) {
	next := &state{}
	for _, l := range levels {
		l.Queues.Exempt = l.Share.Exempt
		next.levels = append(next.levels, &level{Level: l, claim: c.claim(l)})
	}
	for _, old := range c.state.Load().levels {
		same := func(l *level) bool { return l.Name == old.Name }
		if !slices.ContainsFunc(next.levels, same) && !old.set.Idle() {
			next.levels = append(next.levels, &level{Level: old.Level, claim: old.claim, quiescing: true})
		}
	}
	slices.SortFunc(next.levels, func(a, b *level) int { return strings.Compare(a.Name, b.Name) })
	c.divide(next.levels)
	next.schemas = slices.Clone(schemas)
	class.Sort(next.schemas)
	next.schemas = slices.DeleteFunc(next.schemas, func(s *class.Schema) bool { return next.level(s.Level) == nil })
	for _, s := range next.schemas {
		l := next.level(s.Level)
		next.routes = append(next.routes, route{s, l, c.source(l, s), &[2]string{s.UID, l.UID}})
	}
	c.state.Store(next)
	c.forget(next)
	c.borrow(next.levels)
	c.metrics.relate(c.clock.Now(), next.levels)
}

// level returns the configured level of a name, or nil.
func (s *state) level(name string) *level {
	for _, l := range s.levels {
		if l.Name == name && !l.quiescing {
			return l
		}
	}
	return nil
}

// claim returns what is kept of a level.
func (c *Controller) claim(l Level) *claim {
	known := c.claims[l.Name]
	if known == nil {
		known = &claim{set: queue.New(c.clock, l.Queues), current: -1}
		c.claims[l.Name] = known
	}
	return known
}

// source returns the counts of a schema in a level.
func (c *Controller) source(l *level, s *class.Schema) *source {
	key := [2]string{l.Name, s.Name}
	if known := c.sources[key]; known != nil && known.claim == l.claim {
		return known
	}
	made := &source{Flow: queue.Flow{Name: s.Name}, claim: l.claim, observers: c.metrics.observers(l.Name, s.Name)}
	made.Enqueued = func(length int) { made.length.Observe(float64(length)) }
	c.sources[key] = made
	return made
}

// forget drops what no level and no schema uses any more.
func (c *Controller) forget(now *state) {
	maps.DeleteFunc(c.claims, func(name string, _ *claim) bool {
		return !slices.ContainsFunc(now.levels, func(l *level) bool { return l.Name == name })
	})
	maps.DeleteFunc(c.sources, func(key [2]string, s *source) bool {
		gone := c.claims[key[0]] != s.claim
		if gone {
			c.metrics.forget(key[0], key[1])
		}
		return gone
	})
}

// maxPart is the part of its seats that one request of a level may have.
const maxPart = 0.15

// divide sets the limits of levels that follow from their shares.
func (c *Controller) divide(levels []*level) {
	shares := make([]share.Level, len(levels))
	for i, l := range levels {
		shares[i] = l.Share
	}
	for i, limits := range share.Divide(c.seats, shares) {
		l := levels[i]
		l.limits = limits
		if l.current < 0 {
			l.current = limits.Initial()
		}
		if l.Queues.Queues > 0 {
			part := math.Ceil(float64(limits.Nominal) * maxPart)
			l.maxSeats = max(1, min(int(part), limits.Nominal/l.Queues.Hand))
		}
	}
}

// borrow divides the seats by the demand since the last time. c.mu is locked.
func (c *Controller) borrow(levels []*level) {
	claims := make([]share.Claim, len(levels))
	for i, l := range levels {
		d := l.set.TakeDemand()
		l.demand = l.demand.Next(d.Period.Seconds(), d.Average, d.Deviation, d.Max)
		claims[i] = share.Claim{Limits: l.limits, Demand: l.demand, Exempt: l.Share.Exempt}
		l.target = claims[i].Target()
	}
	var seats []int
	seats, c.frac = share.Borrow(claims)
	for i, n := range seats {
		of := n
		if n <= 0 {
			of = max(1, int(math.Round(float64(c.seats)/10)))
		}
		levels[i].current = n
		levels[i].set.Configure(levels[i].Queues, n, of)
	}
}

// Adjust divides the seats by the demand since the last time, and drops levels that are gone.
func (c *Controller) Adjust() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.state.Load()
	if !slices.ContainsFunc(now.levels, func(l *level) bool { return l.quiescing && l.set.Idle() }) {
		c.borrow(now.levels)
		return
	}
	var configured []Level
	for _, l := range now.levels {
		if !l.quiescing {
			configured = append(configured, l.Level)
		}
	}
	c.replace(configured, now.schemas)
}

// Run adjusts the seats every ten seconds until ctx ends.
func (c *Controller) Run(ctx context.Context) error {
	tick := time.NewTicker(borrowingPeriod)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.Adjust()
		case <-ctx.Done():
			return nil
		}
	}
}

// find returns where a request goes.
func (s *state) find(user *auth.User, info *request.Info) route {
	at := s.users.candidates(user, s.schemas).Find(info)
	if at < 0 {
		at = len(s.routes) - 1
	}
	return s.routes[at]
}
