package collector

import (
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxKinds bounds the kinds that references may name, since clients can make up any number. References to others are
// never followed.
const maxKinds = 1 << 16

// kind is a kind that references name, and the resource that serves it; nil while none does.
type kind struct{ resource atomic.Pointer[resource] }

// kinds are the kinds that the server serves, and those that references named.
type kinds struct {
	mu  sync.RWMutex // guards all
	all map[schema.GroupKind]*kind
}

// of returns a kind, or nil if there are too many.
func (k *kinds) of(gk schema.GroupKind) *kind {
	k.mu.RLock()
	found := k.all[gk]
	k.mu.RUnlock()
	if found != nil {
		return found
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if found = k.all[gk]; found == nil && len(k.all) < maxKinds {
		found = &kind{}
		k.all[gk] = found
	}
	return found
}

// serve says which resource serves a kind.
func (k *kinds) serve(gk schema.GroupKind, r *resource) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all[gk] == nil {
		k.all[gk] = &kind{}
	}
	k.all[gk].resource.Store(r)
}

// leave says that a resource doesn't serve a kind any more.
func (k *kinds) leave(gk schema.GroupKind, r *resource) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	k.all[gk].resource.CompareAndSwap(r, nil)
}
