package cel

import (
	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// lists are functions of lists: isSorted, sum, min, max, indexOf and lastIndexOf.
type lists struct{ plain }

// LibraryName returns Kubernetes' name.
func (lists) LibraryName() string { return "kubernetes.lists" }

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

// CompileOptions declares the functions, for lists of each scalar type.
func (lists) CompileOptions() []celgo.EnvOption {
	a := celgo.TypeParamType("A")
	d := declarations{
		"indexOf": {member("list_a_index_of_int", signature(celgo.ListType(a), a), celgo.IntType,
			celgo.BinaryBinding(indexOf))},
		"lastIndexOf": {member("list_a_last_index_of_int", signature(celgo.ListType(a), a), celgo.IntType,
			celgo.BinaryBinding(lastIndexOf))},
	}
	for _, s := range scalars {
		list := signature(celgo.ListType(s.typ))
		d["isSorted"] = append(d["isSorted"], member("list_"+s.name+"_is_sorted_bool", list, celgo.BoolType,
			celgo.UnaryBinding(isSorted)))
		d["max"] = append(d["max"], member("list_"+s.name+"_max_"+s.name, list, s.typ,
			celgo.UnaryBinding(extreme("max", types.IntNegOne))))
		d["min"] = append(d["min"], member("list_"+s.name+"_min_"+s.name, list, s.typ,
			celgo.UnaryBinding(extreme("min", types.IntOne))))
		if s.zero != nil {
			d["sum"] = append(d["sum"], member("list_"+s.name+"_sum_"+s.name, list, s.typ,
				celgo.UnaryBinding(sum(s.zero))))
		}
	}
	return d.options()
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

// sum adds the elements to zero.
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
	l, ok := list.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(list)
	}
	size, _ := l.Size().(types.Int)
	for i := types.Int(0); i < size; i++ {
		if l.Get(i).Equal(item) == types.True {
			return i
		}
	}
	return types.Int(-1)
}

func lastIndexOf(list, item ref.Val) ref.Val {
	l, ok := list.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(list)
	}
	size, _ := l.Size().(types.Int)
	for i := size - 1; i >= 0; i-- {
		if l.Get(i).Equal(item) == types.True {
			return i
		}
	}
	return types.Int(-1)
}
