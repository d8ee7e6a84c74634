package reach

import (
	"context"

	"apigen.dev/runtime/internal/request"
)

// Warn adds a text to the warnings of the answer (the header Warning), which kubectl shows to the user. It does nothing
// outside of the functions of subresources that clients POST to, and of those that validate an object that is written.
func Warn(ctx context.Context, text string) { request.WarningsFrom(ctx).Add(text) }
