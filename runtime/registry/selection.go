package registry

import (
	"fmt"
	"strconv"
	"strings"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/cache"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// The places of the fields that every object has, in cache.Record.Fields.
const (
	nameField = iota
	namespaceField
	firstSelectable
)

// selector is a Selection made ready: nil selectors where they select everything, fields as places.
type selector struct {
	labels labels.Selector
	fields []requirement
	// name and namespace are what a field selector pins them to, or "".
	name, namespace string
	// key, where not empty, is the only one.
	key string
	// lookup is what of it the cache can look up; nil where that is nothing.
	lookup *cache.Lookup
}

type requirement struct {
	place int
	value string
	not   bool
}

// fielded is what has the values of fields: a cache.Entry, or an object that never was in a cache.
type fielded interface{ Field(i int) string }

func newSelector(s Selection, selectable []string) (selector, error) {
	var sel selector
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

// findLookup takes from a selector what asks for equality; other operators are left to the match. A name comes first,
// since fewest objects have it.
func (s *selector) findLookup() *cache.Lookup {
	l := new(cache.Lookup)
	if s.name != "" {
		l.Field(cache.Value{Place: nameField, Value: s.name})
	}
	for _, r := range s.fields {
		if r.place >= firstSelectable && !r.not {
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

func (s *selector) add(r fields.Requirement, place int) {
	not := r.Operator == selection.NotEquals
	s.fields = append(s.fields, requirement{place: place, value: r.Value, not: not})
	switch {
	case not || r.Value == "":
	case place == nameField:
		s.name = r.Value
	case place == namespaceField:
		s.namespace = r.Value
	}
}

func fieldPlace(path string, selectable []string) (int, error) {
	switch path {
	case "metadata.name":
		return nameField, nil
	case "metadata.namespace":
		return namespaceField, nil
	}
	for i, s := range selectable {
		if s == path {
			return firstSelectable + i, nil
		}
	}
	known := []string{`"metadata.name"`, `"metadata.namespace"`}
	for _, s := range selectable {
		known = append(known, strconv.Quote(s))
	}
	return 0, apierrors.NewBadRequest(fmt.Sprintf("%q is not a known field selector: only %s", path, strings.Join(known, ", ")))
}

func (s *selector) empty() bool { return s.labels == nil && len(s.fields) == 0 && s.key == "" }

func (s *selector) matches(l labels.Labels, f fielded) bool {
	for i := range s.fields {
		r := &s.fields[i]
		if (f.Field(r.place) == r.value) == r.not {
			return false
		}
	}
	return s.labels == nil || s.labels.Matches(l)
}

func (s *selector) entry(e *cache.Entry) bool {
	if s.key != "" && s.key != e.Key() {
		return false
	}
	if s.labels == nil {
		return s.matches(nil, e)
	}
	return s.matches(e.Labels(), e)
}

// match is the selector as the cache wants it; nil takes all.
func (s *selector) match() cache.Match {
	if s.empty() {
		return nil
	}
	return s.entry
}

// record is an object that was read from the backend without the cache: what cache.Entry is with it.
type record struct {
	cache.Record
	key      string
	revision int64
	codec    cache.Codec
	stored   api.Form
}

// Field returns the value at a place.
func (r *record) Field(i int) string {
	if i < len(r.Fields) {
		return r.Fields[i]
	}
	return ""
}

func (r *record) rendition(form api.Form) (api.Rendition, error) {
	if form == r.stored {
		return r.Rendition, nil
	}
	return r.codec.Render(r.key, r.Rendition, form)
}

func (s *selector) record(r *record) bool {
	return s.empty() || (s.key == "" || s.key == r.key) && s.matches(labels.Set(r.Labels), r)
}
