package loopback

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A body that ends because the client goes away doesn't look complete, however soon the handler returns.
func TestHandlerReturnsBeforeTheClientKnows(t *testing.T) {
	left := errors.New("the client left")
	ctx, cancel := context.WithCancelCause(t.Context())
	returned := make(chan struct{})
	a := newAnswer(httptest.NewRequest(http.MethodGet, "/", http.NoBody), func(cause error) {
		cancel(cause)
		if cause != nil {
			<-returned
		}
	})
	go func() {
		defer close(returned)
		a.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			<-r.Context().Done()
		}), a.request.WithContext(ctx))
	}()
	<-a.begun
	a.fail(left)
	if _, err := a.response.Body.Read(make([]byte, 1)); !errors.Is(err, left) {
		t.Errorf("the client got %v", err)
	}
}
