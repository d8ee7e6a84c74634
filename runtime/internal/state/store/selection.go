package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/state/cache"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// The places of the fields that every object has, in cache.Record.Fields.
const (
	NameField = iota
	NamespaceField
	FirstSelectable
)

// Selector is a parsed Selection. The zero value selects everything.
type Selector struct {
	labels labels.Selector
	fields []requirement
	// name and namespace are the values that a field selector demands, or "".
	name, namespace string
	// key, where not empty, is the only key that is selected.
	key string
	// lookup has the requirements that the cache can look up; nil if there are none.
	lookup *cache.Lookup
}

type requirement struct {
	place int
	value string
	not   bool
}

// Fields returns the values of an object's fields by their places. A cache.Entry implements it.
type Fields interface{ Field(i int) string }

// NewSelector parses a Selection. selectable are the field paths beyond name and namespace, in the order of their
// values; a field that can't be selected by is "".
func NewSelector(s api.Selection, selectable []string) (Selector, error) {
	var sel Selector
	if s.Fields != nil && !s.Fields.Empty() {
		for _, r := range s.Fields.Requirements() {
			place, err := fieldPlace(r.Field, selectable)
			if err != nil {
				return sel, err
			}
			sel.add(r, place)
		}
	}
	if s.Labels != nil && !s.Labels.Empty() {
		sel.labels = s.Labels
	}
	sel.lookup = sel.findLookup()
	return sel, nil
}

// Selector parses a Selection of the resource's objects.
func (s *Store[T]) Selector(selection api.Selection) (Selector, error) {
	return NewSelector(selection, s.selectable)
}

// findLookup collects the requirements of equality; the match checks all others. A name comes first, because it selects
// the fewest objects.
func (s *Selector) findLookup() *cache.Lookup {
	if s.labels == nil && len(s.fields) == 0 {
		return nil
	}
	l := new(cache.Lookup)
	if s.name != "" {
		l.Field(cache.Value{Place: NameField, Value: s.name})
	}
	for _, r := range s.fields {
		if r.place >= FirstSelectable && !r.not {
			l.Field(cache.Value{Place: r.place, Value: r.value})
		}
	}
	if s.labels != nil {
		requirements, _ := s.labels.Requirements() // of one that selects nothing there are none
		for _, r := range requirements {
			switch r.Operator() {
			case selection.Equals, selection.DoubleEquals, selection.In:
				l.Label(r.Key(), r.ValuesUnsorted()...)
			}
		}
	}
	if l.Empty() {
		return nil
	}
	return l
}

func (s *Selector) add(r fields.Requirement, place int) {
	not := r.Operator == selection.NotEquals
	s.fields = append(s.fields, requirement{place: place, value: r.Value, not: not})
	switch {
	case not || r.Value == "":
	case place == NameField:
		s.name = r.Value
	case place == NamespaceField:
		s.namespace = r.Value
	}
}

func fieldPlace(path string, selectable []string) (int, error) {
	known := append(make([]string, 0, 16), "metadata.name", "metadata.namespace") // in the order of the places
	known = append(known, selectable...)
	if place := slices.Index(known, path); place >= 0 && path != "" {
		return place, nil
	}
	known = slices.DeleteFunc(known, func(path string) bool { return path == "" })
	for i := range known {
		known[i] = strconv.Quote(known[i])
	}
	return 0, apierrors.NewBadRequest(fmt.Sprintf("%q is not a known field selector: only %s", path,
		strings.Join(known, ", ")))
}

// Empty reports whether the selector selects everything.
func (s *Selector) Empty() bool { return s.labels == nil && len(s.fields) == 0 && s.key == "" }

// Matches reports whether the selector selects an object with these labels and fields.
func (s *Selector) Matches(l labels.Labels, f Fields) bool {
	for i := range s.fields {
		r := &s.fields[i]
		if (f.Field(r.place) == r.value) == r.not {
			return false
		}
	}
	return s.labels == nil || s.labels.Matches(l)
}

// selects reports whether the selector selects an object that can be read.
func (s *Selector) selects(o object) bool {
	if s.key != "" && s.key != o.Key() {
		return false
	}
	if s.labels == nil {
		return s.Matches(nil, o)
	}
	return s.Matches(o.Labels(), o)
}

// covers is selects for all objects: a read that covers an object which can't be read fails.
func (s *Selector) covers(o object) bool { return o.Err() != nil || s.selects(o) }

// match returns the selector as the cache takes it; nil selects everything.
func (s *Selector) match() cache.Match {
	if s.Empty() {
		return nil
	}
	return func(e *cache.Entry) bool { return s.selects(e) }
}

type record struct {
	cache.Record
	key      string
	revision int64
	err      error
	r        *reader
}

func (r *record) Key() string           { return r.key }
func (r *record) Err() error            { return r.err }
func (r *record) Labels() labels.Labels { return labels.Set(r.Record.Labels) }

func (r *record) Field(i int) string {
	if i < len(r.Fields) {
		return r.Fields[i]
	}
	return ""
}

func (r *record) Rendition(form verb.Form) (verb.Rendition, error) {
	if r.err != nil || form == r.r.Stored {
		return r.Record.Rendition, r.err
	}
	return r.r.codec.Render(r.key, r.Record.Rendition, form)
}
