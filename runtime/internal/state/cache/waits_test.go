package cache

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestWaits: reads are counted by how long they waited, and those whose request ended first as abandoned.
func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := slowAsk{newFake(), make(chan struct{}, 1)}
		config := toyConfig(backend.fake)
		config.Backend = backend
		c := New(config)
		run, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(run) }()
		backend.answers <- struct{}{} // the question before the watch
		synctest.Wait()
		impatient, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := c.Consistent(impatient); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("an impatient read: %v", err)
		}
		backend.answers <- struct{}{}
		go func() {
			time.Sleep(time.Millisecond) // of the bubble's clock
			backend.answers <- struct{}{}
		}()
		if _, err := c.Consistent(t.Context()); err != nil {
			t.Error(err)
		}
		now := c.Stats()
		if now.Consistent != 2 || now.Abandoned != 1 || now.Lagging != 0 {
			t.Errorf("%d consistent reads, %d abandoned, %d lagging", now.Consistent, now.Abandoned, now.Lagging)
		}
		if w := now.Waits; w.Count != 2 || w.Sum < 100*time.Millisecond || w.Sum > 110*time.Millisecond ||
			w.Cumulative[0] != 1 || w.Cumulative[3] != 2 || w.Bounds[3] != 100*time.Millisecond {
			t.Errorf("%+v", w)
		}
		if _, err := c.NotOlderThan(t.Context(), now.Revision+1); !errors.Is(err, ErrFuture) {
			t.Errorf("a read of the future: %v", err)
		}
		if w := c.Stats().Waits; w.Count != 3 || w.Cumulative[len(w.Cumulative)-2] != 2 {
			t.Errorf("after a read of the future: %+v", w)
		}
		stop()
		<-ended
	})
}
