package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"apigen.dev/runtime/auth"
)

// Hook is work that runs in the process of the server, beside its requests: it makes objects that must be there, or it
// is a controller. Its functions may be nil.
//
// The context of the functions reaches the objects of the server (package reach), with the rights of system:masters,
// under the name system:apiserver.
type Hook struct {
	// Name is unique among the hooks of a server. It consists of lower-case letters, digits, dashes and slashes.
	Name string
	// PostStart runs once the server accepts connections, at the same time as the other hooks. /readyz fails, with the
	// check poststarthook/<Name>, until it returned. Its error ends the process.
	PostStart func(ctx context.Context) error
	// Run begins once PostStart returned. It runs until ctx ends, which is when the server shuts down. Its error ends
	// the process.
	Run func(ctx context.Context) error
	// PreShutdown runs when the server begins to shut down, before it refuses requests. The server logs its error.
	PreShutdown func(ctx context.Context) error
}

// systemUser is the user of hooks.
var systemUser = &auth.User{Name: "system:apiserver", Groups: []string{auth.Masters, auth.Authenticated}}

// running is a hook of a server and its progress.
type running struct {
	Hook
	// started is closed once PostStart has returned without an error.
	started chan struct{}
}

// newHooks refuses hooks without a name, and two of one name.
func newHooks(hooks []Hook) ([]*running, error) {
	var all []*running
	for _, hook := range hooks {
		if hook.Name == "" {
			return nil, errors.New("a hook has no name")
		}
		if slices.ContainsFunc(all, func(other *running) bool { return other.Name == hook.Name }) {
			return nil, fmt.Errorf("two hooks have the name %q", hook.Name)
		}
		all = append(all, &running{hook, make(chan struct{})})
	}
	return all, nil
}

// check is what /readyz says about the hook.
func (h *running) check() check {
	return check{"poststarthook/" + h.Name, func(context.Context) error {
		select {
		case <-h.started:
			return nil
		default:
			return errors.New("not finished")
		}
	}}
}

// run runs the hook until ctx ends. It returns an error if the hook failed, which is not an end of ctx.
func (h *running) run(ctx context.Context) error {
	for _, step := range []func(context.Context) error{h.PostStart, h.announce, h.Run} {
		if step == nil {
			continue
		}
		if err := step(ctx); err != nil && ctx.Err() == nil {
			return fmt.Errorf("hook %s: %w", h.Name, err)
		}
	}
	return nil
}

func (h *running) announce(context.Context) error {
	close(h.started)
	return nil
}

// preShutdown runs the hooks' functions for the shutdown, all at the same time.
func (s *Server) preShutdown(ctx context.Context) {
	var working sync.WaitGroup
	for _, h := range s.hooks {
		if h.PreShutdown == nil {
			continue
		}
		working.Go(func() {
			if err := h.PreShutdown(ctx); err != nil {
				s.config.Log.Error("a hook failed at the shutdown", "hook", h.Name, "error", err)
			}
		})
	}
	working.Wait()
}
