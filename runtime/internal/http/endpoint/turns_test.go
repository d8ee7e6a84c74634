package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/http/respond"
	"apigen.dev/runtime/internal/verb"
)

// turnsWriter records how many answers have turns while a piece is written.
type turnsWriter struct {
	*httptest.ResponseRecorder
	api  *API
	held []int
}

func (w *turnsWriter) Write(b []byte) (int, error) {
	held, _ := w.api.LargeAnswers()
	w.held = append(w.held, held)
	return w.ResponseRecorder.Write(b)
}

// TestLargeAnswersTakeTurns: lists and objects of several pieces take turns, and the state with which a watch begins;
// small answers and the events after the state don't wait for any.
func TestLargeAnswersTakeTurns(t *testing.T) {
	large, small := rendered(verb.Form{}, strings.Repeat("x", 2*frameSize), 7), rendered(verb.Form{}, "a", 7)
	event := func(object verb.Rendition) []verb.Event { return []verb.Event{{Type: api.Added, Object: object}} }
	tests := []struct {
		name, path string
		object     verb.Rendition
		batches    [][]verb.Event
		turn       bool
	}{
		{name: "object", path: itemPath, object: small},
		{name: "large object", path: itemPath, object: large, turn: true},
		{name: "list", path: collectionPath, object: small},
		{name: "large list", path: collectionPath, object: large, turn: true},
		{name: "large list, compressed", path: collectionPath + "?gzip", object: large, turn: true},
		{name: "large list in YAML", path: collectionPath + "?yaml", object: large, turn: true},
		{name: "state of a watch", path: collectionPath + "?watch=1",
			batches: [][]verb.Event{event(small), event(large)}, turn: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a, fakes := serve(t, widgets)
			fakes[0].object, fakes[0].page = test.object, pageOf(test.object)
			fakes[0].watching = &backlogWatch{fakeWatch: fakeWatch{batches: test.batches, end: errors.New("the end")}}
			w := &turnsWriter{ResponseRecorder: httptest.NewRecorder(), api: a}
			r := httptest.NewRequestWithContext(t.Context(), "GET", test.path, nil)
			if strings.HasSuffix(test.path, "?gzip") {
				r.Header.Set("Accept-Encoding", "gzip")
			}
			if strings.HasSuffix(test.path, "?yaml") {
				r.Header.Set("Accept", "application/yaml")
			}
			a.ServeHTTP(w, r)
			want := 0
			if test.turn {
				want = 1
			}
			if len(w.held) == 0 || w.held[0] != want {
				t.Errorf("%d: %v answers have turns while the pieces are written, want %d", w.Code, w.held, want)
			}
			if held, waiting := a.LargeAnswers(); held != 0 || waiting != 0 {
				t.Errorf("%d answers have turns and %d wait at the end", held, waiting)
			}
		})
	}
}

// TestEventsPass: an event keeps large answers as few as they are at first, so that the next small answer is quick; the
// state with which a watch begins doesn't.
func TestEventsPass(t *testing.T) {
	tests := []struct {
		name  string
		begun bool // the client has the state
		more  int  // how many more large answers than at first have turns after a while
	}{
		{"an event", true, 0},
		{"a piece of the state", false, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				turns, first := respond.NewTurns(), 2*runtime.GOMAXPROCS(0)
				request := &resourceRequest{
					w: httptest.NewRecorder(), r: httptest.NewRequestWithContext(ctx, "GET", collectionPath, nil),
				}
				stream := &eventStream{resourceRequest: request, toldBegun: test.begun, turn: turns.Of("a watch")}
				if _, err := stream.Write([]byte("{}")); err != nil {
					t.Fatal(err)
				}
				stream.turn.End()
				for i := range first + 1 {
					go writeLargeAnswer(ctx, turns.Of(fmt.Sprint("list ", i)))
				}
				time.Sleep(20 * time.Millisecond)
				if held, _ := turns.Count(); held != first+test.more {
					t.Errorf("%d large answers have turns, %d had them at first, want %d more", held, first, test.more)
				}
				cancel()
				synctest.Wait()
				time.Sleep(time.Second) // in the bubble: until turns are no longer paced
			})
		})
	}
}

// writeLargeAnswer takes a turn for a piece that a client reads in a millisecond, again and again.
func writeLargeAnswer(ctx context.Context, turn respond.Turn) {
	defer turn.End()
	for turn.Take(ctx) == nil && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
}
