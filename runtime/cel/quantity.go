package cel

import (
	"errors"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/api/resource"
)

// quantities has quantity, isQuantity, and arithmetic with resource.Quantity.
type quantities struct{ plain }

type quantity = *resource.Quantity

var quantityClass = &class[quantity]{
	typ: celgo.ObjectType("kubernetes.Quantity"), name: "Quantity",
	equal: func(a, b quantity) bool { return a.Equal(*b) },
	text:  quantity.String,
}

// LibraryName returns Kubernetes' name.
func (quantities) LibraryName() string { return "kubernetes.quantity" }

// CompileOptions declares the functions.
func (quantities) CompileOptions() []celgo.EnvOption {
	str, boolean, integer, typ := celgo.StringType, celgo.BoolType, celgo.IntType, quantityClass.typ
	one, two, number := signature(typ), signature(typ, typ), signature(typ, integer)
	return declarations{
		"quantity":   {global("string_to_quantity", signature(str), typ, on(parseQuantity))},
		"isQuantity": {global("is_quantity_string", signature(str), boolean, on(isQuantity))},
		"sign": {global("quantity_sign", one, integer,
			on(func(q quantity) ref.Val { return types.Int(q.Sign()) }))},
		"isGreaterThan": {member("quantity_is_greater_than", two, boolean,
			onBoth(func(a, b quantity) ref.Val { return types.Bool(a.Cmp(*b) > 0) }))},
		"isLessThan": {member("quantity_is_less_than", two, boolean,
			onBoth(func(a, b quantity) ref.Val { return types.Bool(a.Cmp(*b) < 0) }))},
		"compareTo": {member("quantity_compare_to", two, integer,
			onBoth(func(a, b quantity) ref.Val { return types.Int(a.Cmp(*b)) }))},
		"asApproximateFloat": {member("quantity_get_float", one, celgo.DoubleType,
			on(func(q quantity) ref.Val { return types.Double(q.AsApproximateFloat64()) }))},
		"asInteger": {member("quantity_get_int", one, integer, on(asInteger))},
		"isInteger": {member("quantity_is_integer", one, boolean, on(isInteger))},
		"add": {
			member("quantity_add", two, typ, onBoth(add)),
			member("quantity_add_int", number, typ, onBoth(func(q quantity,
				n int64) ref.Val {
				return add(q, whole(n))
			})),
		},
		"sub": {
			member("quantity_sub", two, typ, onBoth(subtract)),
			member("quantity_sub_int", number, typ, onBoth(func(q quantity,
				n int64) ref.Val {
				return subtract(q, whole(n))
			})),
		},
	}.options()
}

func parseQuantity(s string) ref.Val {
	q, err := resource.ParseQuantity(s)
	if err != nil {
		return types.WrapErr(err)
	}
	return quantityClass.of(&q)
}

func isQuantity(s string) ref.Val {
	_, err := resource.ParseQuantity(s)
	return types.Bool(err == nil)
}

func asInteger(q quantity) ref.Val {
	n, ok := q.AsInt64()
	if !ok {
		return types.WrapErr(errors.New("cannot convert value to integer"))
	}
	return types.Int(n)
}

func isInteger(q quantity) ref.Val {
	_, ok := q.AsInt64()
	return types.Bool(ok)
}

func whole(n int64) quantity { return resource.NewQuantity(n, resource.DecimalExponent) }

func add(a, b quantity) ref.Val {
	out := a.DeepCopy()
	out.Add(*b)
	return quantityClass.of(&out)
}

func subtract(a, b quantity) ref.Val {
	out := a.DeepCopy()
	out.Sub(*b)
	return quantityClass.of(&out)
}
