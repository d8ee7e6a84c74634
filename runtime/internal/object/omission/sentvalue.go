package omission

import (
	"strconv"

	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// value returns a view of a value that has the zero values that its JSON lacks.
func (z *Zeros) value(v value.Value, sent *SentZeros) value.Value {
	if z != nil && v != nil && z.text != nil {
		return sent.textOf(v)
	}
	if z == nil || v == nil || sent == nil || len(sent.Below) == 0 {
		return v
	}
	return &sentValue{v, z, sent}
}

// sentValue is the value of an object, list or map in which zero values are missing.
type sentValue struct {
	value.Value
	zeros *Zeros
	sent  *SentZeros
}

func (v *sentValue) AsMap() value.Map { return v.AsMapUsing(value.HeapAllocator) }

func (v *sentValue) AsMapUsing(a value.Allocator) value.Map {
	return &sentMap{v.Value.AsMapUsing(a), v.zeros, v.sent}
}

func (v *sentValue) AsList() value.List { return v.AsListUsing(value.HeapAllocator) }

func (v *sentValue) AsListUsing(a value.Allocator) value.List {
	return &sentList{v.Value.AsListUsing(a), v.zeros, v.sent}
}

func (v *sentValue) Unstructured() any { return unstructured(v) }

// sentMap is an object or a map. Set and Delete are those of what it views.
type sentMap struct {
	value.Map
	zeros *Zeros
	sent  *SentZeros
}

// member returns the view of a member that is there, or nil where it wasn't sent.
func (m *sentMap) member(a value.Allocator, key string, v value.Value) value.Value {
	below, s := m.zeros.elem, m.sent.At(key)
	if f := m.zeros.members[key]; f != nil {
		if s != nil && f.replacesFiller(s) && equal(a, v, f.fillerValue) {
			return m.missing(key)
		}
		below = f.below
	}
	return below.value(v, s)
}

// missing returns the zero value of a member that isn't there, or nil.
func (m *sentMap) missing(key string) value.Value {
	s, f := m.sent.At(key), m.zeros.members[key]
	if s == nil || f == nil || !f.isMissing(s) {
		return nil
	}
	return decoded(f.appendZero(nil, s))
}

func (m *sentMap) Get(key string) (value.Value, bool) { return m.GetUsing(value.HeapAllocator, key) }

func (m *sentMap) GetUsing(a value.Allocator, key string) (value.Value, bool) {
	if v, ok := m.Map.GetUsing(a, key); ok {
		v = m.member(a, key, v)
		return v, v != nil
	}
	v := m.missing(key)
	return v, v != nil
}

func (m *sentMap) Has(key string) bool {
	_, ok := m.Get(key)
	return ok
}

func (m *sentMap) Iterate(visit func(string, value.Value) bool) bool {
	return m.IterateUsing(value.HeapAllocator, visit)
}

func (m *sentMap) IterateUsing(a value.Allocator, visit func(string, value.Value) bool) bool {
	there := func(key string, v value.Value) bool {
		v = m.member(a, key, v)
		return v == nil || visit(key, v)
	}
	if !m.Map.IterateUsing(a, there) {
		return false
	}
	for _, s := range m.sent.members() {
		if m.Map.Has(s.Name) {
			continue
		}
		if v := m.missing(s.Name); v != nil && !visit(s.Name, v) {
			return false
		}
	}
	return true
}

func (m *sentMap) Length() (n int) {
	m.Iterate(func(string, value.Value) bool {
		n++
		return true
	})
	return n
}

func (m *sentMap) Empty() bool { return m.Iterate(func(string, value.Value) bool { return false }) }

func (m *sentMap) Equals(other value.Map) bool { return m.EqualsUsing(value.HeapAllocator, other) }

// EqualsUsing first compares what two views show of the same zero values, of which most is equal in most writes.
func (m *sentMap) EqualsUsing(a value.Allocator, other value.Map) bool {
	if right, ok := other.(*sentMap); ok && right.sent == m.sent && m.Map.EqualsUsing(a, right.Map) {
		return true
	}
	return value.MapEqualsUsing(a, m, other)
}

func (m *sentMap) Zip(other value.Map, order value.MapTraverseOrder,
	visit func(key string, lhs, rhs value.Value) bool) bool {
	return m.ZipUsing(value.HeapAllocator, other, order, visit)
}

// ZipUsing zips what two views show, which is fast for structs of one type, and then the zero values that are missing
// in both.
func (m *sentMap) ZipUsing(a value.Allocator, other value.Map, order value.MapTraverseOrder,
	visit func(key string, lhs, rhs value.Value) bool) bool {
	right, _ := other.(*sentMap)
	if right != nil {
		other = right.Map
	}
	both := func(key string, lhs, rhs value.Value) bool {
		lhs = m.shown(a, key, lhs)
		if right != nil {
			rhs = right.shown(a, key, rhs)
		}
		return lhs == nil && rhs == nil || visit(key, lhs, rhs)
	}
	if !m.Map.ZipUsing(a, other, order, both) {
		return false
	}
	rest := func(sent, seen *SentZeros) bool {
		for _, s := range sent.members() {
			if seen.At(s.Name) == nil && !m.Map.Has(s.Name) && (other == nil || !other.Has(s.Name)) &&
				!both(s.Name, nil, nil) {
				return false
			}
		}
		return true
	}
	return rest(m.sent, nil) && (right == nil || rest(right.sent, m.sent))
}

// shown returns the view of a member, which may not be there.
func (m *sentMap) shown(a value.Allocator, key string, v value.Value) value.Value {
	if v == nil {
		return m.missing(key)
	}
	return m.member(a, key, v)
}

// sentList is a list in whose elements zero values are missing.
type sentList struct {
	value.List
	zeros *Zeros
	sent  *SentZeros
}

func (l *sentList) element(i int, v value.Value) value.Value {
	return l.zeros.elem.value(v, l.sent.At(strconv.Itoa(i)))
}

func (l *sentList) At(i int) value.Value { return l.AtUsing(value.HeapAllocator, i) }

func (l *sentList) AtUsing(a value.Allocator, i int) value.Value {
	return l.element(i, l.List.AtUsing(a, i))
}

func (l *sentList) Range() value.ListRange { return l.RangeUsing(value.HeapAllocator) }

func (l *sentList) RangeUsing(a value.Allocator) value.ListRange {
	return &sentRange{l.List.RangeUsing(a), l}
}

func (l *sentList) Equals(other value.List) bool { return l.EqualsUsing(value.HeapAllocator, other) }

func (l *sentList) EqualsUsing(a value.Allocator, other value.List) bool {
	if right, ok := other.(*sentList); ok && right.sent == l.sent && l.List.EqualsUsing(a, right.List) {
		return true
	}
	return value.ListEqualsUsing(a, l, other)
}

type sentRange struct {
	value.ListRange
	list *sentList
}

func (r *sentRange) Item() (int, value.Value) {
	i, v := r.ListRange.Item()
	return i, r.list.element(i, v)
}
