package auth

import "context"

type userKey struct{}

// WithUser returns a context that carries the user who sends the request.
func WithUser(ctx context.Context, user *User) context.Context {
	return context.WithValue(ctx, userKey{}, user)
}

// UserFrom returns the user that ctx carries, or nil.
func UserFrom(ctx context.Context) *User {
	user, _ := ctx.Value(userKey{}).(*User)
	return user
}
