package codec

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"apigen.dev/runtime/internal/object/fault"
	"apigen.dev/runtime/internal/object/rendition"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Count bounds how many members the JSON of a struct has, as MinProperties, MaxProperties, ExactlyOneOf, AtMostOneOf
// and AtLeastOneOf say. The check of the Go value takes a member for absent that is zero, although a client sent it.
type Count struct {
	// Of are the members that count; all, if there are none.
	Of []string
	// Least and Most are the bounds. Most is negative where there is none.
	Least, Most int
	// Fault is what is wrong where a bound of Of isn't kept.
	Fault string
}

// check returns what is wrong with an object at a path that has members of these names, or nil.
func (c *Count) check(path *field.Path, names [][]byte) *field.Error {
	n := len(names)
	if len(c.Of) > 0 {
		n = 0
		for _, name := range names {
			if slices.Contains(c.Of, string(name)) {
				n++
			}
		}
	}
	if n >= c.Least && (c.Most < 0 || n <= c.Most) {
		return nil
	}
	return c.faultOf(path, n)
}

// faultOf returns what is wrong with an object at a path that has a number of members.
func (c *Count) faultOf(path *field.Path, n int) *field.Error {
	switch {
	case len(c.Of) > 0:
		return field.Invalid(path, anObject, c.Fault)
	case n < c.Least:
		return field.Invalid(path, n, fmt.Sprintf("%s in body should have at least %d properties", path, c.Least))
	}
	return field.TooMany(path, n, c.Most)
}

// recounted returns the faults of an object with those about the number of members by its JSON, where that may differ
// from the Go value. As in a custom resource, how many of several members there are is a rule that other faults keep
// from being checked. old is nil on a creation.
func (c *typed[T, V]) recounted(errs field.ErrorList, obj, old V) (field.ErrorList, error) {
	rules := c.counts()
	if rules.any && obj.GetSelfLink() != "" {
		var err error
		if errs, err = c.corrected(errs, obj, old); err != nil {
			return errs, err
		}
	}
	if len(rules.several) == 0 || !fault.Blocks(errs) {
		return errs, nil
	}
	errs = slices.DeleteFunc(errs, func(e *field.Error) bool {
		return e.BadValue == anObject && rules.several[e.Detail]
	})
	return fault.Unchecked(errs), nil
}

// anObject is what is said of the value that breaks a rule about several members.
const anObject = "object"

// counts says whether there are any rules about the number of members, and what is wrong where those about several
// members aren't kept.
type counts struct {
	any     bool
	several map[string]bool
}

// counts returns which rules there are about the number of members; nil has none.
func (s *Sent) counts() counts {
	out := counts{several: map[string]bool{}}
	s.collectCounts(&out)
	return out
}

func (s *Sent) collectCounts(out *counts) {
	if s == nil {
		return
	}
	for i := range s.Counts {
		out.any = true
		if c := &s.Counts[i]; len(c.Of) > 0 {
			out.several[c.Fault] = true
		}
	}
	s.Elem.collectCounts(out)
	for _, below := range s.Members {
		below.collectCounts(out)
	}
}

// corrected replaces the faults that the check of the Go value found. Those that old has are left alone in what hasn't
// changed.
func (c *typed[T, V]) corrected(errs field.ErrorList, obj, old V) (field.ErrorList, error) {
	now, err := c.counted(obj)
	if err != nil {
		return errs, err
	}
	errs = slices.DeleteFunc(errs, func(e *field.Error) bool { return now.rules[placed{e.Field, e.Detail}] })
	if len(now.faults) == 0 {
		return errs, nil
	}
	var before counted
	if !reflect.ValueOf(old).IsNil() {
		if before, err = c.counted(old); err != nil {
			return errs, err
		}
	}
	for _, f := range now.faults {
		at := placed{f.Field, f.Detail}
		if value, same := before.values[at]; !same || !bytes.Equal(value, now.values[at]) {
			errs = append(errs, f)
		}
	}
	return errs, nil
}

func (c *typed[T, V]) counted(obj V) (out counted, err error) {
	out.data, err = c.marshal(obj)
	if err == nil {
		out.rules, out.values = map[placed]bool{}, map[placed][]byte{}
		out.value(c.sent(), 0, len(out.data))
	}
	return out, err
}

// placed is what a rule says at a place.
type placed struct{ path, detail string }

// counted is what the rules about the number of members say of an object, whose JSON is data. values are those with
// faults.
type counted struct {
	place
	data   []byte
	rules  map[placed]bool
	faults field.ErrorList
	values map[placed][]byte
}

// value checks a value of JSON and what is in it. Nil has no rules.
func (c *counted) value(s *Sent, start, end int) {
	switch {
	case s == nil || start >= end:
	case c.data[start] == '{':
		c.object(s, start, end)
	case c.data[start] == '[' && s.Elem != nil:
		n := 0
		rendition.Elements(c.data, start+1, func(start, end int) bool {
			c.below(s.Elem, step{index: n}, start, end)
			n++
			return true
		})
	}
}

func (c *counted) below(s *Sent, to step, start, end int) {
	c.at = append(c.at, to)
	c.value(s, start, end)
	c.at = c.at[:len(c.at)-1]
}

func (c *counted) object(s *Sent, start, end int) {
	var names [][]byte
	rendition.Members(c.data, start+1, func(key []byte, start, end int) bool {
		if len(s.Counts) > 0 {
			names = append(names, key)
		}
		if s.Elem != nil {
			c.below(s.Elem, step{name: key, inMap: true}, start, end)
		} else if below := s.Members[string(key)]; below != nil {
			c.below(below, step{name: key}, start, end)
		}
		return true
	})
	for i := range s.Counts {
		c.check(&s.Counts[i], names, c.data[start:end])
	}
}

func (c *counted) check(rule *Count, names [][]byte, object []byte) {
	path := c.path("")
	at := path.String()
	for _, n := range []int{rule.Least - 1, rule.Most + 1} {
		c.rules[placed{at, rule.faultOf(path, n).Detail}] = true
	}
	if found := rule.check(path, names); found != nil {
		c.faults = append(c.faults, found)
		c.values[placed{at, found.Detail}] = object
	}
}
