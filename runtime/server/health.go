package server

import (
	"context"
	"errors"
	"slices"
	"time"

	"apigen.dev/runtime/internal/http/health"
	"apigen.dev/runtime/storage"
)

// health returns the handler of /livez, /readyz and /healthz.
func (s *Server) health() *health.Handler {
	ping := health.Check{Name: "ping", Ask: func(context.Context) error { return nil }}
	ready := []health.Check{ping, health.Storage("storage", s.config.Backend)}
	if m, ok := s.config.Backend.(storage.Maintainer); ok {
		ready = append(ready, health.Check{Name: "storage-space",
			Ask: func(ctx context.Context) error { return health.SpaceLeft(ctx, m, spaceAdvice) }})
	}
	for _, handle := range s.handles {
		name := handle.Info().GroupResource().String()
		ready = append(ready, health.Check{Name: name, Ask: func(context.Context) error { return handle.Ready() }})
	}
	if s.collector != nil {
		ready = append(ready, health.Check{Name: "garbage-collector",
			Ask: func(context.Context) error { return s.collector.Ready() }})
	}
	live := []health.Check{ping}
	graceEnds := time.Now().Add(s.config.LivezGracePeriod)
	for _, hook := range s.hooks {
		ready = append(ready, hook.check())
		live = append(live, hook.check().After(graceEnds))
	}
	healthy := slices.Clone(ready)
	ready = append(ready, health.Check{Name: "shutdown", Ask: func(context.Context) error {
		select {
		case <-s.ending:
			return errors.New("the server is shutting down")
		default:
			return nil
		}
	}})
	return health.New(live, ready, healthy)
}
