package cel

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// class is a type of CEL whose values are Go values. Expressions use them through functions alone.
type class[T any] struct {
	typ   *types.Type
	name  string
	equal func(a, b T) bool
	text  func(T) string // nil where values have no text
	size  func(T) int    // nil: 1
	// converts: string(x) is the text.
	converts bool
}

func (c *class[T]) of(value T) ref.Val { return opaque[T]{c, value} }

type opaque[T any] struct {
	class *class[T]
	value T
}

func (o opaque[T]) ConvertToNative(to reflect.Type) (any, error) {
	if reflect.TypeFor[T]().AssignableTo(to) {
		return o.value, nil
	}
	if o.class.text != nil && to.Kind() == reflect.String {
		return o.class.text(o.value), nil
	}
	return nil, fmt.Errorf("type conversion error from '%s' to '%v'", o.class.name, to)
}

// ConvertToType returns the value itself, its type, or its text where the class converts.
func (o opaque[T]) ConvertToType(to ref.Type) ref.Val {
	switch {
	case to.TypeName() == o.class.typ.TypeName():
		return o
	case to == types.TypeType:
		return o.class.typ
	case to == types.StringType && o.class.converts:
		return types.String(o.class.text(o.value))
	}
	return types.NewErr("type conversion error from '%s' to '%s'", o.class.typ, to)
}

func (o opaque[T]) Equal(other ref.Val) ref.Val {
	b, ok := other.(opaque[T])
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return types.Bool(o.class.equal(o.value, b.value))
}

func (o opaque[T]) Type() ref.Type { return o.class.typ }

func (o opaque[T]) Value() any { return o.value }

func (o opaque[T]) Size() ref.Val {
	if o.class.size == nil {
		return types.IntOne
	}
	return types.Int(o.class.size(o.value))
}
