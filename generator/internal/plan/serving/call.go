package serving

import (
	"fmt"
	"go/token"
	"strings"

	"apigen.dev/generator/internal/model"
)

// Call is a method of a kind, or the function that stands for one of a kind of another module, that returns a value of
// an object.
type Call struct {
	Method string
	// Function is the function in the user's package; nil for a method.
	Function *model.Func
	// Result is the type of the value.
	Result *model.Type
	// Since is the type of the time of a call that returns text with an age in it, (before string, since *metav1.Time,
	// after string); nil for any other.
	Since *model.Type
}

// callOf returns the call of a type's method of that name.
func callOf(t *model.Type, method string) (*Call, error) {
	results, f, err := resultsOf(t, method)
	switch {
	case err != nil:
		return nil, err
	case len(results) != 1:
		return nil, fmt.Errorf("method %s must take nothing and return one value, as `func (in *%s) %s() string` does",
			method, t.Name, method)
	}
	return &Call{Method: method, Function: f, Result: results[0]}, nil
}

// cellCall returns the call of a type's method whose value, or text with an age in it, a column shows.
func cellCall(t *model.Type, method string) (*Call, error) {
	results, f, err := resultsOf(t, method)
	switch {
	case err != nil:
		return nil, err
	case isAgedText(results):
		return &Call{Method: method, Function: f, Result: results[0], Since: results[1].Elem}, nil
	case len(results) != 1:
		return nil, fmt.Errorf("method %[1]s must take nothing and return one value, as `func (in *%[2]s) %[1]s() "+
			"string` does, or text with an age in it: `func (in *%[2]s) %[1]s() (before string, since *metav1.Time, "+
			"after string)`", method, t.Name)
	}
	return &Call{Method: method, Function: f, Result: results[0]}, nil
}

func isAgedText(results []*model.Type) bool {
	return len(results) == 3 && isText(results[0]) && isText(results[2]) && results[1].Form == model.Pointer &&
		isTime(results[1].Elem)
}

func isText(t *model.Type) bool {
	return t.Form == model.Basic && t.Package == nil && t.Basic == "string"
}

// resultsOf returns what a type's method returns, or the function that stands for it. They are none where it takes
// parameters.
func resultsOf(t *model.Type, method string) ([]*model.Type, *model.Func, error) {
	if f := valueFunction(t, method); f != nil {
		return f.Results, f, nil
	}
	results, err := methodResults(t, method)
	return results, nil, err
}

// valueFunction returns the function of the user's that stands for a method of a kind of another module: it is named
// after the method and the kind, and its parameter is the object. Nil if there is none.
func valueFunction(t *model.Type, method string) *model.Func {
	if t.Package.ServedBy == nil {
		return nil
	}
	f := t.Package.ServedBy.Func(method + "_" + t.Name)
	if f == nil || f.Variadic || len(f.Params) != 1 || f.Params[0].Form != model.Pointer ||
		f.Params[0].Package != nil || f.Params[0].Elem != t || len(f.Results) == 0 {
		return nil
	}
	return f
}

func methodResults(t *model.Type, method string) ([]*model.Type, error) {
	m := t.Methods[method]
	switch {
	case m == nil && t.Package.ServedBy != nil:
		return nil, fmt.Errorf("package %s has no function %s_%s that fits: write `func %s_%s(obj *%s) string`",
			t.Package.ServedBy.Path, method, t.Name, method, t.Name, model.TypeText(t))
	case m == nil:
		return nil, fmt.Errorf("%s has no method %s: write `func (in *%s) %s() string`", t.Name, method, t.Name, method)
	case !token.IsExported(method) && t.Package.ServedBy == nil:
		return nil, fmt.Errorf("method %s is not exported, and is called from another package: call it %s",
			method, strings.ToUpper(method[:1])+method[1:])
	case len(m.Params) != 0:
		return nil, nil
	}
	return m.Results, nil
}
