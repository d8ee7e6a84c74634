package cache

import (
	"errors"
	"testing"
)

// TestRevisionsOfAnEndedHistory: a client that knows a revision of a history that has ended gets ErrExpired, whether
// the revision lies in the future of the present history or before everything that the cache has seen of it. A client
// that knows the present history goes on.
func TestRevisionsOfAnEndedHistory(t *testing.T) {
	f := newFake()
	for _, key := range []string{"a", "b", "c", "d"} {
		f.put("|"+key, toys+key)
	}
	c := start(t, toyConfig(f))
	old := f.put("|e", toys+"e") + 5
	for range 5 {
		f.put("|", "/elsewhere")
	}
	if s, err := c.Consistent(t.Context()); err != nil || s.Revision() != old {
		t.Fatal(s, err)
	}
	if err := c.Unbroken(t.Context(), 2); err != nil {
		t.Errorf("as long as nothing happened: %v", err)
	}

	f.change(func() { f.down = true })
	eventually(t, func() bool { return c.Ready() != nil })
	if err := c.Unbroken(t.Context(), 2); !errors.Is(err, ErrLagging) {
		t.Errorf("while the backend is away: %v", err)
	}
	f.rollBack(4)
	now := f.put("|other", toys+"x")
	f.change(func() { f.down = false })
	eventually(t, func() bool { return c.Ready() == nil && c.Stats().Fills == 2 })

	if _, err := c.Watch(toys, nil, old, nil); !errors.Is(err, ErrExpired) {
		t.Errorf("behind %d, and there is %d: %v", old, now, err)
	}
	if err := c.Unbroken(t.Context(), now-1); !errors.Is(err, ErrExpired) {
		t.Errorf("behind %d, before the cache was filled anew: %v", now-1, err)
	}
	for _, after := range []int64{now, old + 1} {
		w, err := c.Watch(toys, nil, after, nil)
		if err != nil {
			t.Fatalf("behind %d: %v", after, err)
		}
		w.Close()
	}
	if err := c.Unbroken(t.Context(), old+1); err != nil {
		t.Errorf("behind what has ended: %v", err)
	}
}

// TestUnbrokenBeforeTheFirstFilling: a cache that knows nothing has no objection.
func TestUnbrokenBeforeTheFirstFilling(t *testing.T) {
	if err := New(toyConfig(newFake())).Unbroken(t.Context(), 1); err != nil {
		t.Error(err)
	}
}
