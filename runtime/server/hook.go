package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"runtime/debug"
	"slices"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/http/health"
)

// Hook is work that runs in the process of the server, beside its requests: it makes objects that must be there, or it
// is a controller. Its functions may be nil.
//
// The context of the functions reaches the objects of the server (package reach), and the server itself (LoopbackFrom),
// with the rights of system:masters, under the name system:apiserver. PostStart and Run have one context, which ends
// after the server has answered its last request.
//
// If PostStart or Run fails or panics, the server shuts down, and Server.Run returns an error that names the hook. An
// error after the context has ended is not a failure.
type Hook struct {
	// Name is unique among the hooks of a server. It consists of lower-case letters, digits, and dashes and slashes
	// between them.
	Name string
	// PostStart runs once the server accepts connections, at the same time as the other hooks. The checks
	// poststarthook/<Name> of /readyz, /healthz and /livez fail until it has returned without an error; that of /livez
	// passes during Config.LivezGracePeriod.
	PostStart func(ctx context.Context) error
	// Run begins once PostStart has returned without an error. If it returns nil, its work is done, and the server goes
	// on. After the context has ended, the server waits for PostStart and Run up to Config.ShutdownTimeout before it
	// closes storage. It logs the names of hooks that have not ended by then, and Server.Run returns an error.
	Run func(ctx context.Context) error
	// PreShutdown runs when the server begins to shut down, at the same time as those of other hooks, whether or not
	// PostStart has returned. The server still serves requests, but /readyz fails. The server waits up to
	// Config.ShutdownTimeout, after which the context ends. It logs an error, a panic, or that PreShutdown has not
	// ended.
	PreShutdown func(ctx context.Context) error
}

// systemUser is the user of hooks.
var systemUser = &auth.User{Name: "system:apiserver", Groups: []string{auth.Masters, auth.Authenticated}}

// running is a hook of a server and its progress.
type running struct {
	Hook
	// started is closed once PostStart has returned without an error, ended once PostStart and Run have ended, and
	// prepared once PreShutdown has.
	started, ended, prepared chan struct{}
	// err is why the hook failed. It is constant once ended is closed.
	err error
}

var hookName = regexp.MustCompile(`^[a-z0-9]+([-/][a-z0-9]+)*$`)

// newHooks refuses hooks without a proper name, and two of one name.
func newHooks(hooks []Hook) ([]*running, error) {
	var all []*running
	for _, hook := range hooks {
		if !hookName.MatchString(hook.Name) {
			return nil, fmt.Errorf("a hook has the name %q; a name consists of lower-case letters, digits, and dashes "+
				"and slashes between them", hook.Name)
		}
		if slices.ContainsFunc(all, func(other *running) bool { return other.Name == hook.Name }) {
			return nil, fmt.Errorf("two hooks have the name %q", hook.Name)
		}
		all = append(all, &running{Hook: hook, started: make(chan struct{}), ended: make(chan struct{}),
			prepared: make(chan struct{})})
	}
	return all, nil
}

// check is what health checks say about the hook.
func (h *running) check() health.Check {
	return health.Check{Name: "poststarthook/" + h.Name, Ask: func(context.Context) error {
		select {
		case <-h.started:
			return nil
		default:
			return errors.New("not finished")
		}
	}}
}

// run runs PostStart and then Run, until they return or ctx ends.
func (h *running) run(ctx context.Context, log *slog.Logger) {
	defer close(h.ended)
	for _, step := range []func(context.Context) error{h.PostStart, h.announce, h.Run} {
		if step == nil {
			continue
		}
		err := h.call(ctx, step, log)
		switch {
		case ctx.Err() != nil:
			if err != nil && !errors.Is(err, context.Canceled) {
				log.Warn("a hook ended with an error", "hook", h.Name, "error", err)
			}
			return
		case err != nil:
			h.err = fmt.Errorf("hook %s: %w", h.Name, err)
			log.Error("a hook failed, and the server shuts down", "hook", h.Name, "error", err)
			return
		}
	}
}

func (h *running) announce(context.Context) error {
	close(h.started)
	return nil
}

// call calls a function of the hook. It logs the stack of a panic, and returns the panic as an error.
func (h *running) call(ctx context.Context, step func(context.Context) error, log *slog.Logger) (err error) {
	defer func() {
		if p := recover(); p != nil {
			log.Error("a hook panicked", "hook", h.Name, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return step(ctx)
}

// prepare runs PreShutdown.
func (h *running) prepare(ctx context.Context, log *slog.Logger) {
	defer close(h.prepared)
	if h.PreShutdown == nil {
		return
	}
	if err := h.call(ctx, h.PreShutdown, log); err != nil {
		log.Error("a hook failed at the shutdown", "hook", h.Name, "error", err)
	}
}

// startHooks starts the hooks. It calls failed when one of them has failed.
func (s *Server) startHooks(ctx context.Context, failed func()) {
	for _, h := range s.hooks {
		go func() {
			h.run(ctx, s.config.Log)
			if h.err != nil {
				failed()
			}
		}()
	}
}

// preShutdown runs the hooks' functions for the shutdown, and waits for them.
func (s *Server) preShutdown(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.config.ShutdownTimeout)
	defer cancel()
	for _, h := range s.hooks {
		go h.prepare(ctx, s.config.Log)
	}
	for _, h := range s.hooks {
		if !endsWithin(ctx, h.prepared) {
			s.config.Log.Error("a hook has not prepared for the shutdown in time",
				"hook", h.Name, "timeout", s.config.ShutdownTimeout)
		}
	}
}

// awaitHooks waits for the hooks, whose context has ended. It returns the errors of hooks that have failed, and an
// error for each hook that has not ended in time.
func (s *Server) awaitHooks() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.config.ShutdownTimeout)
	defer cancel()
	var errs []error
	for _, h := range s.hooks {
		if endsWithin(ctx, h.ended) {
			errs = append(errs, h.err)
			continue
		}
		s.config.Log.Error("a hook has not ended in time", "hook", h.Name, "timeout", s.config.ShutdownTimeout)
		errs = append(errs, fmt.Errorf("hook %s: it did not end within %s", h.Name, s.config.ShutdownTimeout))
	}
	return errors.Join(errs...)
}

// endsWithin waits until ended is closed or ctx ends, and reports whether ended is closed.
func endsWithin(ctx context.Context, ended <-chan struct{}) bool {
	select {
	case <-ended:
		return true
	case <-ctx.Done():
		return false
	}
}
