package cache

import (
	"fmt"
	"testing"
)

// A cursor returns all events of one revision at once, however many: a client that resumes from that revision gets none
// of them again.
func TestEventsOfOneRevisionStayTogether(t *testing.T) {
	f := newFake()
	f.put("color=blue|", toys+"a/first")
	c := start(t, toyConfig(f))
	s, err := c.Consistent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w, err := c.Watch(toys, nil, s.Revision(), takesRed)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var keys []string
	for i := range 3 * maxEvents {
		keys = append(keys, fmt.Sprintf("%sa/%04d", toys, i))
	}
	for range 2 {
		for i := range maxEvents - 10 {
			f.put("color=red|", fmt.Sprintf("%sb/%04d", toys, i))
		}
		revision := f.put("color=red|", keys...)
		if _, err := c.NotOlderThan(t.Context(), revision); err != nil {
			t.Fatal(err)
		}
		for w.Revision() < revision {
			events, err := w.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			together := 0
			for _, e := range events {
				if e.Revision == revision {
					together++
				}
			}
			if together != 0 && together != len(keys) {
				t.Fatalf("%d of %d events of a revision at once", together, len(keys))
			}
		}
	}
}
