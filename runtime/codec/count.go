package codec

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"

	"apigen.dev/runtime/internal/object/fault"
	"apigen.dev/runtime/internal/object/omission"
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

// check returns what is wrong with an object at a path that has these members, or nil. A member that is null doesn't
// count among Of: definitions have such a rule in CEL, in which the member is absent.
func (c *Count) check(path *field.Path, members []member) *field.Error {
	n := len(members)
	if len(c.Of) > 0 {
		n = 0
		for _, m := range members {
			if !m.null && slices.Contains(c.Of, string(m.name)) {
				n++
			}
		}
	}
	if n >= c.Least && (c.Most < 0 || n <= c.Most) {
		return nil
	}
	return c.faultOf(path, n)
}

// member is a member of an object in JSON.
type member struct {
	name []byte
	null bool
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

// unchecked returns the faults of an object without those about how many of several members there are, if there are
// others that keep such a rule from being checked, as in a custom resource.
func (c *typed[T, V]) unchecked(errs field.ErrorList) field.ErrorList {
	rules := c.counts()
	if len(rules.several) == 0 || !fault.Blocks(errs) {
		return errs
	}
	errs = slices.DeleteFunc(errs, func(e *field.Error) bool {
		return e.BadValue == anObject && rules.several[e.Detail]
	})
	return fault.Unchecked(errs)
}

// anObject is what is said of the value that breaks a rule about several members.
const anObject = "object"

// counts says whether there are any rules about the number of members, and what is wrong where those about several
// members aren't kept.
type counts struct {
	any     bool
	several map[string]bool
	// zero: there are rules about a struct in a field without omitempty. The check of the Go value takes it for absent
	// where it is zero, although a client has sent it.
	zero bool
}

// counts returns which rules there are about the number of members of objects of a form; nil has none.
func (s *Sent) counts(form *omission.Form) counts {
	out := counts{several: map[string]bool{}}
	s.collectCounts(form, nil, &out)
	return out
}

func (s *Sent) collectCounts(form *omission.Form, path []string, out *counts) {
	if s == nil {
		return
	}
	for i := range s.Counts {
		out.any = true
		out.zero = out.zero || form.WritesZeroStruct(path)
		if c := &s.Counts[i]; len(c.Of) > 0 {
			out.several[c.Fault] = true
		}
	}
	path = slices.Clip(path)
	s.Elem.collectCounts(form, append(path, omission.AnyItem), out)
	for name, below := range s.Members {
		below.collectCounts(form, append(path, name), out)
	}
}

// recount is what the rules about the number of members say of the JSON of an object, which may differ from what they
// say of its Go value. The zero value says nothing.
type recount struct {
	rules  map[placed]bool
	faults field.ErrorList
}

// recount counts the members of an object in JSON. What old has is left alone where it hasn't changed; old is nil on a
// creation.
func (c *typed[T, V]) recount(obj, old V) (out recount, err error) {
	if counts := c.counts(); !counts.any || obj.GetSelfLink() == "" && !counts.zero {
		return out, nil
	}
	now, err := c.counted(obj)
	if err != nil {
		return out, err
	}
	out.rules = now.rules
	var before counted
	if len(now.faults) > 0 && !reflect.ValueOf(old).IsNil() {
		if before, err = c.counted(old); err != nil {
			return out, err
		}
	}
	for _, f := range now.faults {
		at := placed{f.Field, f.Detail}
		if value, same := before.values[at]; !same || !bytes.Equal(value, now.values[at]) {
			out.faults = append(out.faults, f)
		}
	}
	return out, nil
}

type recountKey struct{}

// context returns a context in which AddFaults replaces what the check of the Go value found.
func (r *recount) context(ctx context.Context) context.Context {
	if r.rules == nil {
		return ctx
	}
	return context.WithValue(ctx, recountKey{}, r)
}

// after replaces the faults of the same rules that the check of the Go value found.
func (r *recount) after(errs field.ErrorList) field.ErrorList {
	errs = slices.DeleteFunc(errs, func(e *field.Error) bool { return r.rules[placed{e.Field, e.Detail}] })
	return append(errs, r.faults...)
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
	fault.Place
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
			c.below(s.Elem, fault.Step{Index: n}, start, end)
			n++
			return true
		})
	}
}

func (c *counted) below(s *Sent, to fault.Step, start, end int) {
	c.At = append(c.At, to)
	c.value(s, start, end)
	c.At = c.At[:len(c.At)-1]
}

func (c *counted) object(s *Sent, start, end int) {
	var members []member
	rendition.Members(c.data, start+1, func(key []byte, start, end int) bool {
		if len(s.Counts) > 0 {
			members = append(members, member{key, c.data[start] == 'n'})
		}
		if s.Elem != nil {
			c.below(s.Elem, fault.Step{Name: key, InMap: true}, start, end)
		} else if below := s.Members[string(key)]; below != nil {
			c.below(below, fault.Step{Name: key}, start, end)
		}
		return true
	})
	for i := range s.Counts {
		c.check(&s.Counts[i], members, c.data[start:end])
	}
}

func (c *counted) check(rule *Count, members []member, object []byte) {
	path := c.Path("")
	at := path.String()
	for _, n := range []int{rule.Least - 1, rule.Most + 1} {
		c.rules[placed{at, rule.faultOf(path, n).Detail}] = true
	}
	if found := rule.check(path, members); found != nil {
		c.faults = append(c.faults, found)
		c.values[placed{at, found.Detail}] = object
	}
}
