package faults

import (
	"strings"
	"testing"
	"time"
)

// scene is a short true story that every check accepts.
type scene struct {
	log        []change
	operations []*operation
	lists      []*listing
	watcher    *watcher
}

func newScene() *scene {
	one, two, three := version{2, "0-0", "Fiction"}, version{3, "1-0", "NonFiction"}, version{5, "0-1", "Fiction"}
	other := version{6, "1-1", "Fiction"}
	return &scene{
		log: []change{
			{revision: 2, name: "a", now: one},
			{revision: 3, name: "a", now: two, before: one},
			{revision: 4, name: "a", before: two},
			{revision: 5, name: "a", now: three},
			{revision: 6, name: "b", now: other},
		},
		operations: []*operation{
			{client: 0, kind: create, name: "a", title: "0-0", genre: "Fiction", call: 10, end: 20,
				code: 201, answer: one},
			{client: 1, kind: put, name: "a", expect: 2, title: "1-0", genre: "NonFiction", call: 30,
				end: 40, code: 504},
			{client: 0, kind: get, name: "a", call: 50, end: 60, code: 200, answer: two},
			{client: 1, kind: put, name: "a", expect: 2, title: "1-9", genre: "Fiction", call: 61, end: 62, code: 409},
			{client: 1, kind: patch, name: "a", title: "1-8", genre: "Fiction", call: 63, end: 64, code: 503},
			{client: 1, kind: remove, name: "a", expect: 3, call: 70, end: 80, code: 200},
			{client: 0, kind: get, name: "a", call: 90, end: 100, code: 404},
			{client: 0, kind: create, name: "a", title: "0-1", genre: "Fiction", call: 110, end: 120, code: 201,
				answer: three},
			{client: 1, kind: create, name: "b", title: "1-1", genre: "Fiction", call: 110, end: 120, code: 201,
				answer: other},
			{client: 1, kind: get, name: "b", call: 130, end: 140, code: 200, answer: other},
		},
		lists: []*listing{
			{consistent: true, call: 45, revision: 3, items: map[string]version{"a": two}},
			{consistent: true, call: 130, revision: 6, items: map[string]version{"a": three, "b": other}},
			{call: 130, revision: 4, items: map[string]version{}},
		},
		watcher: &watcher{segments: []*segment{{after: 1, until: 4, events: []event{
			{"ADDED", "a", one}, {"MODIFIED", "a", two}, {"DELETED", "a", version{4, "1-0", "NonFiction"}},
		}}, nil, {after: 5, until: 6, events: []event{{"ADDED", "b", other}}}}},
	}
}

// verdict is everything that the checks find.
func (s *scene) verdict() string {
	l := newLog(s.log)
	applied, err := checkWrites(l, s.operations)
	var text strings.Builder
	for _, err := range []error{
		err, checkLinearizable(s.operations, applied, time.Minute), checkLists(l, s.lists, s.operations),
		checkWatch(l, s.watcher),
	} {
		if err != nil {
			text.WriteString(err.Error() + "\n")
		}
	}
	return text.String()
}

func TestTrueStory(t *testing.T) {
	if verdict := newScene().verdict(); verdict != "" {
		t.Error(verdict)
	}
}

// Each lie is found.
func TestLies(t *testing.T) {
	for _, test := range []struct {
		name string
		lie  func(s *scene)
		want string
	}{
		{"an acknowledged write is not there", func(s *scene) { s.log = s.log[:4] }, "lost: client 1: create b"},
		{"an acknowledged removal is not there", func(s *scene) {
			s.operations[5].expect = 2
			s.operations[5].name = "b"
		}, "lost: client 1: delete b"},
		{"a write is there twice", func(s *scene) {
			s.log = append(s.log, change{7, "b", version{7, "1-1", "Fiction"}, version{6, "1-1", "Fiction"}})
		}, "written twice"},
		{"a refused write is there", func(s *scene) {
			s.log = append(s.log, change{7, "a", version{7, "1-8", "Fiction"}, version{5, "0-1", "Fiction"}})
		}, "refused, and done"},
		{"a write of nobody", func(s *scene) {
			s.log = append(s.log, change{7, "a", version{7, "9-9", "Fiction"}, version{5, "0-1", "Fiction"}})
		}, "nobody wrote"},
		{"a removal of nobody", func(s *scene) {
			s.log = append(s.log, change{7, "a", version{}, version{5, "0-1", "Fiction"}})
		}, "nobody removed"},
		{"a write over another state than was meant", func(s *scene) { s.operations[1].expect = 1 },
			"was written over revision 2"},
		{"another revision was answered", func(s *scene) { s.operations[0].answer.revision = 3 }, "but the log has"},
		{"a stale read", func(s *scene) { s.operations[9].code = 404; s.operations[9].answer = version{} },
			"the 2 operations on b are not linearizable"},
		{"a read of the future", func(s *scene) {
			s.operations[6].code = 200
			s.operations[6].answer = version{5, "0-1", "Fiction"}
		}, "not linearizable"},
		{"a conflict without one", func(s *scene) { s.operations[3].expect = 3 }, "not linearizable"},
		{"a list that lacks an object", func(s *scene) { delete(s.lists[1].items, "b") },
			"a list at revision 6 has b as"},
		{"a list with an object too much", func(s *scene) { s.lists[2].items["b"] = version{6, "1-1", "Fiction"} },
			"which the log doesn't have"},
		{"a consistent list of the past", func(s *scene) { s.lists[2].consistent = true },
			"a consistent list is of revision 4, and 6 had been answered"},
		{"a dropped event", func(s *scene) { s.watcher.segments[0].events = s.watcher.segments[0].events[1:] },
			"the log has {kind:ADDED"},
		{"a dropped last event", func(s *scene) { s.watcher.segments[2].events = nil }, "not told {kind:ADDED"},
		{"an event told twice", func(s *scene) {
			e := s.watcher.segments[2].events
			s.watcher.segments[2].events = append(e, e[0])
		}, "of which the log knows nothing"},
		{"disorder", func(s *scene) {
			e := s.watcher.segments[0].events
			e[0], e[1] = e[1], e[0]
		}, "told {kind:MODIFIED"},
		{"a deletion that is not restamped", func(s *scene) { s.watcher.segments[0].events[2].revision = 3 },
			"told {kind:DELETED"},
		{"an early bookmark", func(s *scene) {
			s.watcher.segments[2].until = 6
			s.watcher.segments[2].events = nil
		}, "not told"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScene()
			test.lie(s)
			if verdict := s.verdict(); !strings.Contains(verdict, test.want) {
				t.Errorf("the verdict is %q, want %q", verdict, test.want)
			}
		})
	}
}
