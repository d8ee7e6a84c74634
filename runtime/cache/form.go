package cache

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"apigen.dev/runtime/api"
)

// form is one other form of an entry, rendered or being rendered.
type form struct {
	name api.Form
	once sync.Once
	// done tells that rendition and err are there.
	done      atomic.Bool
	used      atomic.Bool // since the pool's hand came by
	rendition api.Rendition
	err       error
	place     int // in the pool's ring, counted from 1, 0 where it isn't there; guarded by the pool
}

// retired is the list of forms of an entry that left the window: what is rendered for it is kept no more.
var retired = new([]*form)

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
		f := &form{name: wanted}
		next := []*form{f}
		if old != nil {
			for _, f := range *old {
				if f.name == wanted {
					return f.get(e)
				}
			}
			next = append(slices.Clip(*old), f)
		}
		if e.forms.CompareAndSwap(old, &next) {
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
		i := slices.Index(*old, f)
		if i < 0 {
			return
		}
		var next *[]*form
		if len(*old) > 1 {
			rest := slices.Delete(slices.Clone(*old), i, i+1)
			next = &rest
		}
		if e.forms.CompareAndSwap(old, next) {
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
		e.shared.pool.drop(*old)
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
	if forms := e.forms.Load(); forms == retired || forms == nil || !slices.Contains(*forms, f) {
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
