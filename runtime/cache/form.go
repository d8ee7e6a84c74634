package cache

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"apigen.dev/runtime/api"
)

// form is one other form of an entry, rendered or being rendered. What readers look at stands first.
type form struct {
	// done tells that rendition and err are there.
	done      atomic.Bool
	used      atomic.Bool // since the pool's hand came by
	rendition api.Rendition
	err       error
	name      api.Form
	once      sync.Once
	place     int // in the pool's ring, counted from 1, 0 where it isn't there; guarded by the pool
}

// formList is the forms of an entry. It is immutable. Names stand beside each other, the first where the list is: a list
// of many objects is as fast as memory is, so a form should be found in few steps through it.
type formList struct {
	first namedForm
	rest  []namedForm
}

type namedForm struct {
	name api.Form
	form *form
}

// retired is the list of forms of an entry that left the window: what is rendered for it is kept no more.
var retired = &formList{}

// find returns a form, or nil.
func (l *formList) find(wanted api.Form) *form {
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

// with returns a list that has f, too.
func (l *formList) with(f *form) *formList {
	named := namedForm{f.name, f}
	if l == nil {
		return &formList{first: named}
	}
	return &formList{l.first, append(slices.Clip(l.rest), named)}
}

// without returns a list that doesn't have f, nil where that is none.
func (l *formList) without(f *form) *formList {
	var without *formList
	for _, other := range l.all() {
		if other != f {
			without = without.with(other)
		}
	}
	return without
}

// all returns the forms in a slice of the caller's own.
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
func (e *Entry) render(wanted api.Form) (api.Rendition, error) {
	if err := e.Err(); err != nil {
		return api.Rendition{}, err
	}
	for {
		old := e.forms.Load()
		if old == retired {
			return e.shared.codec.Render(e.Key(), e.stored(), wanted)
		}
		if f := old.find(wanted); f != nil {
			return f.get(e)
		}
		f := &form{name: wanted}
		if e.forms.CompareAndSwap(old, old.with(f)) {
			return f.get(e)
		}
	}
}

// get returns the rendition; the first caller renders, and all wait for it.
func (f *form) get(e *Entry) (api.Rendition, error) {
	if !f.done.Load() {
		f.once.Do(func() { f.fill(e) })
	} else if !f.used.Load() {
		f.used.Store(true)
	}
	return f.rendition, f.err
}

func (f *form) fill(e *Entry) {
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
		e.shared.pool.add(e, f)
	}
}

// forget removes a form, so that the next demand renders it again.
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

// retire drops the entry's forms for good, since neither the tree nor the log hold it any more.
func (e *Entry) retire() {
	if e == nil {
		return
	}
	if old := e.forms.Swap(retired); old != nil && old != retired {
		e.shared.pool.drop(old.all())
	}
}

// formOverhead is what a kept form costs beside its bytes, roughly.
const formOverhead = 200

// pool keeps the bytes of rendered forms under a budget. Where they exceed it, a hand goes round, spares once those
// that were used since it last came by (marking a use is one atomic write, no lock), and drops the others.
type pool struct {
	budget int64
	counts *counters

	mu    sync.Mutex // guards what follows; nothing is locked below it
	ring  []pooled
	hand  int
	bytes int64
}

type pooled struct {
	entry *Entry
	form  *form
}

func (f *form) cost() int64 {
	return int64(len(f.rendition.Payload) + 40*len(f.rendition.Holes) + formOverhead)
}

// add takes up a form that was just rendered, and makes room for it.
func (p *pool) add(e *Entry, f *form) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.forms.Load().find(f.name) != f {
		return
	}
	p.ring = append(p.ring, pooled{e, f})
	f.place = len(p.ring)
	p.bytes += f.cost()
	for spared, most := 0, len(p.ring); p.bytes > p.budget && len(p.ring) > 0; {
		p.hand %= len(p.ring)
		victim := p.ring[p.hand]
		if victim.form.used.Swap(false) && spared < most {
			p.hand++
			spared++
			continue
		}
		victim.entry.forget(victim.form)
		p.remove(victim.form)
		p.counts.evicted.Add(1)
	}
}

// size is the bytes that are kept.
func (p *pool) size() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes
}

// drop removes the forms of an entry that retired.
func (p *pool) drop(forms []*form) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range forms {
		p.remove(f)
	}
}

func (p *pool) remove(f *form) {
	if f.place == 0 {
		return
	}
	last := len(p.ring) - 1
	p.ring[f.place-1] = p.ring[last]
	p.ring[f.place-1].form.place = f.place
	p.ring[last] = pooled{}
	p.ring = p.ring[:last]
	f.place = 0
	p.bytes -= f.cost()
}
