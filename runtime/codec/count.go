package codec

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"apigen.dev/runtime/internal/object/fault"
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

// check returns what is wrong with an object at a path, or nil.
func (c *Count) check(path *field.Path, object map[string]any) *field.Error {
	n := len(object)
	if len(c.Of) > 0 {
		n = 0
		for _, name := range c.Of {
			if has(object, name) {
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
	rules := c.sent()
	if !rules.counts() {
		return errs, nil
	}
	if obj.GetSelfLink() != "" {
		var err error
		if errs, err = c.corrected(errs, obj, old); err != nil {
			return errs, err
		}
	}
	unions := map[string]bool{}
	if len(errs) > 0 {
		rules.collectUnions(unions)
	}
	if len(unions) == 0 || !fault.Blocks(errs) {
		return errs, nil
	}
	errs = slices.DeleteFunc(errs, func(e *field.Error) bool { return e.BadValue == anObject && unions[e.Detail] })
	return fault.Unchecked(errs), nil
}

// anObject is what is said of the value that breaks a rule about several members.
const anObject = "object"

// collectUnions collects the faults of the rules about several members; nil has none.
func (s *Sent) collectUnions(faults map[string]bool) {
	if s == nil {
		return
	}
	for i := range s.Counts {
		if c := &s.Counts[i]; len(c.Of) > 0 {
			faults[c.Fault] = true
		}
	}
	s.Elem.collectUnions(faults)
	for _, below := range s.Members {
		below.collectUnions(faults)
	}
}

// corrected replaces the faults that the check of the Go value found. Those that old has are left alone in what hasn't
// changed.
func (c *typed[T, V]) corrected(errs field.ErrorList, obj, old V) (field.ErrorList, error) {
	rules := c.sent()
	now, err := c.counted(rules, obj)
	if err != nil || len(now.rules) == 0 {
		return errs, err
	}
	var before counted
	if !reflect.ValueOf(old).IsNil() {
		if before, err = c.counted(rules, old); err != nil {
			return errs, err
		}
	}
	errs = slices.DeleteFunc(errs, func(e *field.Error) bool { return now.rules[placed{e.Field, e.Detail}] })
	for _, f := range now.faults {
		at := placed{f.Field, f.Detail}
		if value, same := before.values[at]; !same || !reflect.DeepEqual(value, now.values[at]) {
			errs = append(errs, f)
		}
	}
	return errs, nil
}

func (c *typed[T, V]) counted(rules *Sent, obj V) (out counted, err error) {
	data, err := c.marshal(obj)
	if err != nil {
		return out, err
	}
	var members map[string]any
	if err := json.Unmarshal(data, &members); err != nil {
		return out, err
	}
	out = counted{rules: map[placed]bool{}, values: map[placed]any{}}
	out.inside(rules, nil, members)
	return out, nil
}

// counts reports whether there are rules about the number of members; nil has none.
func (s *Sent) counts() bool {
	if s == nil {
		return false
	}
	for _, below := range s.Members {
		if below.counts() {
			return true
		}
	}
	return len(s.Counts) > 0 || s.Elem.counts()
}

// placed is what a rule says at a place.
type placed struct{ path, detail string }

// counted is what the rules about the number of members say of an object. values are those with faults.
type counted struct {
	rules  map[placed]bool
	faults field.ErrorList
	values map[placed]any
}

// inside checks what is in a value of JSON.
func (c *counted) inside(s *Sent, path *field.Path, v any) {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			c.value(s.Elem, path.Index(i), item)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if s.Elem != nil {
				c.value(s.Elem, path.Key(name), v[name])
			} else if below := s.Members[name]; below != nil {
				c.value(below, path.Child(name), v[name])
			}
		}
	}
}

// value checks a value; nil has no rules.
func (c *counted) value(s *Sent, path *field.Path, v any) {
	if s == nil {
		return
	}
	if object, ok := v.(map[string]any); ok {
		for i := range s.Counts {
			c.object(&s.Counts[i], path, object)
		}
	}
	c.inside(s, path, v)
}

func (c *counted) object(rule *Count, path *field.Path, object map[string]any) {
	at := path.String()
	for _, n := range []int{rule.Least - 1, rule.Most + 1} {
		c.rules[placed{at, rule.faultOf(path, n).Detail}] = true
	}
	if found := rule.check(path, object); found != nil {
		c.faults = append(c.faults, found)
		c.values[placed{at, found.Detail}] = object
	}
}
