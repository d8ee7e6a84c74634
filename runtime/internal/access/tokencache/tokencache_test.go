package tokencache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/auth"
)

// asked is an authenticator for tests that counts questions.
type asked struct {
	mu     sync.Mutex
	times  int
	answer func(ctx context.Context, token string, audiences []string) (*auth.Identity, error)
}

func (a *asked) AuthenticateToken(ctx context.Context, token string, audiences []string) (*auth.Identity, error) {
	a.mu.Lock()
	a.times++
	a.mu.Unlock()
	return a.answer(ctx, token, audiences)
}

func (a *asked) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.times
}

// named authenticates every token but those that begin with "bad", as a user with the token's name.
func named(_ context.Context, token string, audiences []string) (*auth.Identity, error) {
	if strings.HasPrefix(token, "bad") {
		return nil, errors.New("it is bad")
	}
	if token == "foreign" {
		return nil, nil
	}
	return &auth.Identity{User: &auth.User{Name: token}, Audiences: audiences}, nil
}

// clock is a clock for tests.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func TestVerdictsAreRemembered(t *testing.T) {
	for _, row := range []struct {
		name    string
		config  Config
		token   string
		expires time.Duration
		// questions are those after the first question, after 1, 9, 11 and 21 seconds.
		questions [5]int
	}{
		{"success", Config{}, "a", 0, [5]int{1, 1, 1, 2, 3}},
		{"success of 20 s", Config{Success: 20 * time.Second}, "a", 0, [5]int{1, 1, 1, 1, 2}},
		{"success is not remembered", Config{Success: -1}, "a", 0, [5]int{1, 2, 3, 4, 5}},
		{"the token expires", Config{}, "a", 5 * time.Second, [5]int{1, 1, 2, 3, 4}},
		{"failure is not remembered", Config{}, "bad", 0, [5]int{1, 2, 3, 4, 5}},
		{"failure", Config{Failure: 10 * time.Second}, "bad", 0, [5]int{1, 1, 1, 2, 3}},
		{"an unknown token", Config{Unknown: 20 * time.Second}, "foreign", 0, [5]int{1, 1, 1, 1, 2}},
		{"failure beside unknown tokens", Config{Unknown: 20 * time.Second}, "bad", 0, [5]int{1, 2, 3, 4, 5}},
		{"another's token", Config{Failure: 10 * time.Second}, "foreign", 0, [5]int{1, 1, 1, 2, 3}},
	} {
		t.Run(row.name, func(t *testing.T) {
			start := time.Unix(1_000_000, 0)
			clock := &clock{start}
			row.config.Now = clock.Now
			inner := &asked{answer: func(ctx context.Context, token string, as []string) (*auth.Identity, error) {
				identity, err := named(ctx, token, as)
				if identity != nil && row.expires > 0 {
					identity.Expires = start.Add(row.expires)
				}
				return identity, err
			}}
			c := New(inner, row.config)
			for i, after := range []int{0, 1, 9, 11, 21} {
				clock.now = start.Add(time.Duration(after) * time.Second)
				identity, err := c.AuthenticateToken(t.Context(), row.token, nil)
				if (err != nil) != (row.token == "bad") || (identity != nil) != (row.token == "a") {
					t.Errorf("after %d s: %v, %v", after, identity, err)
				}
				if inner.count() != row.questions[i] {
					t.Errorf("after %d s: %d questions, want %d", after, inner.count(), row.questions[i])
				}
			}
		})
	}
}

func TestKeysDiffer(t *testing.T) {
	inner := &asked{answer: named}
	c := New(inner, Config{})
	for i, row := range []struct {
		token     string
		audiences []string
	}{
		{"a", nil}, {"a", []string{}}, {"a", []string{""}}, {"a", []string{"b"}}, {"ab", nil}, {"a", []string{"b",
			"c"}},
		{"a", []string{"bc"}}, {"a", []string{"c", "b"}},
	} {
		for range 2 {
			identity, err := c.AuthenticateToken(t.Context(), row.token, row.audiences)
			if err != nil || fmt.Sprint(identity.Audiences) != fmt.Sprint(row.audiences) {
				t.Errorf("%v: %v, %v", row, identity, err)
			}
		}
		if inner.count() != i+1 {
			t.Errorf("%v: %d questions, want %d", row, inner.count(), i+1)
		}
	}
}

