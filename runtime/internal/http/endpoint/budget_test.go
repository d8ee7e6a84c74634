package endpoint

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// waiters are goroutines that acquire one after another, and those whose claims were granted.
type waiters struct {
	*budget
	granted chan string
}

func (w *waiters) want(user string, size int64) {
	go func() {
		if w.acquire(context.Background(), user, size) == nil {
			w.granted <- user
		}
	}()
	synctest.Wait()
}

// got returns who was granted a claim since the last call.
func (w *waiters) got() (users []string) {
	synctest.Wait()
	for len(w.granted) > 0 {
		users = append(users, <-w.granted)
	}
	slices.Sort(users)
	return users
}

// TestBudgetIsFair: a user who waits gets bytes before another gets more, and nobody gets more than half.
func TestBudgetIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &waiters{newBudget(8), make(chan string, 100)}
		for range 6 {
			w.want("eve", 3) // one is granted: two are over half
		}
		w.want("bob", 3)
		w.want("ann", 6)
		w.want("bob", 2)
		expect := func(what string, users ...string) {
			t.Helper()
			if got := w.got(); !slices.Equal(got, users) {
				t.Errorf("%s: %v got bytes, want %v", what, got, users)
			}
		}
		expect("at first", "bob", "eve")
		w.release("eve", 3)
		expect("eve holds nothing, and was first", "eve")
		w.release("bob", 3)
		expect("ann's 6 don't fit, and nobody passes them")
		w.release("eve", 3)
		expect("one each", "ann", "bob")
		w.release("ann", 6)
		expect("nobody but eve waits", "eve")
		w.release("bob", 2)
		expect("eve has her half")
		for range 3 {
			w.release("eve", 3)
			expect("the rest", "eve")
		}
		w.release("eve", 3)
		if w.free != 8 || len(w.accounts)+len(w.turns) != 0 {
			t.Errorf("at last %d are free, %d accounts, %d turns", w.free, len(w.accounts), len(w.turns))
		}
	})
}

// TestBudgetLeavesHalf: a user who came first and holds on to what she got, as behind a webhook that hangs, leaves half
// to others.
func TestBudgetLeavesHalf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &waiters{newBudget(8), make(chan string, 100)}
		for range 4 {
			w.want("eve", 2)
		}
		w.want("bob", 4)
		if got := w.got(); !slices.Equal(got, []string{"bob", "eve", "eve"}) {
			t.Errorf("%v got bytes", got)
		}
		for range 4 {
			w.release("eve", 2)
			synctest.Wait()
		}
		w.release("bob", 4)
	})
}

// TestBudgetForgetsWhoLeaves: a claim whose request ends holds up nobody.
func TestBudgetForgetsWhoLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &waiters{newBudget(8), make(chan string, 100)}
		w.want("eve", 5)
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error)
		go func() { left <- w.acquire(ctx, "ann", 8) }()
		synctest.Wait()
		w.want("bob", 3)
		if got := w.got(); !slices.Equal(got, []string{"eve"}) {
			t.Errorf("%v got bytes", got)
		}
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if got := w.got(); !slices.Equal(got, []string{"bob"}) {
			t.Errorf("after ann left, %v got bytes", got)
		}
		w.release("eve", 5)
		w.release("bob", 3)
		if w.free != 8 || len(w.accounts)+len(w.turns) != 0 {
			t.Errorf("at last %d are free, %d accounts, %d turns", w.free, len(w.accounts), len(w.turns))
		}
	})
}

// TestSharesEnd: two users whose requests hang, with all bytes, hold up a third one for shareTime, and a release after
// that gives nothing back twice.
func TestSharesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(8)
		var releases []func()
		for _, user := range []string{"eve", "mallory"} {
			for range 2 {
				release, err := b.share(t.Context(), user, 2)
				if err != nil {
					t.Fatal(err)
				}
				releases = append(releases, release)
			}
		}
		begin := time.Now()
		release, err := b.share(t.Context(), "bob", 3)
		if waited := time.Since(begin); err != nil || waited != shareTime {
			t.Errorf("bob waited %s: %v", waited, err)
		}
		for _, late := range append(releases, release, release) {
			late()
		}
		if b.free != 8 || len(b.accounts)+len(b.turns) != 0 {
			t.Errorf("at last %d are free, %d accounts, %d turns", b.free, len(b.accounts), len(b.turns))
		}
	})
}
