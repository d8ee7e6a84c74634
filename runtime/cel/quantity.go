package cel

import (
	"errors"

	celgo "github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/api/resource"
)

type quantity = *resource.Quantity

var quantityClass = &class[quantity]{
	typ: celgo.ObjectType("kubernetes.Quantity"), name: "Quantity",
	equal: func(a, b quantity) bool { return a.Equal(*b) },
	text:  quantity.String,
}

func quantityFunctions() functions {
	return functions{
		"quantity":           {global("string_to_quantity", unaryOrError(parseQuantity))},
		"isQuantity":         {global("is_quantity_string", unary(succeeds(parseQuantity)))},
		"sign":               {global("quantity_sign", unary(quantity.Sign))},
		"asApproximateFloat": {member("quantity_get_float", unary(quantity.AsApproximateFloat64))},
		"asInteger":          {member("quantity_get_int", unaryOrError(asInteger))},
		"isInteger":          {member("quantity_is_integer", unary(succeeds(asInteger)))},
		"add":                arithmetic("quantity_add", quantity.Add),
		"sub":                arithmetic("quantity_sub", quantity.Sub),
	}
}

func compareQuantities(a, b quantity) int { return a.Cmp(*b) }

func parseQuantity(s string) (quantity, error) {
	q, err := resource.ParseQuantity(s)
	return &q, err
}

func asInteger(q quantity) (int64, error) {
	n, ok := q.AsInt64()
	if !ok {
		return 0, errors.New("cannot convert value to integer")
	}
	return n, nil
}

// arithmetic returns the overloads of a function that changes a quantity by another one or by a whole number.
func arithmetic(id string, change func(q quantity, by resource.Quantity)) []celgo.FunctionOpt {
	changed := func(a, b quantity) quantity {
		out := a.DeepCopy()
		change(&out, *b)
		return &out
	}
	return []celgo.FunctionOpt{
		member(id, binary(changed)),
		member(id+"_int", binary(func(q quantity, n int64) quantity {
			return changed(q, resource.NewQuantity(n, resource.DecimalExponent))
		})),
	}
}
