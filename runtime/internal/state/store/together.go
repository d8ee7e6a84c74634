package store

import (
	"context"
	"sync"

	"apigen.dev/runtime/internal/state/cache"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
)

// RenderAll renders many objects, where another program takes part in that: few calls are then better than many.
type RenderAll struct {
	// For reports whether it renders a form.
	For func(form verb.Form) bool
	// Render renders objects from their stored form. Each has its rendition or its error. The call of the other program
	// ends with ctx.
	Render func(ctx context.Context, stored []verb.Rendition, form verb.Form) ([]verb.Rendition, []error)
}

// rendersTogether reports whether the objects of a list are rendered together in a form.
func (s *shared) rendersTogether(form verb.Form) bool {
	return s.RenderAll.For != nil && form != s.Stored && s.RenderAll.For(form)
}

// renderTogether renders objects in a form: all that the cache doesn't have in that form together. It returns the error
// of ctx if that ended before an object was rendered.
func (s *shared) renderTogether(
	ctx context.Context, objects []object, form verb.Form,
) (out []verb.Rendition, errs []error, err error) {
	out, errs = make([]verb.Rendition, len(objects)), make([]error, len(objects))
	var places []int
	var stored []verb.Rendition
	for i, o := range objects {
		if e, ok := o.(*cache.Entry); ok && e.Rendered(form) {
			out[i], errs[i] = e.Rendition(form)
			continue
		}
		r, err := o.Rendition(s.Stored)
		if errs[i] = err; err == nil {
			places, stored = append(places, i), append(stored, r)
		}
	}
	if len(places) == 0 {
		return out, errs, nil
	}
	rendered, failed := s.RenderAll.Render(ctx, stored, form)
	for n, i := range places {
		if out[i], errs[i] = rendered[n], failed[n]; errs[i] != nil {
			err = ctx.Err()
		} else if e, ok := objects[i].(*cache.Entry); ok {
			e.Keep(out[i], form)
		}
	}
	return out, errs, err
}

// rendition returns a form of an object. If another program takes part in rendering it, readers of an entry wait for
// one call together. Each of them waits until its ctx ends, and the call ends when nobody waits any more.
func (s *shared) rendition(ctx context.Context, o object, form verb.Form) (verb.Rendition, error) {
	if !s.rendersTogether(form) {
		return o.Rendition(form)
	}
	e, ok := o.(*cache.Entry)
	if ok && e.Rendered(form) {
		return e.Rendition(form)
	}
	if !ok {
		return s.renderOne(ctx, o, form)
	}
	r := s.join(e, form)
	if r == nil {
		return verb.Rendition{}, storage.ErrClosed
	}
	defer s.leave(r)
	select {
	case <-r.done:
		if r.panicked != nil {
			panic(r.panicked)
		}
		return r.rendition, r.err
	case <-ctx.Done():
		return verb.Rendition{}, ctx.Err()
	}
}

func (s *shared) renderOne(ctx context.Context, o object, form verb.Form) (verb.Rendition, error) {
	out, errs, err := s.renderTogether(ctx, []object{o}, form)
	if err == nil {
		err = errs[0]
	}
	return out[0], err
}

// renderings are those for which readers wait.
type renderings struct {
	mu      sync.Mutex // guards running, and the readers of each
	running map[renderingKey]*rendering
}

type renderingKey struct {
	entry *cache.Entry
	form  verb.Form
}

// rendering is a form of an entry that is being rendered.
type rendering struct {
	renderingKey
	readers int
	cancel  context.CancelFunc
	// done is closed when rendition and err are set.
	done      chan struct{}
	rendition verb.Rendition
	err       error
	panicked  any // what a panic of the codec said, for the readers
}

// join returns the rendering of a form, which it begins unless other readers wait for it. It returns nil after Close.
func (s *shared) join(e *cache.Entry, form verb.Form) *rendering {
	all := &s.renderings
	all.mu.Lock()
	defer all.mu.Unlock()
	key := renderingKey{e, form}
	r := all.running[key]
	if r == nil {
		r = &rendering{renderingKey: key, done: make(chan struct{})}
		var ctx context.Context
		ctx, r.cancel = context.WithCancel(s.closed)
		if !s.spawn(func() { s.run(ctx, r) }) {
			r.cancel()
			return nil
		}
		if all.running == nil {
			all.running = map[renderingKey]*rendering{}
		}
		all.running[key] = r
	}
	r.readers++
	return r
}

// run renders. No reader gets an error of ctx unless the store is closed: a rendering that all readers have left is no
// longer found.
func (s *shared) run(ctx context.Context, r *rendering) {
	defer func() {
		r.panicked = recover()
		r.cancel()
		s.renderings.remove(r)
		close(r.done)
	}()
	r.rendition, r.err = s.renderOne(ctx, r.entry, r.form)
}

// leave says that a reader no longer waits.
func (s *shared) leave(r *rendering) {
	all := &s.renderings
	all.mu.Lock()
	r.readers--
	last := r.readers == 0
	if last {
		all.forget(r)
	}
	all.mu.Unlock()
	if last {
		r.cancel()
	}
}

func (a *renderings) remove(r *rendering) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget(r)
}

// forget removes a rendering, unless another one has its place by now. Its caller holds the lock.
func (a *renderings) forget(r *rendering) {
	if a.running[r.renderingKey] == r {
		delete(a.running, r.renderingKey)
	}
}
