package collector

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// maxAbsent bounds how many absent owners the collector remembers.
const maxAbsent = 4096

// ownerKey is the owner that a reference names.
type ownerKey struct {
	resource        *resource
	namespace, name string
	uid             types.UID
}

// absent is the set of owners that storage doesn't have, so that the collector asks once for the owner of a thousand
// dependents. An absent owner stays absent: no object ever gets its uid again.
type absent struct {
	mu   sync.Mutex // guards keys
	keys map[ownerKey]struct{}
}

func (a *absent) has(key ownerKey) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, ok := a.keys[key]
	return ok
}

func (a *absent) add(key ownerKey) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.keys == nil || len(a.keys) >= maxAbsent {
		a.keys = map[ownerKey]struct{}{}
	}
	a.keys[key] = struct{}{}
}

// forget empties the set, because storage may have been restored to an earlier state.
func (a *absent) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.keys = nil
}
