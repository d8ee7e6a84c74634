package auth

import "context"

// Access is how a server decides who its clients are and what they may do. The logic of kinds, such as reviews of
// tokens and permissions, finds it in the context of a request. It is immutable.
type Access struct {
	// Tokens finds the users of bearer tokens.
	Tokens TokenAuthenticator
	// Audiences are those of the server itself.
	Audiences []string
	// Authorizer decides what users may do.
	Authorizer Authorizer
	// Issuer signs tokens of service accounts, or is nil if the server signs none.
	Issuer TokenIssuer
}

type accessKey struct{}

// WithAccess returns a context that carries access.
func WithAccess(ctx context.Context, access *Access) context.Context {
	return context.WithValue(ctx, accessKey{}, access)
}

// AccessFrom returns the Access that ctx carries: never nil, but without authenticator and authorizer where ctx belongs
// to no request.
func AccessFrom(ctx context.Context) *Access {
	if access, ok := ctx.Value(accessKey{}).(*Access); ok {
		return access
	}
	return &Access{}
}
