package request

import (
	"context"
	"sync"
)

type warningsKey struct{}

// Warnings collects what functions warn of by reach.Warn. It is safe for concurrent use.
type Warnings struct {
	mu    sync.Mutex
	texts []string
}

// WithWarnings returns a context in which reach.Warn adds to warnings.
func WithWarnings(ctx context.Context, warnings *Warnings) context.Context {
	return context.WithValue(ctx, warningsKey{}, warnings)
}

// Texts returns the warnings in their order.
func (w *Warnings) Texts() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.texts
}

// WarningsFrom returns the Warnings that ctx carries, or nil.
func WarningsFrom(ctx context.Context) *Warnings {
	w, _ := ctx.Value(warningsKey{}).(*Warnings)
	return w
}

// Add adds a text. It does nothing on nil.
func (w *Warnings) Add(text string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}
