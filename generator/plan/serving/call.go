package serving

import (
	"fmt"
	"go/token"
	"strings"

	"apigen.dev/generator/model"
)

// Call is a method of a kind, or the function that stands for one of a kind of another module, that returns a value of
// an object.
type Call struct {
	Method string
	// Function is the function in the user's package; nil for a method.
	Function *model.Func
	// Result is the type of the value.
	Result *model.Type
}

// callOf returns the call of a type's method of that name.
func callOf(t *model.Type, method string) (*Call, error) {
	if f := valueFunction(t, method); f != nil {
		return &Call{method, f, f.Results[0]}, nil
	}
	result, err := methodResult(t, method)
	if err != nil {
		return nil, err
	}
	return &Call{Method: method, Result: result}, nil
}

// valueFunction returns the function of the user's that stands for a method of a kind of another module: it is named
// after the method and the kind, and its parameter is the object. Nil where there is none.
func valueFunction(t *model.Type, method string) *model.Func {
	if t.Package.ServedBy == nil {
		return nil
	}
	f := t.Package.ServedBy.Func(method + "_" + t.Name)
	if f == nil || f.Variadic || len(f.Params) != 1 || f.Params[0].Form != model.Pointer ||
		f.Params[0].Package != nil || f.Params[0].Elem != t || len(f.Results) != 1 {
		return nil
	}
	return f
}

func methodResult(t *model.Type, method string) (*model.Type, error) {
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
	case len(m.Params) != 0 || len(m.Results) != 1:
		return nil, fmt.Errorf("method %s must take nothing and return one value, as `func (in *%s) %s() string` does",
			method, t.Name, method)
	}
	return m.Results[0], nil
}
