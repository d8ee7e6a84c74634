package filter

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/auth"
)

// wrongToken is an authenticator that knows no user, and counts questions.
type wrongToken struct {
	mu    sync.Mutex // guards asked
	asked int
}

func (a *wrongToken) Authenticate(*http.Request) (*auth.User, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	return nil, errors.New("the token is wrong")
}

// TestRefusalsArePaused: some refusals are answered at once. Those that follow wait for their turn, none for longer
// than a second, and end their connections. After a pause of the clients, some are answered at once again.
func TestRefusalsArePaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		authenticator := &wrongToken{}
		handler := Chain(http.NotFoundHandler(), Authenticate(authenticator, slog.New(slog.DiscardHandler)))
		for _, row := range []struct {
			clients int
			took    time.Duration
		}{
			{refusalsAtOnce, 0}, {1, refusalInterval}, {50, 50 * refusalInterval}, {300, longestRefusal},
			{maxPaused, longestRefusal},
		} {
			began := time.Now()
			var clients sync.WaitGroup
			for range row.clients {
				clients.Go(func() {
					w := httptest.NewRecorder()
					handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
					closes := w.Header().Get("Connection") == "close"
					if w.Code != http.StatusUnauthorized || closes != (row.took > 0) {
						t.Errorf("%d, closes: %t", w.Code, closes)
					}
				})
			}
			clients.Wait()
			if took := time.Since(began); took != row.took {
				t.Errorf("%d refusals took %s, want %s", row.clients, took, row.took)
			}
		}
		time.Sleep(time.Minute)
		began := time.Now()
		for range refusalsAtOnce {
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("after a minute, refusals took %s", took)
		}
		if want := 2*refusalsAtOnce + 351 + maxPaused; authenticator.asked != want {
			t.Errorf("the authenticator was asked %d times, want once for each request: %d", authenticator.asked, want)
		}
	})
}

// TestPausesAreBounded: no more than so many refusals wait, and one waits no longer than its client.
func TestPausesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s refusals
		ctx, leave := context.WithCancel(t.Context())
		var clients sync.WaitGroup
		for range refusalsAtOnce + 2*maxPaused {
			clients.Go(func() { s.pause(ctx) })
		}
		synctest.Wait()
		if s.paused != maxPaused {
			t.Errorf("%d refusals wait, want %d", s.paused, maxPaused)
		}
		began := time.Now()
		leave()
		clients.Wait()
		if took := time.Since(began); took != 0 || s.paused != 0 {
			t.Errorf("after the clients left, %d refusals waited for %s", s.paused, took)
		}
	})
}
