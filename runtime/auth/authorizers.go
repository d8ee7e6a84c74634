package auth

import (
	"context"
	"slices"
)

// MastersOnly allows the group system:masters everything, and has no opinion on other users, whom the server therefore
// denies everything. It is the server's authorizer as long as no other is configured.
type MastersOnly struct{}

// Authorize implements Authorizer.
func (MastersOnly) Authorize(_ context.Context, a Attributes) (Decision, string, error) {
	if a.User != nil && slices.Contains(a.User.Groups, Masters) {
		return Allow, "", nil
	}
	return NoOpinion, "", nil
}
