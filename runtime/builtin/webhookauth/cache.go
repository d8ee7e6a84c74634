package webhookauth

import (
	"container/list"
	"crypto/sha256"
	"sync"
	"time"
)

// cacheSize bounds a cache. It is kube-apiserver's.
const cacheSize = 8192

// digest is what stands for a question, so that its size doesn't matter and no token stays in memory.
type digest = [sha256.Size]byte

// cache holds the answers to questions until they end, and at most cacheSize of them: those that were used last. It is
// safe for concurrent use.
type cache[V any] struct {
	now func() time.Time

	mu      sync.Mutex // guards the following fields
	entries map[digest]*list.Element
	used    *list.List // of *entry[V], the last used one in front
}

type entry[V any] struct {
	key   digest
	value V
	until time.Time
}

func newCache[V any]() *cache[V] {
	return &cache[V]{now: time.Now, entries: map[digest]*list.Element{}, used: list.New()}
}

func (c *cache[V]) get(key digest) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	element := c.entries[key]
	if element == nil {
		return value, false
	}
	found := element.Value.(*entry[V])
	if !c.now().Before(found.until) {
		c.remove(element)
		return value, false
	}
	c.used.MoveToFront(element)
	return found.value, true
}

// put keeps a value for a time. It keeps nothing for no time.
func (c *cache[V]) put(key digest, value V, ttl time.Duration) {
	if ttl <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if element := c.entries[key]; element != nil {
		c.remove(element)
	}
	c.entries[key] = c.used.PushFront(&entry[V]{key, value, c.now().Add(ttl)})
	if len(c.entries) > cacheSize {
		c.remove(c.used.Back())
	}
}

func (c *cache[V]) remove(element *list.Element) {
	delete(c.entries, element.Value.(*entry[V]).key)
	c.used.Remove(element)
}
