package compare

import (
	"reflect"

	"sigs.k8s.io/randfill"
)

// nesting is how many values of a type may lie in one another: of types whose values hold several of their own kind, deeper ones
// would have no end.
const nesting = 2

// bounded are functions that fill values of the types that can hold values of their own type, as others are filled, but no deeper.
// Those that functions fill already are left to these.
func bounded(root reflect.Type, funcs []any) []any {
	filled := map[reflect.Type]bool{}
	for _, f := range funcs {
		filled[reflect.TypeOf(f).In(0).Elem()] = true
	}
	var out []any
	search := search{done: filled, under: map[reflect.Type]bool{}, knots: map[reflect.Type]bool{}}
	search.visit(root)
	for t := range search.knots {
		out = append(out, filler(t))
	}
	return out
}

// filler is a function that fills values of a type until there are too many in one another.
func filler(t reflect.Type) any {
	depth := 0
	fn := reflect.FuncOf([]reflect.Type{reflect.PointerTo(t), reflect.TypeFor[randfill.Continue]()}, nil, false)
	return reflect.MakeFunc(fn, func(args []reflect.Value) []reflect.Value {
		if depth < nesting {
			depth++
			args[1].Interface().(randfill.Continue).FillNoCustom(args[0].Interface())
			depth--
		}
		return nil
	}).Interface()
}

// search finds types that lead to themselves, one for each way around.
type search struct {
	done, under, knots map[reflect.Type]bool
}

func (s search) visit(t reflect.Type) {
	if s.under[t] {
		s.knots[t] = true
	}
	if s.done[t] || s.under[t] {
		return
	}
	s.under[t] = t.Name() != ""
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		s.visit(t.Elem())
	case reflect.Map:
		s.visit(t.Key())
		s.visit(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			s.visit(t.Field(i).Type)
		}
	}
	delete(s.under, t)
	s.done[t] = true
}
