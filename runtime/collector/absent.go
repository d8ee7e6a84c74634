package collector

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// maxAbsent bounds how many owners are remembered to be gone.
const maxAbsent = 4096

// place is where a reference leads.
type place struct {
	resource        *resource
	namespace, name string
	uid             types.UID
}

// absent are places at which storage had no such owner, so that the thousand dependents of one ask for it once. What is
// gone doesn't come back: its uid is never given again.
type absent struct {
	mu     sync.Mutex // guards places
	places map[place]struct{}
}

func (a *absent) has(p place) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, ok := a.places[p]
	return ok
}

func (a *absent) add(p place) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.places == nil || len(a.places) >= maxAbsent {
		a.places = map[place]struct{}{}
	}
	a.places[p] = struct{}{}
}

// forget is for when storage may have been put back to what it was before.
func (a *absent) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.places = nil
}