func TestSizeIsBounded(t *testing.T) {
	inner := &asked{answer: named}
	c := New(inner, Config{Size: 3})
	ask := func(tokens string) {
		for token := range strings.SplitSeq(tokens, "") {
			if _, err := c.AuthenticateToken(t.Context(), token, nil); err != nil {
				t.Error(err)
			}
		}
	}
	ask("abcabcabc")
	ask("da")
	if inner.count() != 5 || len(c.verdicts.byKey) != 3 || c.verdicts.order.Len() != 3 {
		t.Errorf("%d questions, %d verdicts", inner.count(), len(c.verdicts.byKey))
	}
}

// Requests with the same token share a question; one that gives up takes nothing from the others.
func TestQuestionsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		inner := &asked{answer: func(ctx context.Context, token string, as []string) (*auth.Identity, error) {
			select {
			case <-release:
				return named(ctx, token, as)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}}
		c := New(inner, Config{})
		impatient, giveUp := context.WithCancel(t.Context())
		answers := make(chan error, 10)
		for i := range 10 {
			ctx := t.Context()
			if i == 0 {
				ctx = impatient
			}
			go func() {
				_, err := c.AuthenticateToken(ctx, "a", nil)
				answers <- err
			}()
			synctest.Wait()
		}
		giveUp()
		if err := <-answers; !errors.Is(err, context.Canceled) {
			t.Errorf("the one that gave up got %v", err)
		}
		close(release)
		for range 9 {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
		if inner.count() != 1 {
			t.Errorf("%d questions, want 1", inner.count())
		}
	})
}

// A question ends in bounded time, and then all that wait for it get an error, which is not remembered.
func TestQuestionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &asked{answer: func(ctx context.Context, _ string, _ []string) (*auth.Identity, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		c := New(inner, Config{})
		start := time.Now()
		if _, err := c.AuthenticateToken(t.Context(), "a", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if took := time.Since(start); took != 30*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

func TestPanicsAreErrors(t *testing.T) {
	var log bytes.Buffer
	crash := true
	inner := &asked{answer: func(ctx context.Context, token string, as []string) (*auth.Identity, error) {
		if crash {
			panic("no")
		}
		return named(ctx, token, as)
	}}
	c := New(inner, Config{Failure: time.Hour, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if identity, err := c.AuthenticateToken(t.Context(), "secret", nil); identity != nil || !errors.Is(err,
		errCrashed) {
		t.Errorf("%v, %v", identity, err)
	}
	if !strings.Contains(log.String(), "panic=no") || strings.Contains(log.String(), "secret") {
		t.Errorf("logged %s", log.String())
	}
	crash = false
	if _, err := c.AuthenticateToken(t.Context(), "secret", nil); err != nil {
		t.Errorf("the panic was remembered: %v", err)
	}
}

type contextKey struct{}

// The context of a question has the values of a request, by which an authenticator reaches the server's objects.
func TestContextKeepsValues(t *testing.T) {
	inner := &asked{answer: func(ctx context.Context, _ string, _ []string) (*auth.Identity, error) {
		name, _ := ctx.Value(contextKey{}).(string)
		return &auth.Identity{User: &auth.User{Name: name}}, nil
	}}
	identity, err := New(inner, Config{}).AuthenticateToken(context.WithValue(t.Context(), contextKey{}, "x"), "a", nil)
	if err != nil || identity.User.Name != "x" {
		t.Errorf("%v, %v", identity, err)
	}
}

func BenchmarkRemembered(b *testing.B) {
	c := New(&asked{answer: named}, Config{})
	token := strings.Repeat("x", 1000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.AuthenticateToken(b.Context(), token, nil); err != nil {
			b.Fatal(err)
		}
	}
}
