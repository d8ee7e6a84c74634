package reach

import (
	"context"
	"sync"
)

type warningsKey struct{}

// Warnings collects what functions warn of by Warn. It is safe for concurrent use.
type Warnings struct {
	mu    sync.Mutex
	texts []string
}

// WithWarnings returns a context in which Warn adds to warnings.
func WithWarnings(ctx context.Context, warnings *Warnings) context.Context {
	return context.WithValue(ctx, warningsKey{}, warnings)
}

// Texts returns the warnings in their order.
func (w *Warnings) Texts() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.texts
}

// Warn adds a text to the warnings of the answer (the header Warning), which kubectl shows to the user. It does nothing
// outside of the functions of subresources that clients POST to, and of those that validate an object that is written.
func Warn(ctx context.Context, text string) {
	if w, ok := ctx.Value(warningsKey{}).(*Warnings); ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.texts = append(w.texts, text)
	}
}
