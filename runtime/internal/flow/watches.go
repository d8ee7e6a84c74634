package flow

import (
	"sync"

	"apigen.dev/runtime/internal/request"
	"k8s.io/apimachinery/pkg/fields"
)

// watched is what a watch follows, as far as the cost of writes is concerned. Empty names stand for all.
type watched struct{ group, resource, namespace, name string }

// watches counts the open watches.
type watches struct {
	mu    sync.Mutex
	count map[watched]int
}

// Watch counts a watch until the function that it returns is called. A watch that selects a value of a field isn't
// counted: it follows a log of its own, and sees few of the writes.
func (c *Controller) Watch(info *request.Info) (end func()) {
	if info.Name == "" && selectsValue(info.FieldSelector) {
		return func() {}
	}
	w, key := &c.watches, watched{info.Group, info.Resource, info.Namespace, info.Name}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count[key]++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.count[key]--; w.count[key] == 0 {
			delete(w.count, key)
		}
	}
}

func selectsValue(selector string) bool {
	if selector == "" {
		return false
	}
	parsed, err := fields.ParseSelector(selector)
	if err != nil {
		return false
	}
	for _, requirement := range parsed.Requirements() {
		if value, exact := parsed.RequiresExactMatch(requirement.Field); exact && value != "" {
			return true
		}
	}
	return false
}

// Watches returns how many watches see a write.
func (c *Controller) Watches(info *request.Info) int {
	w, key := &c.watches, watched{group: info.Group, resource: info.Resource}
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.count[key]
	if info.Namespace != "" {
		key.namespace = info.Namespace
		n += w.count[key]
	}
	if info.Name != "" {
		key.name = info.Name
		n += w.count[key]
	}
	return n
}
