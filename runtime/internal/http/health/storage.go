package health

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"apigen.dev/runtime/storage"
)

// Storage returns the check of that name that backend answers.
func Storage(name string, backend storage.Backend) Check {
	return Check{name, (&storageCheck{backend: backend}).ask}
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

// SpaceLeft fails if the backend is corrupt, or refuses writes because its quota is used up. No other server serves the
// data of an embedded backend, so a server that isn't ready takes nothing away from clients. advice says what to do
// about a quota that is used up.
func SpaceLeft(ctx context.Context, m storage.Maintainer, advice string) error {
	space, err := m.Space(ctx)
	switch {
	case err != nil:
		return err
	case space.Full():
		return fmt.Errorf("alarm %s: %d of %d bytes are used; %s",
			storage.NoSpace, space.Size, space.Quota, advice)
	case len(space.Alarms) > 0:
		return fmt.Errorf("alarm %s: the data is damaged; stop the server, move the data away and restore a snapshot",
			strings.Join(space.Alarms, ", "))
	}
	return nil
}
