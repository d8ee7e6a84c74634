package tokencache

import (
	"container/list"
	"crypto/sha256"
	"sync"
	"time"
)

// verdicts are the remembered verdicts, the most recently used first. The least recently used one makes room for a new
// one.
type verdicts struct {
	mu    sync.Mutex // guards the following fields
	order list.List  // of *remembered
	byKey map[[sha256.Size]byte]*list.Element
	size  int
}

type remembered struct {
	key [sha256.Size]byte
	verdict
	until time.Time
}

func newVerdicts(size int) *verdicts {
	return &verdicts{byKey: map[[sha256.Size]byte]*list.Element{}, size: size}
}

// get returns the verdict of a key, unless it is too old. Times of time.Now compare by the monotonic clock, so that a
// wall
// clock that jumps back makes no verdict live longer.
func (v *verdicts) get(key [sha256.Size]byte, now time.Time) (verdict, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	at := v.byKey[key]
	if at == nil {
		return verdict{}, false
	}
	found, _ := at.Value.(*remembered)
	if !now.Before(found.until) {
		v.drop(at)
		return verdict{}, false
	}
	v.order.MoveToFront(at)
	return found.verdict, true
}

func (v *verdicts) set(key [sha256.Size]byte, what verdict, until time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if at := v.byKey[key]; at != nil {
		v.drop(at)
	}
	v.byKey[key] = v.order.PushFront(&remembered{key, what, until})
	if v.order.Len() > v.size {
		v.drop(v.order.Back())
	}
}

func (v *verdicts) drop(at *list.Element) {
	found, _ := v.order.Remove(at).(*remembered)
	delete(v.byKey, found.key)
}
