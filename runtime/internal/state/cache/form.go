package cache

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"apigen.dev/runtime/internal/verb"
)

// form is one form of an entry beside the stored one, rendered or being rendered. The fields that readers look at come
// first.
type form struct {
	// done says that rendition and err are set.
	done      atomic.Bool
	used      atomic.Bool // since the pool's clock last passed it
	rendition verb.Rendition
	err       error
	name      verb.Form
	entry     *Entry
	once      sync.Once
	place     int // in the pool's ring, counted from 1, 0 if it isn't there; guarded by the pool
}

// formList is the forms of an entry. It is immutable. The names stand beside each other, and the first one is in the
// list itself: reading a list of many objects is as fast as memory is, so a reader should find a form in few steps
// through memory.
type formList struct {
	first namedForm
	rest  []namedForm
}

type namedForm struct {
	name verb.Form
	form *form
}

// retired is the list of forms of an entry that left the window. The entry keeps no more forms.
var retired = &formList{}

func (l *formList) find(wanted verb.Form) *form {
	if l == nil {
		return nil
	}
	if l.first.name == wanted {
		return l.first.form
	}
	for i := range l.rest {
		if l.rest[i].name == wanted {
			return l.rest[i].form
		}
	}
	return nil
}

func (l *formList) with(f *form) *formList {
	named := namedForm{f.name, f}
	if l == nil {
		return &formList{first: named}
	}
	return &formList{l.first, append(slices.Clip(l.rest), named)}
}

// without returns a list that doesn't have f, nil if no form is left.
func (l *formList) without(f *form) *formList {
	var without *formList
	for _, other := range l.all() {
		if other != f {
			without = without.with(other)
		}
	}
	return without
}

// all returns the forms in a slice that belongs to the caller.
func (l *formList) all() []*form {
	if l == nil || l.first.form == nil {
		return nil
	}
	all := []*form{l.first.form}
	for i := range l.rest {
		all = append(all, l.rest[i].form)
	}
	return all
}

var errRenderPanicked = errors.New("rendering panicked")

// render makes a form that the entry doesn't have yet.
func (e *Entry) render(wanted verb.Form) (verb.Rendition, error) {
	if err := e.Err(); err != nil {
		return verb.Rendition{}, err
	}
	for {
		old := e.forms.Load()
		if old == retired {
			return e.shared.codec.Render(e.Key(), e.stored(), wanted)
		}
		if f := old.find(wanted); f != nil {
			return f.get()
		}
		f := &form{name: wanted, entry: e}
		if e.forms.CompareAndSwap(old, old.with(f)) {
			return f.get()
		}
	}
}

// Keep gives the entry a form that its caller rendered from the stored one, unless the entry has that form.
func (e *Entry) Keep(r verb.Rendition, name verb.Form) {
	f := &form{name: name, entry: e, rendition: r}
	f.once.Do(func() { f.done.Store(true) })
	for {
		old := e.forms.Load()
		if old == retired || old.find(name) != nil {
			return
		}
		if e.forms.CompareAndSwap(old, old.with(f)) {
			e.shared.counts.rendered.Add(1)
			e.shared.pool.add(f)
			return
		}
	}
}

// get returns the rendition. The first caller renders it, and the others wait.
func (f *form) get() (verb.Rendition, error) {
	if !f.done.Load() {
		f.once.Do(f.fill)
	} else if !f.used.Load() {
		f.used.Store(true)
	}
	return f.rendition, f.err
}

func (f *form) fill() {
	e := f.entry
	f.err = errRenderPanicked
	defer func() {
		f.done.Store(true)
		if f.err != nil {
			e.forget(f)
		}
	}()
	e.check()
	f.rendition, f.err = e.shared.codec.Render(e.Key(), e.stored(), f.name)
	e.shared.counts.rendered.Add(1)
	if f.err == nil {
		e.shared.pool.add(f)
	}
}

// forget removes a form, so that the next caller renders it again.
func (e *Entry) forget(f *form) {
	for {
		old := e.forms.Load()
		if old == nil || old == retired {
			return
		}
		if old.find(f.name) != f || e.forms.CompareAndSwap(old, old.without(f)) {
			return
		}
	}
}

// retire drops the entry's forms for good, since neither the tree nor the log hold the entry any more.
func (e *Entry) retire() {
	if e == nil {
		return
	}
	if old := e.forms.Swap(retired); old != nil && old != retired {
		for _, f := range old.all() {
			e.shared.pool.drop(f)
		}
	}
}

// formOverhead is roughly what a form costs beside its bytes.
const formOverhead = 200

func (f *form) cost() int64 {
	return int64(len(f.rendition.Payload) + 40*len(f.rendition.Holes) + formOverhead)
}

func (f *form) kept() bool  { return f.entry.forms.Load().find(f.name) == f }
func (f *form) spare() bool { return f.used.Swap(false) }
func (f *form) evict()      { f.entry.forget(f) }
func (f *form) at() *int    { return &f.place }

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
	// kept reports whether its bytes are still there.
	kept() bool
	// spare reports whether it was used since the last call of spare.
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
