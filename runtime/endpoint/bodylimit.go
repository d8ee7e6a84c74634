package endpoint

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Decoding, converting and encoding a body takes about forty times its size in memory, and twice as much for YAML. So
// the server bounds the sum of the sizes of the large bodies that it works on at once. Other large bodies wait, up to
// the deadlines of their requests.
const (
	// smallBody is the size up to which a body doesn't count.
	smallBody = 128 << 10
	// maxBodyBytes bounds the sum of the sizes. A single body may be larger.
	maxBodyBytes = 8 << 20
	// yamlFactor multiplies the size of a body in YAML.
	yamlFactor = 2
)

// reserveBody waits until the server may work on a body of that size. The body has been read, so that a slow client
// reserves nothing. releaseBody ends the reservation when the request has been served.
func (req *resourceRequest) reserveBody(ctx context.Context, size int64) error {
	if size <= smallBody || req.reserved > 0 {
		return nil
	}
	size = min(size, maxBodyBytes)
	if err := req.api.bodies.Acquire(ctx, size); err != nil {
		return apierrors.NewTooManyRequests("too many large requests are being worked on, please try again later", 1)
	}
	req.reserved = size
	return nil
}

// releaseBody ends the reservation of reserveBody.
func (req *resourceRequest) releaseBody() {
	if req.reserved > 0 {
		req.api.bodies.Release(req.reserved)
		req.reserved = 0
	}
}
