package endpoint

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
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
