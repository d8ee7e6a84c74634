package faults

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/anishathalye/porcupine"
)

// kind is what a client asks for.
type kind string

const (
	get    kind = "get"    // consistent
	create kind = "create" // POST
	put    kind = "put"    // of what was read at revision expect
	patch  kind = "patch"  // whatever there is
	remove kind = "delete" // with expect as precondition
)

// operation is one request for one object, and its answer.
type operation struct {
	client int
	kind   kind
	name   string
	expect int64  // the revision that a put or a removal is for
	title  string // that it writes: no other does
	genre  string

	call, end int64 // monotonic nanoseconds
	// code of the answer; 0 is none.
	code int
	// answer is the object that was answered.
	answer version
}

func (o *operation) String() string {
	return fmt.Sprintf("client %d: %s %s (title %q, expecting %d): %d %+v", o.client, o.kind, o.name, o.title, o.expect,
		o.code, o.answer)
}

func (o *operation) succeeded() bool { return o.code >= 200 && o.code < 300 }

// refused reports whether nothing was written: the server said so. 503 and 507 are only for that; 504, 500 and no
// answer tell nothing.
func (o *operation) refused() bool {
	return o.code == 503 || o.code == 507 || o.code >= 400 && o.code < 500
}

// checkWrites holds the answers to writes against the log. It returns what of a client's unknown outcomes happened, at
// which revision.
func checkWrites(l *log, operations []*operation) (applied map[*operation]int64, err error) {
	applied = map[*operation]int64{}
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	titles, removals := map[string]*operation{}, map[string]map[int64][]*operation{}
	for _, o := range operations {
		if o.code < 0 {
			fail("an answer that can't be read: %s", o)
		}
		switch o.kind {
		case create, put, patch:
			titles[o.title] = o
			c, found := l.titles[o.title]
			switch {
			case o.succeeded() && !found:
				fail("lost: %s", o)
			case o.succeeded() && (c.now != o.answer || c.name != o.name):
				fail("%s, but the log has %+v", o, c)
			case o.refused() && found:
				fail("refused, and done: %s: the log has %+v", o, c)
			case found && o.kind == put && c.before.revision != o.expect:
				fail("%s was written over revision %d", o, c.before.revision)
			case found && o.kind == create && c.before.revision != 0:
				fail("%s was written over revision %d", o, c.before.revision)
			}
			if found {
				applied[o] = c.revision
			}
		case remove:
			if removals[o.name] == nil {
				removals[o.name] = map[int64][]*operation{}
			}
			removals[o.name][o.expect] = append(removals[o.name][o.expect], o)
		}
	}
	written := map[string]bool{}
	for _, c := range l.changes {
		if c.now.revision > 0 {
			if written[c.now.title] {
				fail("written twice: %+v", c)
			}
			written[c.now.title] = true
			if titles[c.now.title] == nil {
				fail("nobody wrote %+v", c)
			}
			continue
		}
		by := claim(removals[c.name][c.before.revision])
		if by == nil {
			fail("nobody removed %+v", c)
			continue
		}
		applied[by] = c.revision
	}
	for _, o := range operations {
		if _, done := applied[o]; o.kind == remove && o.succeeded() && !done {
			fail("lost: %s", o)
		}
	}
	return applied, errors.Join(errs...)
}

// claim says who made a removal: who was told so, or else the first of those who don't know.
func claim(candidates []*operation) (by *operation) {
	for _, o := range candidates {
		if o.succeeded() {
			return o
		}
		if !o.refused() && (by == nil || o.call < by.call) {
			by = o
		}
	}
	return by
}

// object is one object as a sequential machine; its state is a version.
var object = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byName := map[string][]porcupine.Operation{}
		for _, o := range history {
			name := o.Input.(*operation).name
			byName[name] = append(byName[name], o)
		}
		var parts [][]porcupine.Operation
		for _, part := range byName {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return version{} },
	Step: func(state, input, output any) (bool, any) {
		return step(state.(version), input.(*operation), output.(int64))
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%s at %d", input.(*operation), output) },
	DescribeState:     func(state any) string { return fmt.Sprintf("%+v", state) },
}

// step is what an operation that was applied at a revision (0: it was not) does and tells.
func step(now version, o *operation, revision int64) (bool, version) {
	exists := now.revision > 0
	next := version{revision, o.title, o.genre}
	switch {
	case o.kind == get && o.code == 404:
		return !exists, now
	case o.kind == get:
		return now == o.answer, now
	case revision > 0 && o.kind == create:
		return !exists, next
	case revision > 0 && o.kind == put:
		return now.revision == o.expect, next
	case revision > 0 && o.kind == patch:
		return exists, next
	case revision > 0 && o.kind == remove:
		return now.revision == o.expect, version{}
	case o.code == 409 && o.kind == create:
		return exists, now
	case o.code == 409 && (o.kind == put || o.kind == remove):
		return exists && now.revision != o.expect, now
	case o.code == 404:
		return !exists, now
	}
	return false, now // none of the others is in a history
}

// checkLinearizable holds answers against each other: each took effect at one moment between its call and its end.
func checkLinearizable(operations []*operation, applied map[*operation]int64, patience time.Duration) error {
	var history []porcupine.Operation
	for _, o := range operations {
		revision := applied[o]
		end := o.end
		switch {
		case revision > 0 && !o.succeeded():
			end = math.MaxInt64 // whenever it was
		case o.kind == get && !o.succeeded() && o.code != 404:
			continue // it told nothing
		case o.kind != get && revision == 0 && o.code != 404 && (o.code != 409 || o.kind == patch):
			continue // it did nothing and told nothing
		}
		history = append(history, porcupine.Operation{ClientId: o.client, Input: o, Call: o.call,
			Output: revision, Return: end})
	}
	switch result, _ := porcupine.CheckOperationsVerbose(object, history, patience); result {
	case porcupine.Ok:
		return nil
	case porcupine.Unknown:
		return fmt.Errorf("whether %d operations are linearizable was not found in %s", len(history), patience)
	}
	for _, part := range object.Partition(history) {
		if !porcupine.CheckOperations(object, part) {
			return fmt.Errorf("the %d operations on %s are not linearizable:\n%s", len(part),
				part[0].Input.(*operation).name, around(part))
		}
	}
	return errors.New("not linearizable")
}

// around is the shortest beginning of a history that is not linearizable: its last operations.
func around(part []porcupine.Operation) (text string) {
	low, high := 0, len(part)
	for low+1 < high {
		middle := (low + high) / 2
		if porcupine.CheckOperations(object, part[:middle]) {
			low = middle
		} else {
			high = middle
		}
	}
	for _, o := range part[max(0, high-8):high] {
		text += fmt.Sprintf("%12d-%12d %s at %d\n", o.Call, o.Return, o.Input, o.Output)
	}
	return text
}
