package respond

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// turnsOf returns turns for limit answers, and a function that has goroutines wait for processors, or not.
func turnsOf(limit int) (*Turns, func(late bool)) {
	var prompt atomic.Bool // at first goroutines wait, so that the limit stays as low as it is
	return newTurns(limit, func(time.Time) bool { return !prompt.Load() }), func(late bool) { prompt.Store(!late) }
}

// answers writes pieces of answers in turn, and records in which order.
type answers struct {
	turns *Turns
	log   []string
	open  sync.WaitGroup
}

// start has an answer of so many pieces begin, in a goroutine of its own. Each piece takes a millisecond.
func (a *answers) start(user, name string, pieces int) {
	turn := a.turns.Of(user)
	a.open.Go(func() {
		defer turn.End()
		for range pieces {
			if turn.Take(context.Background()) != nil {
				return
			}
			a.log = append(a.log, name)
			time.Sleep(time.Millisecond)
		}
	})
	synctest.Wait()
}

func checkIdle(t *testing.T, turns *Turns) {
	t.Helper()
	turns.mu.Lock()
	defer turns.mu.Unlock()
	if turns.held != 0 || len(turns.waiting) != 0 || turns.paced {
		t.Errorf("%d answers have turns, %d users wait, and pace runs on (%t)",
			turns.held, len(turns.waiting), turns.paced)
	}
}

func TestUsersTakeTurns(t *testing.T) {
	tests := []struct {
		name  string
		start func(a *answers)
		want  string
	}{
		{"one answer after the other of one user",
			func(a *answers) { a.start("ann", "a1", 3); a.start("ann", "a2", 2) }, "a1 a1 a1 a2 a2"},
		{"piece by piece of two users",
			func(a *answers) { a.start("ann", "a1", 3); a.start("bob", "b1", 2) }, "a1 b1 a1 b1 a1"},
		{"a user with many answers beside one with one",
			func(a *answers) {
				a.start("ann", "a1", 2)
				a.start("ann", "a2", 2)
				a.start("ann", "a3", 2)
				a.start("bob", "b1", 3)
			}, "a1 a1 b1 a2 b1 a2 b1 a3 a3"},
		{"three users",
			func(a *answers) { a.start("ann", "a1", 2); a.start("bob", "b1", 2); a.start("cid", "c1", 2) },
			"a1 b1 c1 a1 b1 c1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				turns, _ := turnsOf(1)
				a := &answers{turns: turns}
				test.start(a)
				a.open.Wait()
				time.Sleep(2 * paceInterval) // in the bubble: until pace has ended
				if got := strings.Join(a.log, " "); got != test.want {
					t.Errorf("the pieces are %q, not %q", got, test.want)
				}
				checkIdle(t, turns)
			})
		})
	}
}

// TestTurnsFollowTheProcessors: as long as nobody waits for a processor, answers get turns beside slow ones. If
// goroutines wait, half of the answers lose theirs at the next piece.
func TestTurnsFollowTheProcessors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slow = 8
		turns, setLate := turnsOf(1)
		setLate(false)
		began := time.Now()
		held := make([]Turn, slow)
		for i := range held {
			held[i] = turns.Of("ann")
			if err := held[i].Take(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if took, most := time.Since(began), slow*paceInterval; took > most {
			t.Errorf("%d slow answers had turns after %v, not %v", slow, took, most)
		}
		setLate(true)
		time.Sleep(paceInterval)
		synctest.Wait() // for pace
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // who doesn't keep the turn fails at once
		kept := 0
		for i := range held {
			if held[i].Take(ctx) == nil {
				kept++
			}
		}
		if kept != slow/2 {
			t.Errorf("%d of %d answers kept their turns", kept, slow)
		}
		for i := range held {
			held[i].End()
		}
		time.Sleep(2 * paceInterval) // in the bubble: until pace has ended
	})
}

// TestSmallAnswersKeepLargeOnesFew: for a second after a small answer, more large answers get turns only when
// goroutines haven't waited for a while, or when the clients of those that have turns don't read.
func TestSmallAnswersKeepLargeOnesFew(t *testing.T) {
	const longAgo = 2 * forgetAfter * paceInterval
	tests := []struct {
		name  string
		ago   time.Duration // when a small answer passed; negative if none did
		reads time.Duration // when the client of the first large answer reads its last piece
		after time.Duration // when the second large answer has its turn
	}{
		{"none", -1, time.Second, paceInterval},
		{"one just now", 0, time.Second, pause * paceInterval},
		{"one just now, and a client that doesn't read", 0, 0, (1 + stall) * paceInterval},
		{"one just now, and a client that stops", 0, 2 * paceInterval, (3 + stall) * paceInterval},
		{"one just now, and a client that couldn't read", 0, -time.Second, stall * paceInterval},
		{"one long ago", longAgo, time.Second, paceInterval},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				turns, setLate := turnsOf(1)
				first, second, small := turns.Of("ann"), turns.Of("ann"), turns.Of("bob")
				began := time.Now().Add(longAgo + paceInterval/2)
				var reader sync.WaitGroup
				reader.Go(func() {
					for first.Take(t.Context()) == nil && time.Now().Before(began.Add(test.reads)) {
						time.Sleep(time.Millisecond)
					}
				})
				synctest.Wait()
				given := make(chan error, 1)
				go func() { given <- second.Take(t.Context()) }()
				time.Sleep(time.Until(began) - max(test.ago, 0)) // in the bubble; goroutines wait for processors
				if test.ago >= 0 {
					small.Pass()
					time.Sleep(test.ago)
				}
				setLate(false)
				if err := <-given; err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took > test.after || took <= test.after-paceInterval {
					t.Errorf("the second answer had its turn after %v, not within %v", took, test.after)
				}
				second.End()
				reader.Wait()
				first.End()
				time.Sleep(2 * paceInterval) // in the bubble: until pace has ended
				checkIdle(t, turns)
			})
		})
	}
}

