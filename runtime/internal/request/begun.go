package request

import "context"

type begunKey struct{}

// WithBegun returns a context whose watch calls begun once it has told its client the state with which it begins. begun
// may be called several times.
func WithBegun(ctx context.Context, begun func()) context.Context {
	return context.WithValue(ctx, begunKey{}, begun)
}

// Begun tells those who wait for it that the watch of ctx has told its client the state with which it begins.
func Begun(ctx context.Context) {
	if begun, ok := ctx.Value(begunKey{}).(func()); ok {
		begun()
	}
}
