package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/storage"
)

type check struct {
	name string
	ask  func(ctx context.Context) error
}

// healthHandler answers /livez, /readyz and /healthz as kube-apiserver does: with "ok", or with 500 and the failed
// checks. ?verbose lists all checks, ?exclude=<check> leaves one out, and /readyz/<check> runs one alone. Only
// authenticated users are shown the error of a check.
type healthHandler struct {
	live, ready, healthy []check
}

func (s *Server) health() healthHandler {
	ping := check{"ping", func(context.Context) error { return nil }}
	reachable := &storageCheck{backend: s.config.Backend}
	ready := []check{ping, {"storage", reachable.ask}}
	if m, ok := s.config.Backend.(storage.Maintainer); ok {
		ready = append(ready, check{"storage-space", func(ctx context.Context) error { return spaceLeft(ctx, m) }})
	}
	for _, handle := range s.handles {
		name := handle.Info().GroupResource().String()
		ready = append(ready, check{name, func(context.Context) error { return handle.Ready() }})
	}
	if s.collector != nil {
		ready = append(ready, check{"garbage-collector", func(context.Context) error { return s.collector.Ready() }})
	}
	live := []check{ping}
	graceEnds := time.Now().Add(s.config.LivezGracePeriod)
	for _, hook := range s.hooks {
		ready = append(ready, hook.check())
		live = append(live, hook.check().from(graceEnds))
	}
	healthy := slices.Clone(ready)
	ready = append(ready, check{"shutdown", func(context.Context) error {
		select {
		case <-s.ending:
			return errors.New("the server is shutting down")
		default:
			return nil
		}
	}})
	return healthHandler{live: live, ready: ready, healthy: healthy}
}

// from returns a check that passes until a time.
func (c check) from(begin time.Time) check {
	return check{c.name, func(ctx context.Context) error {
		if time.Now().Before(begin) {
			return nil
		}
		return c.ask(ctx)
	}}
}

func (h healthHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	endpoint, single, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	checks := h.ready
	switch endpoint {
	case "livez":
		checks = h.live
	case "healthz":
		checks = h.healthy
	}
	if single != "" {
		at := slices.IndexFunc(checks, func(c check) bool { return c.name == single })
		if at < 0 {
			http.Error(w, fmt.Sprintf("there is no check %q", single), http.StatusNotFound)
			return
		}
		checks = checks[at : at+1]
	}
	report, healthy := examine(r, checks)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, verbose := r.URL.Query()["verbose"]
	switch {
	case !healthy:
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintf(w, "%s%s check failed\n", report, endpoint)
	case verbose:
		fmt.Fprintf(w, "%s%s check passed\n", report, endpoint)
	default:
		fmt.Fprint(w, "ok")
	}
}

// examine runs the checks that the request does not exclude.
func examine(r *http.Request, checks []check) (report string, healthy bool) {
	excluded := r.URL.Query()["exclude"]
	user := auth.UserFrom(r.Context())
	tell := user != nil && !slices.Contains(user.Groups, auth.Unauthenticated)
	var text strings.Builder
	healthy = true
	for _, c := range checks {
		if slices.Contains(excluded, c.name) {
			fmt.Fprintf(&text, "[+]%s excluded: ok\n", c.name)
			continue
		}
		err := c.ask(r.Context())
		switch {
		case err == nil:
			fmt.Fprintf(&text, "[+]%s ok\n", c.name)
		case tell:
			fmt.Fprintf(&text, "[-]%s failed: %v\n", c.name, err)
		default:
			fmt.Fprintf(&text, "[-]%s failed: reason withheld\n", c.name)
		}
		healthy = healthy && err == nil
	}
	return text.String(), healthy
}

// storageCheck asks the backend at most twice a second, because everybody may send requests for health checks.
type storageCheck struct {
	backend storage.Backend

	mu    sync.Mutex // guards the fields below; held while the backend is asked
	asked time.Time
	err   error
}

func (c *storageCheck) ask(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asked.IsZero() && time.Since(c.asked) < 500*time.Millisecond {
		return c.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	_, c.err = c.backend.Revision(ctx)
	c.asked = time.Now()
	return c.err
}

// spaceLeft fails if the backend is corrupt, or refuses writes because its quota is used up. No other server serves the
// data of an embedded backend, so a server that isn't ready takes nothing away from clients.
func spaceLeft(ctx context.Context, m storage.Maintainer) error {
	space, err := m.Space(ctx)
	switch {
	case err != nil:
		return err
	case space.Full():
		return fmt.Errorf("alarm %s: %d of %d bytes are used; %s",
			storage.NoSpace, space.Size, space.Quota, spaceAdvice)
	case len(space.Alarms) > 0:
		return fmt.Errorf("alarm %s: the data is damaged; stop the server, move the data away and restore a snapshot",
			strings.Join(space.Alarms, ", "))
	}
	return nil
}
