package omission

import "sigs.k8s.io/structured-merge-diff/v6/value"

// Value returns a view of a value of the shape's Go type that lacks what Omit leaves out of its JSON.
func (s *Shape) Value(v value.Value) value.Value {
	if s.empty() || v == nil {
		return v
	}
	return &shapedValue{v, s}
}

// shapedValue is the value of an object, list or map. Other values have no shape.
type shapedValue struct {
	value.Value
	shape *Shape
}

func (v *shapedValue) AsMap() value.Map { return v.AsMapUsing(value.HeapAllocator) }

func (v *shapedValue) AsMapUsing(a value.Allocator) value.Map {
	return &shapedMap{v.Value.AsMapUsing(a), v.shape}
}

func (v *shapedValue) AsList() value.List { return v.AsListUsing(value.HeapAllocator) }

func (v *shapedValue) AsListUsing(a value.Allocator) value.List {
	return &shapedList{v.Value.AsListUsing(a), v.shape}
}

func (v *shapedValue) Unstructured() any { return unstructured(v) }

// unstructured returns a view as decoded JSON.
func unstructured(v value.Value) any {
	switch {
	case v.IsNull():
		return nil
	case v.IsList():
		out := make([]any, 0, v.AsList().Length())
		for items := v.AsList().Range(); items.Next(); {
			_, item := items.Item()
			out = append(out, item.Unstructured())
		}
		return out
	case v.IsMap():
		out := map[string]any{}
		v.AsMap().Iterate(func(key string, member value.Value) bool {
			out[key] = member.Unstructured()
			return true
		})
		return out
	}
	switch v := v.(type) { // views of lists and objects alone
	case *shapedValue:
		return v.Value.Unstructured()
	case *sentValue:
		return v.Value.Unstructured()
	}
	return v.Unstructured()
}

// shapedMap is an object or a map. Set and Delete are those of what it views.
type shapedMap struct {
	value.Map
	shape *Shape
}

// member returns the view of a member, or nil where that is left out.
func (m *shapedMap) member(a value.Allocator, key string, v value.Value) value.Value {
	if v == nil {
		return nil
	}
	in := member{shape: m.shape.elem}
	if m.shape.members != nil {
		in = m.shape.members[key]
	}
	if in.zero != nil && equal(a, v, in.zeroValue) {
		return nil
	}
	return in.shape.Value(v)
}

// equal reports whether a value is a decoded value of JSON. It stops at the first difference.
func equal(a value.Allocator, v value.Value, decoded any) bool {
	switch decoded := decoded.(type) {
	case nil:
		return v.IsNull()
	case string:
		return v.IsString() && v.AsString() == decoded
	case map[string]any:
		if !v.IsMap() {
			return false
		}
		m, n := v.AsMapUsing(a), 0
		defer a.Free(m)
		same := m.IterateUsing(a, func(key string, member value.Value) bool {
			n++
			other, ok := decoded[key]
			return ok && equal(a, member, other)
		})
		return same && n == len(decoded)
	}
	return value.EqualsUsing(a, v, value.NewValueInterface(decoded))
}

func (m *shapedMap) Get(key string) (value.Value, bool) { return m.GetUsing(value.HeapAllocator, key) }

func (m *shapedMap) GetUsing(a value.Allocator, key string) (value.Value, bool) {
	v, ok := m.Map.GetUsing(a, key)
	if !ok {
		return nil, false
	}
	v = m.member(a, key, v)
	return v, v != nil
}

func (m *shapedMap) Has(key string) bool {
	_, ok := m.Get(key)
	return ok
}

func (m *shapedMap) Iterate(visit func(string, value.Value) bool) bool {
	return m.IterateUsing(value.HeapAllocator, visit)
}

func (m *shapedMap) IterateUsing(a value.Allocator, visit func(string, value.Value) bool) bool {
	return m.Map.IterateUsing(a, func(key string, v value.Value) bool {
		v = m.member(a, key, v)
		return v == nil || visit(key, v)
	})
}

func (m *shapedMap) Length() (n int) {
	m.Iterate(func(string, value.Value) bool {
		n++
		return true
	})
	return n
}

func (m *shapedMap) Empty() bool {
	return m.Iterate(func(string, value.Value) bool { return false })
}

func (m *shapedMap) Equals(other value.Map) bool { return m.EqualsUsing(value.HeapAllocator, other) }

// EqualsUsing first compares what the views show, of which most is equal in most writes.
func (m *shapedMap) EqualsUsing(a value.Allocator, other value.Map) bool {
	if right, ok := other.(*shapedMap); ok && right.shape == m.shape && m.Map.EqualsUsing(a, right.Map) {
		return true
	}
	return value.MapEqualsUsing(a, m, other)
}

func (m *shapedMap) Zip(other value.Map, order value.MapTraverseOrder,
	visit func(key string, lhs, rhs value.Value) bool) bool {
	return m.ZipUsing(value.HeapAllocator, other, order, visit)
}

// ZipUsing zips what two views of one shape show at once, which is faster for structs of one type.
func (m *shapedMap) ZipUsing(a value.Allocator, other value.Map, order value.MapTraverseOrder,
	visit func(key string, lhs, rhs value.Value) bool) bool {
	if right, ok := other.(*sentMap); ok {
		return (&sentMap{m, right.zeros, nil}).ZipUsing(a, right, order, visit)
	}
	right, _ := other.(*shapedMap)
	if right != nil {
		other = right.Map
	}
	return m.Map.ZipUsing(a, other, order, func(key string, lhs, rhs value.Value) bool {
		lhs = m.member(a, key, lhs)
		if right != nil {
			rhs = right.member(a, key, rhs)
		}
		return lhs == nil && rhs == nil || visit(key, lhs, rhs)
	})
}

// shapedList is a list of values with a shape.
type shapedList struct {
	value.List
	shape *Shape
}

func (l *shapedList) At(i int) value.Value { return l.AtUsing(value.HeapAllocator, i) }

func (l *shapedList) AtUsing(a value.Allocator, i int) value.Value {
	return l.shape.elem.Value(l.List.AtUsing(a, i))
}

func (l *shapedList) Range() value.ListRange { return l.RangeUsing(value.HeapAllocator) }

func (l *shapedList) RangeUsing(a value.Allocator) value.ListRange {
	return &shapedRange{l.List.RangeUsing(a), l.shape.elem}
}

func (l *shapedList) Equals(other value.List) bool { return l.EqualsUsing(value.HeapAllocator, other) }

func (l *shapedList) EqualsUsing(a value.Allocator, other value.List) bool {
	if right, ok := other.(*shapedList); ok && right.shape == l.shape && l.List.EqualsUsing(a, right.List) {
		return true
	}
	return value.ListEqualsUsing(a, l, other)
}

// shapedRange ranges over a list of values with a shape.
type shapedRange struct {
	value.ListRange
	elem *Shape
}

func (r *shapedRange) Item() (int, value.Value) {
	i, v := r.ListRange.Item()
	return i, r.elem.Value(v)
}
