package store_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"k8s.io/apimachinery/pkg/fields"
)

// elsewhere is the form of gadgets that another program renders.
var elsewhere = verb.Form{Version: "elsewhere"}

// program renders gadgets once it is told to, or fails when its caller leaves. In a bubble its counts need no lock.
type program struct {
	calls, left int
	answers     chan struct{}
	panics      bool
}

func (p *program) render(ctx context.Context, stored []verb.Rendition, _ verb.Form) ([]verb.Rendition, []error) {
	p.calls++
	errs := make([]error, len(stored))
	if p.panics {
		panic("the program panicked")
	}
	select {
	case <-p.answers:
	case <-ctx.Done():
		p.left++
		for i := range errs {
			errs[i] = errors.New("the program was not asked to its end")
		}
	}
	return stored, errs
}

// openElsewhere opens a store of one gadget, in a bubble.
func openElsewhere(t *testing.T, cached bool) (*gadgets, *program) {
	t.Helper()
	p := &program{answers: make(chan struct{})}
	config := gadgetConfig(openBackend(t))
	config.DisableCache = !cached
	config.RenderAll = store.RenderAll{For: func(form verb.Form) bool { return form == elsewhere }, Render: p.render}
	opened, err := store.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opened.Close() })
	s := &gadgets{opened}
	mustCreate(t, s, "a", 1)
	synctest.Wait()
	return s, p
}

// reader is one who reads in a goroutine.
type reader struct {
	leave context.CancelFunc
	ended bool
	err   error
	panic any
}

func read(t *testing.T, how func(context.Context) error) *reader {
	t.Helper()
	r := &reader{}
	var ctx context.Context
	ctx, r.leave = context.WithCancel(t.Context())
	go func() {
		defer func() { r.panic, r.ended = recover(), true }()
		r.err = how(ctx)
	}()
	synctest.Wait()
	return r
}

func (s *gadgets) getElsewhere(ctx context.Context) error {
	_, err := s.Store.Get(ctx, "gadgets/ns/a", store.GetOptions{}, elsewhere)
	return err
}

// TestReadersLeaveAHangingProgram: where another program that hangs takes part in rendering, each way to read ends when
// its client leaves, and so does the call of that program.
func TestReadersLeaveAHangingProgram(t *testing.T) {
	for _, cached := range []bool{true, false} {
		for way, how := range map[string]func(context.Context, *gadgets) error{
			"get": func(ctx context.Context, s *gadgets) error { return s.getElsewhere(ctx) },
			"list": func(ctx context.Context, s *gadgets) error {
				_, err := s.Store.List(ctx, "gadgets/", verb.ListOptions{}, elsewhere)
				return err
			},
			"list of one": func(ctx context.Context, s *gadgets) error {
				opts := verb.ListOptions{}
				opts.Fields = fields.OneTermEqualSelector("metadata.name", "a")
				_, err := s.Store.List(ctx, "gadgets/ns/", opts, elsewhere)
				return err
			},
			"watch of the state": func(ctx context.Context, s *gadgets) error {
				return s.watchElsewhere(ctx, api.WatchOptions{})
			},
			"watch of an event": func(ctx context.Context, s *gadgets) error {
				return s.watchElsewhere(ctx, api.WatchOptions{ResourceVersion: "1"})
			},
		} {
			t.Run(map[bool]string{true: "cache ", false: "bare "}[cached]+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, p := openElsewhere(t, cached)
					r := read(t, func(ctx context.Context) error { return how(ctx, s) })
					if p.calls != 1 || r.ended {
						t.Errorf("the program was called %d times, and the reader ended: %t", p.calls, r.ended)
					}
					r.leave()
					synctest.Wait()
					if p.left != 1 || !r.ended || !errors.Is(r.err, context.Canceled) {
						t.Errorf("%d calls ended; the reader ended: %t, with %v", p.left, r.ended, r.err)
					}
					close(p.answers)
					if err := how(t.Context(), s); err != nil || p.calls != 2 {
						t.Errorf("another reader has %v after %d calls", err, p.calls)
					}
				})
			})
		}
	}
}

// watchElsewhere returns after the first events of a watch.
func (s *gadgets) watchElsewhere(ctx context.Context, opts api.WatchOptions) error {
	w, err := s.Store.Watch(ctx, "gadgets/", opts, elsewhere)
	if err != nil {
		return err
	}
	defer w.Close()
	_, err = w.Next(ctx)
	return err
}

// TestReadersShareARendition: readers of one object wait for one call of another program, which goes on as long as one
// of them waits.
func TestReadersShareARendition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := openElsewhere(t, true)
		first, second := read(t, s.getElsewhere), read(t, s.getElsewhere)
		first.leave()
		synctest.Wait()
		if !first.ended || second.ended || p.calls != 1 || p.left != 0 {
			t.Errorf("one of two readers left: %+v %+v %+v", first, second, p)
		}
		third := read(t, s.getElsewhere)
		close(p.answers)
		synctest.Wait()
		for _, r := range []*reader{second, third} {
			if !r.ended || r.err != nil {
				t.Errorf("a reader who stayed has %+v", r)
			}
		}
		if err := s.getElsewhere(t.Context()); err != nil || p.calls != 1 {
			t.Errorf("after it was rendered: %v, %d calls", err, p.calls)
		}
	})
}

// TestCloseEndsRenderings: a store that is closed waits for nobody.
func TestCloseEndsRenderings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := openElsewhere(t, true)
		r := read(t, s.getElsewhere)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if !r.ended || r.err == nil || p.left != 1 {
			t.Errorf("after Close, a reader has %+v, and %d calls ended", r, p.left)
		}
		if err := s.getElsewhere(t.Context()); err == nil {
			t.Error("a closed store renders")
		}
	})
}

// TestPanicsReachReaders: a panic while an object is rendered is the reader's, not the end of the process.
func TestPanicsReachReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := openElsewhere(t, true)
		p.panics = true
		for range 2 {
			if r := read(t, s.getElsewhere); !r.ended || r.panic != "the program panicked" {
				t.Errorf("the reader has %+v", r)
			}
		}
	})
}
