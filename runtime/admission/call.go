package admission

import (
	"context"
	"errors"
	"time"

	"apigen.dev/runtime/internal/timing"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Call is how a call of a plug-in, or of all of them, went.
type Call struct {
	Duration time.Duration
	// Err is what the client gets, or nil.
	Err error
}

func (c *Chain) call(
	ctx context.Context, a *Attributes, p *Plugin, mutating bool, run func(context.Context, *Attributes) error,
) error {
	if c.observe == nil {
		return status(ctx, a, run(ctx, a))
	}
	began := time.Now()
	err := status(ctx, a, run(ctx, a))
	timing.End(ctx, timing.Admission, p.Name, began)
	c.observe(p, a, mutating, Call{Duration: time.Since(began), Err: err})
	return err
}

// ended tells the observer how all calls went, and returns their error.
func (c *Chain) ended(a *Attributes, mutating bool, began time.Time, err error) error {
	if c.observe != nil {
		c.observe(nil, a, mutating, Call{Duration: time.Since(began), Err: err})
	}
	return err
}

// status returns the error of a plug-in as clients get it.
func status(ctx context.Context, a *Attributes, err error) error {
	if err == nil {
		return nil
	}
	var known apierrors.APIStatus
	if errors.As(err, &known) {
		return err
	}
	if ended := ctx.Err(); ended != nil && errors.Is(err, ended) {
		return apierrors.NewTimeoutError("the request ended while the admission of "+a.Resource.Resource+" ran: "+
			err.Error(), 0)
	}
	return Forbidden(a, err)
}
