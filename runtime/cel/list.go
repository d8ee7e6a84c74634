package cel

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// list is a list from JSON, or the sum of such lists. Equality and sums depend on its type: in a set and a map the
// order doesn't count, and each element is there once.
type list struct {
	raw []any     // elements from JSON,
	got []ref.Val // or, of a sum, values
	// kind is map, set or atomic; keys are the escaped names of a map's keys.
	kind  string
	keys  []string
	items *Schema
}

var _ traits.Lister = (*list)(nil)

func listOf(v any, s *Schema) ref.Val {
	raw, ok := v.([]any)
	if !ok {
		return types.NewErr("invalid data, expected an array for the provided schema with type=array")
	}
	if s.Items == nil {
		return types.NewErr("invalid array type, expected Items with a non-empty Schema")
	}
	l := &list{raw: raw, kind: s.ListType, items: s.Items}
	if l.kind == "map" {
		for _, k := range s.ListMapKeys {
			if escaped, ok := Escape(k); ok {
				k = escaped
			}
			l.keys = append(l.keys, k)
		}
	}
	return l
}

func (l *list) len() int {
	if l.got != nil {
		return len(l.got)
	}
	return len(l.raw)
}

func (l *list) at(i int) ref.Val {
	if l.got != nil {
		return l.got[i]
	}
	return value(l.raw[i], l.items)
}

func (l *list) all() []ref.Val {
	out := make([]ref.Val, l.len())
	for i := range out {
		out[i] = l.at(i)
	}
	return out
}

// key returns the identity of an element in a map or set: text that is the same for the same key.
func (l *list) key(e ref.Val) (string, ref.Val) {
	if l.kind == "set" {
		switch e.(type) {
		case traits.Lister, traits.Mapper:
			return "", types.NewErr("listSet operations are only supported on lists of scalar values")
		}
		return fmt.Sprintf("%#v", e.Value()), nil
	}
	m, ok := e.(traits.Mapper)
	if !ok {
		return "", types.NewErr("unexpected data format for element of array with x-kubernetes-list-type=map: %T",
			e.Value())
	}
	key := make([]any, len(l.keys))
	for i, name := range l.keys {
		if v, ok := m.Find(types.String(name)); ok && !types.IsUnknownOrError(v) {
			key[i] = v.Value()
		}
	}
	return fmt.Sprintf("%#v", key), nil
}

// index returns the places of elements by their keys.
func (l *list) index(elements []ref.Val) (map[string]int, ref.Val) {
	index := make(map[string]int, len(elements))
	for i, e := range elements {
		k, fault := l.key(e)
		if fault != nil {
			return nil, fault
		}
		index[k] = i
	}
	return index, nil
}

// Equal compares lists: element by element, or by their keys.
func (l *list) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if o.Size() != types.Int(l.len()) {
		return types.False
	}
	if l.kind == "map" || l.kind == "set" {
		return l.equalByKey(o)
	}
	for i := range l.len() {
		if eq := l.at(i).Equal(o.Get(types.Int(i))); eq != types.True {
			return eq
		}
	}
	return types.True
}

func (l *list) equalByKey(o traits.Lister) ref.Val {
	elements := l.all()
	mine, fault := l.index(elements)
	if fault != nil {
		return fault
	}
	seen := make(map[string]bool, len(mine))
	for it := o.Iterator(); it.HasNext() == types.True; {
		e := it.Next()
		k, fault := l.key(e)
		if fault != nil {
			return fault
		}
		i, ok := mine[k]
		if !ok {
			return types.False
		}
		if eq := elements[i].Equal(e); eq != types.True {
			return eq
		}
		seen[k] = true
	}
	return types.Bool(len(seen) == len(mine))
}

// Add returns the sum. For a set it appends the new elements; for a map, an element replaces the one with the same key.
func (l *list) Add(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	sum := &list{got: l.all(), kind: l.kind, keys: l.keys, items: l.items}
	keyed := l.kind == "map" || l.kind == "set"
	var index map[string]int
	if keyed {
		var fault ref.Val
		if index, fault = l.index(sum.got); fault != nil {
			return fault
		}
	}
	for it := o.Iterator(); it.HasNext() == types.True; {
		e := it.Next()
		if keyed {
			k, fault := l.key(e)
			if fault != nil {
				return fault
			}
			if i, there := index[k]; there {
				if l.kind == "map" {
					sum.got[i] = e
				}
				continue
			}
			if l.kind == "set" {
				index[k] = len(sum.got)
			}
		}
		sum.got = append(sum.got, e)
	}
	return sum
}

// Contains reports whether an element is equal to v.
func (l *list) Contains(v ref.Val) ref.Val {
	if types.IsUnknownOrError(v) {
		return v
	}
	var fault ref.Val
	for i := range l.len() {
		eq := l.at(i).Equal(v)
		if eq == types.True {
			return types.True
		}
		if _, ok := eq.(types.Bool); !ok && fault == nil {
			fault = types.MaybeNoSuchOverloadErr(eq)
		}
	}
	if fault != nil {
		return fault
	}
	return types.False
}

func (l *list) Get(index ref.Val) ref.Val {
	i, ok := index.(types.Int)
	if !ok {
		return types.ValOrErr(index, "unsupported index: %v", index)
	}
	if i < 0 || int(i) >= l.len() {
		return types.NewErr("index out of bounds: %v", index)
	}
	return l.at(int(i))
}

func (l *list) Iterator() traits.Iterator {
	return types.NewRefValList(types.DefaultTypeAdapter, l.all()).Iterator()
}

func (l *list) Size() ref.Val { return types.Int(l.len()) }

func (l *list) ConvertToNative(to reflect.Type) (any, error) {
	return types.NewRefValList(types.DefaultTypeAdapter, l.all()).ConvertToNative(to)
}

func (l *list) ConvertToType(to ref.Type) ref.Val { return convert(l, types.ListType, to) }

// convert converts a value of a type to that type alone, or to the type itself.
func convert(v ref.Val, of *types.Type, to ref.Type) ref.Val {
	switch to {
	case of:
		return v
	case types.TypeType:
		return of
	}
	return types.NewErr("type conversion error from '%s' to '%s'", of, to.TypeName())
}

func (l *list) Type() ref.Type { return types.ListType }

func (l *list) Value() any {
	if l.got != nil {
		return l.got
	}
	return l.raw
}
