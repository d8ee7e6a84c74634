// Package audit lets the logic of a kind add to the audit events of the request that it runs for. Package auditlog of
// builtin makes a server audit its requests.
//
// It may know package trail, which records requests.
package audit

import (
	"context"

	"apigen.dev/runtime/internal/audit/trail"
)

// Annotate adds an annotation to the events of the request that ctx belongs to. The first value of a key stays. It does
// nothing where the request isn't audited.
func Annotate(ctx context.Context, key, value string) { trail.Annotate(ctx, key, value) }
