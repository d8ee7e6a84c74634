package plan

import (
	"slices"
	"strings"

	"apigen.dev/generator/model"
)

// Hook is logic of a kind, written by hand, that a server calls when objects are written.
type Hook struct {
	// Name is the convention's: PrepareForCreate. Field is the Strategy's field that calls it; it is empty for hooks of
	// subresources.
	Name, Field string
	Func        *model.Func
	// Function: it is a function of the package that serves the kind, with the object as a parameter, since the kind is
	// of another module; else it is a method of the hub. Its signature is then that of the Strategy's field.
	Function bool
}

// The hooks that printing treats in ways of their own.
const (
	CheckGracefulDelete  = "CheckGracefulDelete"
	validateStatusUpdate = "ValidateStatusUpdate"
)

// UpdateHook is the hook that checks a write of a subresource that is a field: ValidateStatusUpdate.
func UpdateHook(field string) string { return "Validate" + field + "Update" }

// Hook returns the resource's hook of that name, or nil.
func (p *Plan) Hook(r *model.Resource, name string) *Hook {
	for i, h := range p.Hooks[r] {
		if h.Name == name {
			return &p.Hooks[r][i]
		}
	}
	return nil
}

// hooksOf finds the hooks of a kind, in the order of a Strategy's fields.
func hooksOf(r *model.Resource) []Hook {
	var out []Hook
	for _, c := range conventionsOf(r) {
		if f := c.functionOf(r.Hub); f != nil {
			out = append(out, Hook{c.name, c.field, f, true})
		} else if m := r.Hub.Methods[c.name]; m != nil && c.fits(m, r.Hub) {
			out = append(out, Hook{c.name, c.field, m, false})
		}
	}
	return out
}

// convention is a method of the hub type that is called on writes, found by its name and its signature.
type convention struct {
	name string
	// field of the Strategy that calls it; empty for those of subresources.
	field string
	// signature is what the user has to write behind the receiver and the name, with T for the type.
	signature string
	// params and results are TypeKeys; *T is a pointer to the hub.
	params, results []string
}

const (
	contextKey = "context.Context"
	hubKey     = "*T"
	errorsKey  = fieldPath + ".ErrorList"
)

// conventions returns the table of methods, in the order of a Strategy's fields.
func conventions() []convention {
	var (
		ctx    = []string{contextKey}
		update = []string{contextKey, hubKey}
		errs   = []string{errorsKey}
	)
	return []convention{
		{"PrepareForCreate", "PrepareForCreate", "(ctx context.Context)", ctx, nil},
		{"PrepareForUpdate", "PrepareForUpdate", "(ctx context.Context, old *T)", update, nil},
		{"Validate", "Validate", "(ctx context.Context) field.ErrorList", ctx, errs},
		{"ValidateUpdate", "ValidateUpdate", "(ctx context.Context, old *T) field.ErrorList", update, errs},
		{validateStatusUpdate, "", "(ctx context.Context, old *T) field.ErrorList", update, errs},
		{"Canonicalize", "Canonicalize", "()", nil, nil},
		{"Warnings", "Warnings", "(ctx context.Context, old *T) []string", update, []string{"[]string"}},
		{CheckGracefulDelete, CheckGracefulDelete, "(ctx context.Context, options *metav1.DeleteOptions) bool",
			[]string{contextKey, "*" + metaPath + ".DeleteOptions"}, []string{"bool"}},
		{"DefaultPropagationPolicy", "DefaultPropagationPolicy", "(ctx context.Context) metav1.DeletionPropagation",
			ctx, []string{metaPath + ".DeletionPropagation"}},
		{"ValidateName", "ValidateName", "(name string, generated bool) []string",
			[]string{"string", "bool"}, []string{"[]string"}},
	}
}

func conventionsOf(r *model.Resource) []convention {
	out := conventions()
	for _, s := range r.Subresources {
		if s.Form == model.FieldSubresource {
			out = append(out, convention{UpdateHook(s.Field.Name), "", "(ctx context.Context, old *T) field.ErrorList",
				[]string{contextKey, hubKey}, []string{errorsKey}})
		}
	}
	return out
}

func isConvention(name string) bool {
	return slices.ContainsFunc(conventions(), func(c convention) bool { return c.name == name })
}

func (c convention) fits(m *model.Func, hub *model.Type) bool { return c.matches(m, c.params, hub) }

func (c convention) matches(f *model.Func, params []string, hub *model.Type) bool {
	is := func(t *model.Type, key string) bool {
		if key == hubKey {
			return t.Form == model.Pointer && t.Package == nil && t.Elem == hub
		}
		return TypeKey(t) == key
	}
	return !f.Variadic && slices.EqualFunc(f.Params, params, is) && slices.EqualFunc(f.Results, c.results, is)
}

// Kinds of another module have no methods of the user's. What would be one is a function in the package that serves
// them, with the object as a parameter: PrepareForCreate_Deployment(ctx, obj). Its signature is that of the Strategy's
// field.

// functionName is the function that stands for the method. Validate_X is the name under which the rules of markers are
// checked, so that what the user adds to those is called otherwise.
func (c convention) functionName(kind string) string {
	if c.name == "Validate" {
		return "ValidateObject_" + kind
	}
	return c.name + "_" + kind
}

// functionParams are the function's parameters: those of the method, with the object behind the context.
func (c convention) functionParams() []string {
	switch {
	case c.name == "ValidateName":
		return c.params
	case len(c.params) == 0:
		return []string{hubKey}
	}
	return slices.Insert(slices.Clone(c.params), 1, hubKey)
}

// functionSignature is what the user has to write behind the name.
func (c convention) functionSignature(hub *model.Type) string {
	signature := c.signature
	switch {
	case c.name == "ValidateName":
	case len(c.params) == 2:
		signature = strings.Replace(signature, "old *T", "obj, old *T", 1)
	case len(c.params) == 1:
		signature = strings.Replace(signature, "ctx context.Context", "ctx context.Context, obj *T", 1)
	default:
		signature = "(obj *T)"
	}
	return expand(signature, model.TypeText(hub))
}

func (c convention) fitsFunction(f *model.Func, hub *model.Type) bool {
	return c.matches(f, c.functionParams(), hub)
}

func (c convention) functionOf(hub *model.Type) *model.Func {
	home := hub.Package.ServedBy
	if home == nil {
		return nil
	}
	if f := home.Func(c.functionName(hub.Name)); f != nil && c.fitsFunction(f, hub) {
		return f
	}
	return nil
}

func expand(signature, name string) string { return strings.ReplaceAll(signature, "*T", "*"+name) }
