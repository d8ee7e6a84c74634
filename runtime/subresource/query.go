package subresource

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"apigen.dev/runtime/store"
)

// A Parser parses one value of a query.
type Parser[V any] func(text string) (V, error)

// QueryValue parses the first value of a parameter, and leaves into alone where there is none.
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

// QueryPointer is QueryValue for an option that is nil where the query lacks it.
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

// QueryValues parses and appends all values of a parameter.
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

// QueryText returns text as it is.
func QueryText[V ~string](text string) (V, error) { return V(text), nil }

// QueryBool parses a boolean as Kubernetes does: all text but "false" and "0" is true, also the empty one.
func QueryBool[V ~bool](text string) (V, error) {
	return V(text != "0" && !strings.EqualFold(text, "false")), nil
}

// QueryInt parses an integer that fits into V.
func QueryInt[V ~int | ~int8 | ~int16 | ~int32 | ~int64](text string) (V, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || int64(V(n)) != n {
		return 0, fmt.Errorf("it is no whole number of this size")
	}
	return V(n), nil
}

// QueryParsed parses a type with its own method, like a time.
func QueryParsed[V any, P interface {
	*V
	UnmarshalQueryParameter(text string) error
}](text string) (V, error) {
	var value V
	err := P(&value).UnmarshalQueryParameter(text)
	return value, err
}