// TestFewLargeAnswersStay: although goroutines wait, some large answers have turns, and one while small answers pass.
func TestFewLargeAnswersStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const few = 3
		turns, _ := turnsOf(few)
		var open sync.WaitGroup
		ctx, end := context.WithCancel(t.Context())
		for range 2 * few {
			turn := turns.Of("ann")
			open.Go(func() {
				defer turn.End()
				for turn.Take(ctx) == nil && ctx.Err() == nil {
					time.Sleep(time.Millisecond)
				}
			})
		}
		check := func(want int, when string) {
			t.Helper()
			if held, _ := turns.Count(); held != want {
				t.Errorf("%s %d answers have turns, not %d", when, held, want)
			}
		}
		time.Sleep(10 * paceInterval)
		check(few, "at first")
		small := turns.Of("bob")
		small.Pass()
		time.Sleep(10 * paceInterval)
		check(1, "while small ones pass")
		time.Sleep(forgetAfter * paceInterval)
		check(few, "a second later")
		end()
		open.Wait()
		time.Sleep(2 * paceInterval) // in the bubble: until pace has ended
		checkIdle(t, turns)
	})
}

func TestTurnOfAnEndedRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, _ := turnsOf(1)
		first, second, third := turns.Of("ann"), turns.Of("ann"), turns.Of("bob")
		if err := first.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		failed := make(chan error, 1)
		go func() { failed <- second.Take(ctx) }()
		synctest.Wait()
		cancel(gone)
		if err := <-failed; !errors.Is(err, gone) {
			t.Errorf("the wait ended with %v", err)
		}
		second.End()
		go func() { failed <- third.Take(t.Context()) }()
		synctest.Wait()
		first.End()
		if err := <-failed; err != nil {
			t.Errorf("an answer behind one that left: %v", err)
		}
		third.End()
		third.End() // ends nothing twice
		time.Sleep(2 * paceInterval)
		checkIdle(t, turns)
	})
}

// TestAnswersWithoutATurnAreAborted: a client must not take a part of an answer for the whole.
func TestAnswersWithoutATurnAreAborted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, _ := turnsOf(1)
		other := turns.Of("ann")
		if err := other.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		body := Body{Writer: httptest.NewRecorder(), Code: http.StatusOK, WriteTimeout: time.Minute,
			Turn: turns.Of("ann"), Context: ctx}
		if _, err := body.Write([]byte("piece")); !errors.Is(err, context.Canceled) {
			t.Errorf("a piece without its turn: %v", err)
		}
		func() {
			defer func() {
				if got := recover(); got != http.ErrAbortHandler { //nolint:errorlint // net/http wants the value itself
					t.Errorf("Close: %v", got)
				}
			}()
			body.Close()
		}()
		other.End()
		time.Sleep(2 * paceInterval) // in the bubble: until pace has ended
		checkIdle(t, turns)
	})
}

// TestWholeAnswersDontWait: an answer of one piece is small, and passes.
func TestWholeAnswersDontWait(t *testing.T) {
	turns, _ := turnsOf(1)
	other := turns.Of("ann")
	if err := other.Take(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer other.End()
	w := httptest.NewRecorder()
	body := Body{Writer: w, Code: http.StatusOK, WriteTimeout: time.Minute, Turn: turns.Of("ann"), Context: t.Context()}
	body.WriteWhole([]byte("whole"))
	body.Close()
	if !turns.passed.Load() {
		t.Error("large answers don't know that a small one has passed")
	}
	if got := w.Body.String(); got != "whole" || slices.Contains([]int{0, 429}, w.Code) {
		t.Errorf("%d %q", w.Code, got)
	}
}

func BenchmarkTurn(b *testing.B) {
	turns := NewTurns()
	b.ReportAllocs()
	for b.Loop() {
		turn := turns.Of("ann")
		for range 100 {
			if err := turn.Take(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		turn.End()
	}
}
