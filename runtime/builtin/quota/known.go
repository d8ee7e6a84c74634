package quota

import (
	"context"
	"sync"
	"time"

	"apigen.dev/runtime/reach"
	core "k8s.io/api/core/v1"
)

// known are the namespaces that have quotas, as the server follows them.
type known struct {
	ready chan struct{}
	once  sync.Once

	mu     sync.RWMutex
	quotas map[string]map[string]*core.ResourceQuota // by namespace and name
}

func (k *known) init() {
	k.ready, k.quotas = make(chan struct{}), map[string]map[string]*core.ResourceQuota{}
}

// maxWait is how long a write waits for the first list of quotas, as in kube-apiserver.
const maxWait = 10 * time.Second

// wait waits until the quotas are known. It returns false if that takes too long.
func (k *known) wait(ctx context.Context) bool {
	select {
	case <-k.ready:
		return true
	default:
	}
	timer := time.NewTimer(maxWait)
	defer timer.Stop()
	select {
	case <-k.ready:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

func (k *known) has(namespace string) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return len(k.quotas[namespace]) > 0
}

// all returns the quotas, which nobody changes.
func (k *known) all() (all []*core.ResourceQuota) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	for _, quotas := range k.quotas {
		for _, quota := range quotas {
			all = append(all, quota)
		}
	}
	return all
}

// take takes over changes.
func (k *known) take(changes reach.Changes[*core.ResourceQuota]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if changes.Reset {
		k.quotas = map[string]map[string]*core.ResourceQuota{}
	}
	for _, quota := range changes.Put {
		if k.quotas[quota.Namespace] == nil {
			k.quotas[quota.Namespace] = map[string]*core.ResourceQuota{}
		}
		k.quotas[quota.Namespace][quota.Name] = quota
	}
	for _, quota := range changes.Deleted {
		if delete(k.quotas[quota.Namespace], quota.Name); len(k.quotas[quota.Namespace]) == 0 {
			delete(k.quotas, quota.Namespace)
		}
	}
	k.once.Do(func() { close(k.ready) })
}
