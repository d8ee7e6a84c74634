package auth

import "context"

type userKey struct{}

// WithUser returns a context that carries who sends the request.
func WithUser(ctx context.Context, user *User) context.Context {
	return context.WithValue(ctx, userKey{}, user)
}

// UserFrom returns the user that a request was authenticated as, or nil.
func UserFrom(ctx context.Context) *User {
	user, _ := ctx.Value(userKey{}).(*User)
	return user
}
