package endpoint

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Decoding, converting and encoding a body takes some forty times its size in memory while it lasts, and twice that where
// it is YAML. So bodies beyond a small one are weighed, and only so many bytes of them are worked on at once, whoever sends
// them: the others wait, up to their deadline.
const (
	freeBody     = 128 << 10
	maxBodyBytes = 8 << 20 // of all bodies that are weighed; a single one is always let through
	yamlWeight   = 2
)

// weigh waits until there is room for a body of that size, which has been read: who sends slowly takes no room. It is
// given back when the call has been served.
func (c *call) weigh(ctx context.Context, size int64) error {
	if size <= freeBody || c.weight > 0 {
		return nil
	}
	size = min(size, maxBodyBytes)
	if err := c.api.bodies.Acquire(ctx, size); err != nil {
		return apierrors.NewTooManyRequests("too many large requests are being worked on, please try again later", 1)
	}
	c.weight = size
	return nil
}

// unweigh gives back what weigh took.
func (c *call) unweigh() {
	if c.weight > 0 {
		c.api.bodies.Release(c.weight)
		c.weight = 0
	}
}
