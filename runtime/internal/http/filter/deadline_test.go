package filter

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/request"
)

type valueKey struct{}

// TestBoundedIsAContext compares the deadline of requests with package context's.
func TestBoundedIsAContext(t *testing.T) {
	type end func(b *lazyDeadline, parent context.CancelFunc)
	for name, test := range map[string]struct {
		end  end
		want error
	}{
		"nothing":         {func(*lazyDeadline, context.CancelFunc) {}, nil},
		"the parent ends": {func(_ *lazyDeadline, parent context.CancelFunc) { parent() }, context.Canceled},
		"the time is over": {func(*lazyDeadline, context.CancelFunc) {
			time.Sleep(time.Minute)
		}, context.DeadlineExceeded},
		"the request is over": {func(b *lazyDeadline, _ context.CancelFunc) { b.end() }, context.Canceled},
		"ended, then the time": {func(b *lazyDeadline, _ context.CancelFunc) {
			b.end()
			time.Sleep(time.Minute)
		}, context.Canceled},
	} {
		for _, waits := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				parent, cancel := context.WithCancel(context.WithValue(t.Context(), valueKey{}, "kept"))
				defer cancel()
				b := &lazyDeadline{parent: parent, deadline: time.Now().Add(time.Minute)}
				var child context.Context
				if waits {
					var stop context.CancelFunc
					child, stop = context.WithCancel(b)
					defer stop()
				}
				test.end(b, cancel)
				synctest.Wait()
				if err := b.Err(); !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
					t.Errorf("%s: the error is %v", name, err)
				}
				if child != nil && !errors.Is(child.Err(), test.want) {
					t.Errorf("%s: a child's error is %v", name, child.Err())
				}
				select {
				case <-b.Done():
					if test.want == nil {
						t.Errorf("%s: it is done", name)
					}
				default:
					if test.want != nil {
						t.Errorf("%s: it isn't done", name)
					}
				}
				if b.Value(valueKey{}) != "kept" || context.WithoutCancel(b).Value(valueKey{}) != "kept" {
					t.Errorf("%s: values are lost", name)
				}
				b.end()
			})
		}
	}
}

func TestBoundedTellsTheEarlierDeadline(t *testing.T) {
	now := time.Now()
	parent, cancel := context.WithDeadline(t.Context(), now.Add(time.Second))
	defer cancel()
	b := &lazyDeadline{parent: parent, deadline: now.Add(time.Hour)}
	defer b.end()
	if d, ok := b.Deadline(); !ok || !d.Equal(now.Add(time.Second)) {
		t.Errorf("the deadline is %v", d)
	}
}

// TestBoundedCostsOneAllocation as long as nobody waits.
func TestBoundedCostsOneAllocation(t *testing.T) {
	parent := t.Context()
	var kept *lazyDeadline
	n := testing.AllocsPerRun(100, func() {
		b := &lazyDeadline{parent: parent, deadline: time.Now().Add(time.Minute)}
		kept = b // so that it must be allocated
		if err := kept.Err(); err != nil {
			t.Error(err)
		}
		b.end()
	})
	if n > 1 {
		t.Errorf("%v allocations", n)
	}
}

// TestWithoutDeadline: until it has a deadline, the context is as its parent, and a child that it has by then ends with
// the parent.
func TestWithoutDeadline(t *testing.T) {
	parent, cancel := context.WithCancel(t.Context())
	b := &lazyDeadline{parent: parent}
	if _, limited := b.Deadline(); limited || b.Err() != nil || b.Done() != parent.Done() {
		t.Error("a context without a deadline isn't its parent")
	}
	child, stop := context.WithCancel(b)
	defer stop()
	b.deadline = time.Now().Add(time.Hour)
	defer b.end()
	cancel()
	<-child.Done()
	if <-b.Done(); !errors.Is(b.Err(), context.Canceled) {
		t.Error(b.Err())
	}
}

// TestOneCopyOfARequest: RequestInfo and Deadline put what they know into one context of one copy of the request.
func TestOneCopyOfARequest(t *testing.T) {
	var copies int
	seen := map[*http.Request]bool{}
	count := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !seen[r] {
				copies++
			}
			seen[r] = true
			next.ServeHTTP(w, r)
		})
	}
	handler := Chain(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if _, limited := r.Context().Deadline(); !limited || request.InfoFrom(r.Context()) == nil {
			t.Error("the request has no deadline or no Info")
		}
	}), RequestInfo(nil, nil), count, Deadline(time.Minute), count)
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	if copies != 1 {
		t.Errorf("%d requests were seen", copies)
	}
}

// What lives as long as its client wants has no deadline, and ends when the server drains.
func TestLongRunning(t *testing.T) {
	drain := NewDrain(Ending{})
	handler := Chain(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, limited := r.Context().Deadline()
		drained := false
		if !limited {
			drain.Start()
			<-r.Context().Done()
			drained = true
		}
		_, _ = fmt.Fprint(w, limited, drained)
	}), RequestInfo(func(i *request.Info) bool {
		return i.Subresource == "log"
	}, nil), drain.Filter(isHealth), Deadline(time.Minute))
	for _, c := range []struct{ path, want string }{{"status", "true false"}, {"log", "false true"}} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/apis/g/v1/namespaces/ns/widgets/a/"+c.path, nil))
		if got := w.Body.String(); got != c.want {
			t.Errorf("%s: %q, want %q", c.path, got, c.want)
		}
	}
}

// TestUserOfDeadline: a request gets its user without a copy, unless somebody may read its context already.
func TestUserOfDeadline(t *testing.T) {
	jane := &auth.User{Name: "jane"}
	plain := httptest.NewRequest(http.MethodGet, "/", nil)
	lazy := &lazyDeadline{parent: plain.Context(), deadline: time.Now().Add(time.Hour)}
	cases := map[string]struct {
		request *http.Request
		copied  bool
	}{
		"a deadline for which nobody waits": {plain.WithContext(lazy), false},
		"a deadline for which somebody waits": {
			plain.WithContext(waitedFor(&lazyDeadline{parent: plain.Context(), deadline: time.Now().Add(time.Hour)})),
			true,
		},
		"a long-running request": {plain.WithContext(&lazyDeadline{parent: plain.Context()}), true},
		"another context":        {plain, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := withUser(c.request, jane)
			if auth.UserFrom(got.Context()) != jane || (got != c.request) != c.copied {
				t.Errorf("the user is %v, copied: %v", auth.UserFrom(got.Context()), got != c.request)
			}
			if c.copied && auth.UserFrom(c.request.Context()) != nil {
				t.Error("the request that others see has changed")
			}
		})
	}
}

func waitedFor(d *lazyDeadline) *lazyDeadline {
	d.Done()
	return d
}
