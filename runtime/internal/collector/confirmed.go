package collector

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// maxConfirmed bounds how many owners a resource remembers as confirmed.
const maxConfirmed = 1 << 16

// confirmed are owners in another server that exist, so that the collector asks once for the owner of a thousand
// dependents. It knows owners only while the resource is watched: an event of an owner makes it forget the owner.
type confirmed struct {
	mu sync.Mutex // guards the field
	// owners are nil while the resource isn't watched.
	owners map[types.UID]*confirmedOwner
}

type confirmedOwner struct {
	namespace, name string
	// exists is false while the other server is being asked.
	exists bool // confirmed.mu guards it
}

// start says that the resource is watched from now on, stop that it isn't.
func (c *confirmed) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.owners = map[types.UID]*confirmedOwner{}
}

func (c *confirmed) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.owners = nil
}

func (c *confirmed) has(at ownerKey) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.owners[at.uid]
	return o != nil && o.exists && o.namespace == at.namespace && o.name == at.name
}

// ask says that the other server is asked for an owner, and returns what confirm takes; nil while the resource isn't
// watched.
func (c *confirmed) ask(at ownerKey) *confirmedOwner {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.owners == nil {
		return nil
	}
	o := c.owners[at.uid]
	if o != nil && o.namespace == at.namespace && o.name == at.name {
		return o
	}
	if len(c.owners) >= maxConfirmed {
		clear(c.owners)
	}
	o = &confirmedOwner{namespace: at.namespace, name: at.name}
	c.owners[at.uid] = o
	return o
}

// confirm says that an owner exists. It changes nothing if an event of the owner came since ask, because asked is no
// longer among the owners then.
func (c *confirmed) confirm(asked *confirmedOwner) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if asked != nil {
		asked.exists = true
	}
}

func (c *confirmed) forget(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.owners, uid)
}
