package cache

import "testing"

// TestVerifyNoticesStepsBack: neither the revision nor the log goes backwards unnoticed.
func TestVerifyNoticesStepsBack(t *testing.T) {
	at := func(revision int64, end uint64) *state {
		return &state{Snapshot: Snapshot{revision: revision}, end: end}
	}
	for _, test := range []struct {
		after *state
		fails bool
	}{{at(5, 7), false}, {at(6, 7), false}, {at(6, 8), false}, {at(4, 8), true}, {at(6, 6), true}} {
		if err := verifyStep(at(5, 7), test.after); (err != nil) != test.fails {
			t.Errorf("from 5, 7 to %d, %d: %v", test.after.revision, test.after.end, err)
		}
	}
}
