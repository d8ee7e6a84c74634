// Package jsonpath finds values in decoded JSON by the paths that kubectl and custom resource definitions have: fields
// (.spec.color, ['a.b']), items ([0], [-1], [1:3]), all members and items ([*], .*), what has a field with a value
// ([?(@.type=="Ready")]), and any depth (..name). The grammar is that of k8s.io/client-go/util/jsonpath, without
// templates.
//
// It knows no other package of the runtime.
package jsonpath

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Path is a parsed path. It is safe for concurrent use.
type Path struct {
	steps  []step
	visits int // what bounds a search, instead of maxVisits; 0 is none
}

// step leads from values to those below them.
type step interface {
	// from appends what the step leads to from a value, as far as the search may go.
	from(s *search, v any, to []any) []any
}

// Parse parses a path, which begins with a dot or a bracket. It may stand in braces. The time that it takes grows with
// the length of the path alone.
func Parse(text string) (*Path, error) {
	path, err := parse(text, 0)
	if err != nil {
		return nil, fmt.Errorf("the path %.100s: %w", text, err)
	}
	return path, nil
}

// maxVisits bounds how many values one search comes by. Each ".." comes by all that is below a value, so that a short
// path of several takes as much time as anybody likes. Columns of real definitions come by fewer than 100.
const maxVisits = 20_000

// search counts the values that a search may still come by.
type search struct{ left int }

// visit counts values, and reports whether the search may go on.
func (s *search) visit(n int) bool {
	s.left -= n
	return s.left >= 0
}

// Find returns the values that the path leads to, in the order of the object; members of maps in the order of their
// names. A path that comes by more than 20,000 values, or by more than those of Within, leads to none.
func (p *Path) Find(object any) []any {
	s := &search{cmp.Or(p.visits, maxVisits)}
	values := p.find(s, object)
	if s.left < 0 {
		return nil
	}
	return values
}

// Within returns the same path with a smaller bound of the values that it may come by, which is at least 1.
func (p *Path) Within(visits int) *Path { return &Path{p.steps, min(max(visits, 1), maxVisits)} }

func (p *Path) find(s *search, object any) []any {
	values := []any{object}
	for _, step := range p.steps {
		var next []any
		for _, v := range values {
			if next = step.from(s, v, next); !s.visit(1) {
				return nil
			}
		}
		if values = next; len(values) == 0 {
			return nil
		}
	}
	return values
}

// Fields returns the names of the fields of a path that has no other steps; false for any other path.
func (p *Path) Fields() ([]string, bool) {
	names := make([]string, 0, len(p.steps))
	for _, s := range p.steps {
		f, ok := s.(field)
		if !ok {
			return nil, false
		}
		names = append(names, string(f))
	}
	return names, true
}

type field string

func (f field) from(s *search, v any, to []any) []any {
	if members, ok := v.(map[string]any); ok {
		if value, ok := members[string(f)]; ok {
			return append(to, value)
		}
	}
	return to
}

type wildcard struct{}

func (wildcard) from(s *search, v any, to []any) []any { return appendInside(s, v, to) }

// appendInside appends the members of an object, or the items of a list.
func appendInside(s *search, v any, to []any) []any {
	switch v := v.(type) {
	case []any:
		if !s.visit(len(v)) {
			return to
		}
		return append(to, v...)
	case map[string]any:
		if !s.visit(len(v)) {
			return to
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			to = append(to, v[name])
		}
	}
	return to
}

// recursive leads to a value and to everything below it.
type recursive struct{}

func (r recursive) from(s *search, v any, to []any) []any {
	to = append(to, v)
	for _, below := range appendInside(s, v, nil) {
		if s.left < 0 {
			return to
		}
		to = r.from(s, below, to)
	}
	return to
}

// items are the items from begin up to end, each step-th. Without hasBegin, or hasEnd, they have no bound there.
type items struct {
	begin, end, step int
	hasBegin, hasEnd bool
}

func (i items) from(s *search, v any, to []any) []any {
	list, ok := v.([]any)
	if !ok || !s.visit(len(list)) {
		return to
	}
	begin, end := 0, len(list)
	if i.hasBegin {
		begin = bounded(i.begin, len(list))
	}
	if i.hasEnd {
		end = bounded(i.end, len(list))
	}
	for at := begin; at < end; at += i.step {
		to = append(to, list[at])
	}
	return to
}

func bounded(i, length int) int {
	if i < 0 {
		i += length
	}
	return min(max(i, 0), length)
}

// item is one item; a negative one counts from the end.
type item int

func (i item) from(s *search, v any, to []any) []any {
	list, ok := v.([]any)
	at := int(i)
	if at < 0 {
		at += len(list)
	}
	if !ok || at < 0 || at >= len(list) {
		return to
	}
	return append(to, list[at])
}

// union leads to what each of its steps leads to.
type union []step

func (u union) from(s *search, v any, to []any) []any {
	for _, step := range u {
		if !s.visit(1) {
			return to
		}
		to = step.from(s, v, to)
	}
	return to
}

// filter leads to the items for which a comparison holds.
type filter struct {
	left, right operand
	operator    string
}

// operand is a path from the item, or a literal.
type operand struct {
	path    *Path
	literal any
}

func (o operand) values(s *search, v any) []any {
	if o.path == nil {
		return []any{o.literal}
	}
	return o.path.find(s, v)
}

func (f filter) from(s *search, v any, to []any) []any {
	list, ok := v.([]any)
	if !ok {
		list = appendInside(s, v, nil)
	}
	for _, candidate := range list {
		if !s.visit(1) {
			return to
		}
		if f.holds(s, candidate) {
			to = append(to, candidate)
		}
	}
	return to
}

func (f filter) holds(s *search, v any) bool {
	left := f.left.values(s, v)
	if f.operator == "exists" {
		return len(left) > 0
	}
	right := f.right.values(s, v)
	if len(left) != 1 || len(right) != 1 {
		return false
	}
	order, ok := compare(left[0], right[0])
	if !ok {
		return f.operator == "!="
	}
	switch f.operator {
	case "==":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case ">":
		return order > 0
	case "<=":
		return order <= 0
	}
	return order >= 0
}

// compare compares values of one type; all numbers are of one.
func compare(a, b any) (order int, ok bool) {
	switch a := a.(type) {
	case string:
		b, isText := b.(string)
		return strings.Compare(a, b), isText
	case bool:
		b, isBool := b.(bool)
		if a == b {
			return 0, isBool
		}
		return 1, isBool
	}
	x, isNumber := toFloat(a)
	y, alsoNumber := toFloat(b)
	switch {
	case x < y:
		order = -1
	case x > y:
		order = 1
	}
	return order, isNumber && alsoNumber
}

func toFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// number parses a literal.
func number(text string) (any, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("%.100q is no value", text)
	}
	return f, nil
}
