package cel

import (
	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// scalar is a type of elements, with the sum of an empty list.
type scalar struct {
	name string
	typ  *celgo.Type
	zero ref.Val // nil where elements have no sum
}

var scalars = []scalar{
	{"int", celgo.IntType, types.Int(0)},
	{"uint", celgo.UintType, types.Uint(0)},
	{"double", celgo.DoubleType, types.Double(0)},
	{"bool", celgo.BoolType, nil},
	{"duration", celgo.DurationType, types.Duration{}},
	{"timestamp", celgo.TimestampType, nil},
	{"string", celgo.StringType, nil},
	{"bytes", celgo.BytesType, nil},
}

// listFunctions are isSorted, sum, min, max, indexOf and lastIndexOf, for lists of each scalar type.
func listFunctions() functions {
	a := celgo.TypeParamType("A")
	search := []*celgo.Type{celgo.ListType(a), a}
	f := functions{
		"indexOf": {celgo.MemberOverload("list_a_index_of_int", search, celgo.IntType, celgo.BinaryBinding(indexOf))},
		"lastIndexOf": {celgo.MemberOverload("list_a_last_index_of_int", search, celgo.IntType,
			celgo.BinaryBinding(lastIndexOf))},
	}
	for _, s := range scalars {
		add := func(name, id string, result *celgo.Type, call func(ref.Val) ref.Val) {
			list := []*celgo.Type{celgo.ListType(s.typ)}
			f[name] = append(f[name], celgo.MemberOverload("list_"+s.name+id, list, result, celgo.UnaryBinding(call)))
		}
		add("isSorted", "_is_sorted_bool", celgo.BoolType, isSorted)
		add("max", "_max_"+s.name, s.typ, extreme("max", types.IntNegOne))
		add("min", "_min_"+s.name, s.typ, extreme("min", types.IntOne))
		if s.zero != nil {
			add("sum", "_sum_"+s.name, s.typ, sum(s.zero))
		}
	}
	return f
}

// each calls f with the elements of a list until it returns a value.
func each(list ref.Val, f func(ref.Val) ref.Val) ref.Val {
	iterable, ok := list.(traits.Iterable)
	if !ok {
		return types.MaybeNoSuchOverloadErr(list)
	}
	for it := iterable.Iterator(); it.HasNext() == types.True; {
		if out := f(it.Next()); out != nil {
			return out
		}
	}
	return nil
}

func isSorted(list ref.Val) ref.Val {
	var last traits.Comparer
	out := each(list, func(e ref.Val) ref.Val {
		this, ok := e.(traits.Comparer)
		if !ok {
			return types.MaybeNoSuchOverloadErr(e)
		}
		if last != nil && last.Compare(e) == types.IntOne {
			return types.False
		}
		last = this
		return nil
	})
	if out == nil {
		return types.True
	}
	return out
}

func sum(zero ref.Val) func(ref.Val) ref.Val {
	return func(list ref.Val) ref.Val {
		total := zero
		fault := each(list, func(e ref.Val) ref.Val {
			adder, ok := total.(traits.Adder)
			if !ok {
				return types.MaybeNoSuchOverloadErr(total)
			}
			total = adder.Add(e)
			if types.IsUnknownOrError(total) {
				return total
			}
			return nil
		})
		if fault != nil {
			return fault
		}
		return total
	}
}

// extreme returns the smallest or largest element. worse is the result of comparing the best element so far with a
// better one.
func extreme(name string, worse ref.Val) func(ref.Val) ref.Val {
	return func(list ref.Val) ref.Val {
		var best traits.Comparer
		var value ref.Val
		fault := each(list, func(e ref.Val) ref.Val {
			this, ok := e.(traits.Comparer)
			if !ok {
				return types.MaybeNoSuchOverloadErr(e)
			}
			if best == nil || best.Compare(e) == worse {
				best, value = this, e
			}
			return nil
		})
		if fault != nil {
			return fault
		}
		if value == nil {
			return types.NewErr("%s called on empty list", name)
		}
		return value
	}
}

func indexOf(list, item ref.Val) ref.Val {
	return indexIn(list, item, func(i, _ types.Int) types.Int { return i })
}

func lastIndexOf(list, item ref.Val) ref.Val {
	return indexIn(list, item, func(i, size types.Int) types.Int { return size - 1 - i })
}

// indexIn returns the first index of an item, or -1. It looks at the indexes in the order of nth.
func indexIn(list, item ref.Val, nth func(i, size types.Int) types.Int) ref.Val {
	l, ok := list.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(list)
	}
	size, _ := l.Size().(types.Int)
	for i := range size {
		if at := nth(i, size); l.Get(at).Equal(item) == types.True {
			return at
		}
	}
	return types.Int(-1)
}
