package cache

import "sync"

// pool keeps what was rendered beside the stored form under a budget. Where it exceeds it, a hand goes round, spares once
// what was used since it last came by (marking a use is one atomic write, no lock), and drops the rest.
type pool struct {
	budget int64
	counts *counters

	mu    sync.Mutex // guards what follows; nothing is locked below it
	ring  []pooled
	hand  int
	bytes int64
}

// pooled is what the pool holds, and what it cost when it came.
type pooled struct {
	what rendered
	cost int64
}

// rendered is a form of one entry, or a block.
type rendered interface {
	// cost is what it takes, in bytes.
	cost() int64
	// kept tells whether it was not given up meanwhile.
	kept() bool
	// spare tells whether it was used since it was asked last.
	spare() bool
	// evict lets go of the bytes.
	evict()
	// at is the place in the ring, counted from 1; 0 where it isn't there. It is the pool's.
	at() *int
}

// add takes up what was just rendered, and makes room for it.
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

// size is the bytes that are kept.
func (p *pool) size() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes
}

// drop removes what was given up.
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
