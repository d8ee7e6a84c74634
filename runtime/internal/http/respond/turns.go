package respond

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Turns shares the processors among large answers, so that small ones stay quick beside them. A large answer takes its
// turn for each of its pieces. As long as goroutines get a processor at once, all answers have turns. When goroutines
// wait, fewer and fewer answers have them: users then take turns piece by piece, and the answers of one user follow
// each other, so that the first is complete early.
//
// While no small answers pass, as many large ones keep turns as it takes to keep processors and clients busy. While
// some pass, one has its turn in the end, and the number grows again only after a pause: a processor that writes one
// piece after the other leaves the network to itself for up to 10 ms, and a small request stays unread as long.
//
// A slow client keeps its turn while it reads a piece. It holds nobody up, since the processors are idle then, and
// others get turns, too. Several goroutines may use Turns.
type Turns struct {
	// late reports whether goroutines have waited for a processor. It is called once in paceInterval while answers wait
	// or several have turns.
	late func(planned time.Time) bool
	// passed: a small answer has passed since pace looked last.
	passed atomic.Bool

	// few is how many answers have turns at least while no small ones pass.
	few int

	mu      sync.Mutex // guards the fields below, and those of all Turn
	limit   int        // how many answers may have turns
	step    int        // by how much limit grew last; 0 after it shrank
	held    int        // how many have
	waiting []*line    // the users whose answers wait, in the order in which they come next
	paced   bool       // pace will run
	prompt  int        // how often in a row pace found that nobody waited
	alone   int        // how often in a row pace found that no small answer had passed
	read    bool       // a client has read a piece since pace looked last
	stalled int        // how often in a row pace found that no client had read a piece
}

// line is the answers of one user that wait, the first one first.
type line struct {
	user  string
	turns []*Turn
}

const (
	// paceInterval is how often Turns look whether goroutines wait.
	paceInterval = 2 * time.Millisecond
	// maxLate is how long goroutines may wait for a processor before fewer answers have turns.
	maxLate = 2 * time.Millisecond
	// pause is how often in a row goroutines must get processors at once before more answers have turns, while small
	// answers pass: 32 ms.
	pause = 16
	// forgetAfter is how often pace looks until it forgets that a small answer has passed: after a second.
	forgetAfter = 500
	// stall is how often pace looks until it takes the clients for slow: 6 ms, in which a quick one reads ten pieces.
	stall = 3
)

// NewTurns returns Turns that begin with two answers for each processor: one is written while the client of the other
// reads.
func NewTurns() *Turns { return newTurns(2*runtime.GOMAXPROCS(0), late) }

func newTurns(few int, late func(planned time.Time) bool) *Turns {
	return &Turns{late: late, few: few, limit: few, alone: forgetAfter}
}

// Count returns how many answers have turns, and how many wait for them.
func (t *Turns) Count() (held, waiting int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.waiting {
		waiting += len(l.turns)
	}
	return t.held, waiting
}

// Turn is the turn of one answer. One goroutine uses it.
type Turn struct {
	turns *Turns
	user  string
	held  bool
	given chan struct{} // closed when the turn is given; nil unless the answer has waited
}

// Of returns the turn of an answer to user, which doesn't have it yet.
func (t *Turns) Of(user string) Turn { return Turn{turns: t, user: user} }

// Take waits until the answer may write its next piece: at once if it has the turn and keeps it. It fails if ctx ends.
// A zero Turn never waits.
func (t *Turn) Take(ctx context.Context) error {
	if t.turns == nil || !t.turns.waits(t) {
		return nil
	}
	select {
	case <-t.given:
		return nil
	case <-ctx.Done():
		t.turns.leave(t)
		return context.Cause(ctx)
	}
}

// Pass says that an answer is written that is too small to take a turn.
func (t *Turn) Pass() {
	if t.turns != nil && !t.turns.passed.Load() { // most often it is set: processors needn't share a write
		t.turns.passed.Store(true)
	}
}

// End gives the turn back.
func (t *Turn) End() {
	if t.turns != nil {
		t.turns.leave(t)
	}
}

