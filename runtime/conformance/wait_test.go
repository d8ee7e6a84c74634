package conformance

import (
	"context"
	goruntime "runtime"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
)

type runtimeObject = runtime.Object

// bound is how long anything may take to become true: far longer than it does, for a busy machine.
const bound = 3 * time.Minute

func patience() <-chan time.Time { return time.After(bound) }

// eventually waits until ok is true. It fails the test with what tell says where that doesn't happen.
func eventually(t *testing.T, ok func() bool, tell func() string) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, bound, true,
		func(context.Context) (bool, error) { return ok(), nil })
	if err != nil {
		t.Fatal(tell())
	}
}

// concurrently calls do n times at once, and waits for all.
func concurrently(n int, do func(i int)) {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { do(i) })
	}
	group.Wait()
}

// retryForever is a backoff for what must succeed in the end. It has no cap: a backoff ends where it reaches one.
var retryForever = wait.Backoff{Duration: 10 * time.Millisecond, Factor: 1, Jitter: 1, Steps: 10_000}

// finish waits for a group, and fails the test with what tell says where that takes too long.
func finish(t *testing.T, group *sync.WaitGroup, tell func() string) {
	t.Helper()
	finished := make(chan struct{})
	go func() { group.Wait(); close(finished) }()
	select {
	case <-finished:
	case <-patience():
		stacks := make([]byte, 1<<20)
		t.Fatalf("%s\n%s", tell(), stacks[:goruntime.Stack(stacks, true)])
	}
}

// errorLog keeps errors that are no conflicts.
type errorLog struct {
	mu   sync.Mutex
	errs []error
}

// keep returns the error that it was given.
func (l *errorLog) keep(err error) error {
	if err != nil && !apierrors.IsConflict(err) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.errs = append(l.errs, err)
	}
	return err
}

// first is nil if there are none.
func (l *errorLog) first() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.errs) == 0 {
		return nil
	}
	return l.errs[0]
}
