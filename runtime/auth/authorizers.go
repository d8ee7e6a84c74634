package auth

import (
	"context"
	"slices"
)

// MastersOnly lets the group system:masters do everything, and has no opinion on other users, so that the server denies
// their requests. A server uses it until its operator configures authorization.
type MastersOnly struct{}

// Authorize implements Authorizer.
func (MastersOnly) Authorize(_ context.Context, a Attributes) (Decision, string, error) {
	if a.User != nil && slices.Contains(a.User.Groups, Masters) {
		return Allow, "", nil
	}
	return NoOpinion, "", nil
}
