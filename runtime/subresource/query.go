package subresource

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"apigen.dev/runtime/store"
)

// A Parser reads one value of a query.
type Parser[V any] func(text string) (V, error)

// QueryValue sets into to the first value of that name in a query; without one it leaves it alone.
func QueryValue[V any](query url.Values, name string, parse Parser[V], into *V) error {
	values := query[name]
	if len(values) == 0 {
		return nil
	}
	value, err := parse(values[0])
	if err != nil {
		return fmt.Errorf("the value %q of parameter %q: %w", store.Excerpt(values[0]), name, err)
	}
	*into = value
	return nil
}

// QueryPointer is QueryValue for options of which it matters whether they were given.
func QueryPointer[V any](query url.Values, name string, parse Parser[V], into **V) error {
	if len(query[name]) == 0 {
		return nil
	}
	value := new(V)
	if err := QueryValue(query, name, parse, value); err != nil {
		return err
	}
	*into = value
	return nil
}

// QueryValues takes all values of that name.
func QueryValues[V any](query url.Values, name string, parse Parser[V], into *[]V) error {
	for _, text := range query[name] {
		value, err := parse(text)
		if err != nil {
			return fmt.Errorf("the value %q of parameter %q: %w", store.Excerpt(text), name, err)
		}
		*into = append(*into, value)
	}
	return nil
}

// QueryText takes text as it is.
func QueryText[V ~string](text string) (V, error) { return V(text), nil }

// QueryBool reads a boolean as Kubernetes does: whatever is neither false nor 0 is true, nothing included.
func QueryBool[V ~bool](text string) (V, error) {
	return V(text != "0" && !strings.EqualFold(text, "false")), nil
}

// QueryInt reads a whole number that fits V.
func QueryInt[V ~int | ~int8 | ~int16 | ~int32 | ~int64](text string) (V, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || int64(V(n)) != n {
		return 0, fmt.Errorf("it is no whole number of this size")
	}
	return V(n), nil
}

// QueryParsed reads what a type reads from text by itself: a time, a quantity.
func QueryParsed[V any, P interface {
	*V
	UnmarshalQueryParameter(text string) error
}](text string) (V, error) {
	var value V
	err := P(&value).UnmarshalQueryParameter(text)
	return value, err
}
