package auth

import (
	"context"
	"time"
)

// TokenIssuer signs tokens of service accounts.
type TokenIssuer interface {
	// IssueToken returns a token and when it expires. The issuer shortens a lifetime that is too long.
	// An error that is an API status reaches the client as it is.
	IssueToken(ctx context.Context, request TokenRequest) (token string, expires time.Time, err error)
	// LongestLife is the lifetime to which the issuer shortens longer ones; 0 means no bound.
	LongestLife() time.Duration
}

// TokenRequest says which token to sign. Whoever asks has checked that the account and the bound object exist with
// these UIDs, and that the client may have the token.
type TokenRequest struct {
	Account TokenAccount
	// Audiences are those for which the token is to be valid; none stands for those of the server itself.
	Audiences []string
	// Seconds is the lifetime of the token.
	Seconds int64
	// Bound is the object with which the token dies beside its account, or nil.
	Bound *BoundObject
}

// TokenAccount is the service account that a token authenticates.
type TokenAccount struct {
	Namespace, Name, UID string
}

// BoundObject is an object in the account's namespace, such as a Secret or a Pod, or a Node. A token that is bound to
// it is valid as long as the object exists.
type BoundObject struct {
	APIVersion, Kind, Name, UID string
}
