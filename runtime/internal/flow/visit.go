package flow

import (
	"context"
	"net/http"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/flow/cost"
	"apigen.dev/runtime/internal/flow/queue"
	"apigen.dev/runtime/internal/request"
)

// Visit is a request that a Controller has classified. Its maker calls Enter, and if that returns nil, Leave once.
type Visit struct {
	controller *Controller
	route      route
	ticket     queue.Ticket
	user       *auth.User
	info       *request.Info
}

// Classify finds the schema and the level of a request.
func (c *Controller) Classify(user *auth.User, info *request.Info) *Visit {
	return &Visit{controller: c, route: c.state.Load().find(user, info), user: user, info: info}
}

// Names returns the names of the schema and the level that the request matched.
func (v *Visit) Names() (schema, level string) { return v.route.schema.Name, v.route.level.Name }

// UIDs returns what clients see of the schema and the level, each as the values of a header, which nobody changes.
func (v *Visit) UIDs() (schema, level []string) {
	uids := v.route.uids
	return uids[:1:1], uids[1:2:2]
}

// Exempt reports whether nothing limits the request.
func (v *Visit) Exempt() bool { return v.route.level.Share.Exempt }

// Estimate returns the cost of the request, and the expected size of its answer in bytes if it is a list.
func (v *Visit) Estimate(by *cost.Estimator, r *http.Request) (queue.Estimate, int64) {
	estimate, bytes, watches := by.Estimate(r, v.info, v.route.level.maxSeats)
	if watches >= 0 {
		v.route.source.watches.Observe(float64(watches))
	}
	v.route.source.seats.Observe(float64(estimate.Max()))
	return estimate, bytes
}

// Enter waits until the request may execute, as long as limit says, or until ctx ends. It returns a queue.Rejection for
// a request that may not. It asks limit only if the request must wait.
func (v *Visit) Enter(ctx context.Context, estimate queue.Estimate, limit func() time.Duration) error {
	r, c := v.route, v.controller
	distinguisher, hash := "", uint64(0)
	if r.level.Queues.Queues > 1 {
		distinguisher, hash = r.schema.Flow(v.user, v.info)
	}
	err := r.level.set.Enter(&v.ticket, queue.Arrival{
		Flow: &r.source.Flow, Hash: hash, Distinguisher: distinguisher, Estimate: estimate, Detail: v,
	})
	if err == nil && v.ticket.Waited() {
		err = v.wait(ctx, limit())
	}
	switch {
	case v.Exempt():
	case err != nil:
		r.source.rejected.Observe(c.clock.Now().Sub(v.ticket.Arrived()).Seconds())
	default:
		r.source.waited.Observe(v.ticket.Started().Sub(v.ticket.Arrived()).Seconds())
	}
	if err != nil {
		r.level.drops.add(c.clock.Now().Unix())
		return err
	}
	c.metrics.executing(v.ticket.Started(), v.info, 1)
	return nil
}

func (v *Visit) wait(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c := v.controller
	c.metrics.waiting(c.clock.Now(), v.info, 1)
	defer func() { c.metrics.waiting(c.clock.Now(), v.info, -1) }()
	return v.ticket.Wait(ctx)
}

// Leave ends the execution of the request.
func (v *Visit) Leave() {
	ended := v.ticket.Leave()
	took := ended.Sub(v.ticket.Started()).Seconds()
	if v.info.Verb == request.VerbWatch {
		v.route.source.watch.Observe(took)
	} else {
		v.route.source.regular.Observe(took)
	}
	v.controller.metrics.executing(ended, v.info, -1)
}

// Arrived returns when the request entered. It is for the time after Enter returned.
func (v *Visit) Arrived() time.Time { return v.ticket.Arrived() }

// RetryAfter returns after how many seconds the client of a rejected request should come again. It grows while many
// requests of the level are rejected.
func (v *Visit) RetryAfter() int { return v.route.level.drops.retryAfter() }
