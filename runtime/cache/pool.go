package cache

import "sync"

// pool bounds the memory for forms beside the stored one. When the budget is exceeded, a hand goes round the ring: it
// spares once every form that was used since its last round (a reader marks a use with one atomic write, without a
// lock), and drops the others.
type pool struct {
	budget int64
	counts *counters

	mu    sync.Mutex // guards the following fields; nothing else is locked while it is held
	ring  []pooled
	hand  int
	bytes int64
}

// pooled is something that the pool holds, and its cost when it came.
type pooled struct {
	what rendered
	cost int64
}

// rendered is a form of one entry, or a block.
type rendered interface {
	// cost is the memory that it takes, in bytes.
	cost() int64
	// kept tells whether its bytes are still there.
	kept() bool
	// spare tells whether it was used since the last call of spare.
	spare() bool
	// evict drops the bytes.
	evict()
	// at is its place in the ring, counted from 1, or 0 outside the ring. It belongs to the pool.
	at() *int
}

// add adds something that was just rendered, and makes room for it.
func (p *pool) add(r rendered) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !r.kept() || *r.at() > 0 {
		return
	}
	one := pooled{r, r.cost()}
	p.ring = append(p.ring, one)
	*r.at() = len(p.ring)
	p.bytes += one.cost
	for spared, most := 0, len(p.ring); p.bytes > p.budget && len(p.ring) > 0; {
		p.hand %= len(p.ring)
		victim := p.ring[p.hand].what
		if victim.spare() && spared < most {
			p.hand++
			spared++
			continue
		}
		victim.evict()
		p.remove(victim)
		p.counts.evicted.Add(1)
	}
}

func (p *pool) size() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes
}

// drop removes something whose bytes were dropped.
func (p *pool) drop(r rendered) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.remove(r)
}

func (p *pool) remove(r rendered) {
	at := r.at()
	if *at == 0 {
		return
	}
	last := len(p.ring) - 1
	p.bytes -= p.ring[*at-1].cost
	p.ring[*at-1] = p.ring[last]
	*p.ring[*at-1].what.at() = *at
	p.ring[last] = pooled{}
	p.ring = p.ring[:last]
	*at = 0
}