// waits gives a turn if it can, and else puts it into its user's line: at the head if it had its turn until now.
func (t *Turns) waits(turn *Turn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.schedule()
	had := turn.held
	t.read = t.read || had
	switch {
	case had && t.held <= t.limit && !t.othersWait(turn.user):
		return false
	case had:
		turn.held = false
		t.held--
	case t.held < t.limit: // then nobody waits
		turn.held = true
		t.held++
		return false
	}
	turn.given = make(chan struct{})
	t.enqueue(turn, had)
	t.give()
	return !turn.held
}

func (t *Turns) othersWait(user string) bool {
	return len(t.waiting) > 1 || len(t.waiting) == 1 && t.waiting[0].user != user
}

func (t *Turns) enqueue(turn *Turn, first bool) {
	at := slices.IndexFunc(t.waiting, func(l *line) bool { return l.user == turn.user })
	if at < 0 {
		at = len(t.waiting)
		t.waiting = append(t.waiting, &line{user: turn.user})
	}
	l := t.waiting[at]
	if first {
		l.turns = slices.Insert(l.turns, 0, turn)
	} else {
		l.turns = append(l.turns, turn)
	}
}

// give gives the turns that are free, to one user after the other.
func (t *Turns) give() {
	for t.held < t.limit && len(t.waiting) > 0 {
		next := t.waiting[0]
		turn := next.turns[0]
		next.turns = next.turns[1:]
		t.waiting = t.waiting[1:]
		if len(next.turns) > 0 {
			t.waiting = append(t.waiting, next)
		}
		turn.held = true
		t.held++
		close(turn.given)
	}
}

// leave ends a turn, or the wait for it.
func (t *Turns) leave(turn *Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if turn.held {
		turn.held = false
		t.held--
		t.give()
		return
	}
	for i, l := range t.waiting {
		if at := slices.Index(l.turns, turn); at >= 0 {
			l.turns = slices.Delete(l.turns, at, at+1)
			if len(l.turns) == 0 {
				t.waiting = slices.Delete(t.waiting, i, i+1)
			}
			return
		}
	}
}

// schedule has pace run as long as the number of turns matters.
func (t *Turns) schedule() {
	if t.paced || t.held <= 1 && len(t.waiting) == 0 {
		return
	}
	t.paced = true
	planned := time.Now().Add(paceInterval)
	time.AfterFunc(paceInterval, func() { t.pace(planned) })
}

// pace changes the number of turns. If goroutines wait, half of the answers lose theirs, down to the least number. If
// they don't, and haven't for long enough, more answers get turns than have them, and the longer that goes well, the
// more: clients that don't read hold nobody up for long.
func (t *Turns) pace(planned time.Time) {
	late := t.late(planned)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.paced = false
	t.prompt, t.alone, t.stalled = t.prompt+1, t.alone+1, t.stalled+1
	if t.passed.Swap(false) {
		t.alone = 0
	}
	if t.read {
		t.read, t.stalled = false, 0
	}
	switch {
	case late:
		t.limit, t.step, t.prompt, t.stalled = max(t.least(), min(t.limit, t.held)/2), 0, 0, 0
	case len(t.waiting) > 0 && t.mayGrow():
		t.step = max(1, 2*t.step)
		t.limit = max(t.limit, t.held) + t.step
	}
	t.give()
	t.schedule()
}

// least returns how many answers have turns though goroutines wait.
func (t *Turns) least() int {
	if t.alone < forgetAfter {
		return 1
	}
	return t.few
}

// mayGrow reports whether more answers get turns. Once it has begun, that goes on until goroutines wait.
func (t *Turns) mayGrow() bool {
	return t.step > 0 || t.alone >= forgetAfter || t.prompt >= pause || t.stalled >= stall
}

// late measures how long it took until the timer of pace ran, and how long a goroutine waits that stands at the end of
// the scheduler's queue.
func late(planned time.Time) bool {
	runtime.Gosched()
	return time.Since(planned) > maxLate
}
