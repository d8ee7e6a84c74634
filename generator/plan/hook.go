package plan

import (
	"slices"
	"strings"

	"apigen.dev/generator/model"
	"apigen.dev/generator/plan/contextual"
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
	// Errors is what a method Validate answers with in place of a field.ErrorList; nil where it answers with that.
	Errors *contextual.Errors
}

// The hooks that printing treats in ways of their own.
const (
	CheckGracefulDelete    = "CheckGracefulDelete"
	prepareForStatusUpdate = "PrepareForStatusUpdate"
	validateStatusUpdate   = "ValidateStatusUpdate"
	validateName           = "ValidateName"
)

// ValidateHook is the hook that checks a write of a subresource that is a part of the object: ValidateStatusUpdate.
func ValidateHook(part string) string { return "Validate" + part + "Update" }

// PrepareHook is the hook that changes the new object of such a write: PrepareForStatusUpdate.
func PrepareHook(part string) string { return "PrepareFor" + part + "Update" }

// Hook returns the resource's hook of that name, or nil.
func (p *Plan) Hook(r *model.Resource, name string) *Hook {
	for i, h := range p.Hooks[r] {
		if h.Name == name {
			return &p.Hooks[r][i]
		}
	}
	return nil
}

func hooksOf(r *model.Resource) []Hook {
	var out []Hook
	for _, c := range conventionsOf(r) {
		if f := c.functionOf(r.Hub); f != nil {
			out = append(out, Hook{Name: c.name, Field: c.field, Func: f, Function: true})
		} else if m := r.Hub.Methods[c.name]; m != nil && c.fits(m, r.Hub) {
			out = append(out, Hook{Name: c.name, Field: c.field, Func: m, Errors: c.errors(m)})
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
}

const (
	hubKey            = "*T"
	updateSignature   = "(ctx context.Context, old *T) field.ErrorList"
	preparedSignature = "(ctx context.Context, old *T)"
)

func conventions() []convention {
	return []convention{
		{"PrepareForCreate", "PrepareForCreate", "(ctx context.Context)"},
		{"PrepareForUpdate", "PrepareForUpdate", preparedSignature},
		{"Validate", "Validate", "(ctx context.Context) field.ErrorList"},
		{"ValidateUpdate", "ValidateUpdate", updateSignature},
		{prepareForStatusUpdate, "", preparedSignature},
		{validateStatusUpdate, "", updateSignature},
		{"Canonicalize", "Canonicalize", "()"},
		{"Warnings", "Warnings", "(ctx context.Context, old *T) []string"},
		{CheckGracefulDelete, CheckGracefulDelete, "(ctx context.Context, options *metav1.DeleteOptions) bool"},
		{"DefaultPropagationPolicy", "DefaultPropagationPolicy", "(ctx context.Context) metav1.DeletionPropagation"},
		{validateName, validateName, "(name string, generated bool) []string"},
	}
}

func conventionsOf(r *model.Resource) []convention {
	out := conventions()
	for _, s := range r.Subresources {
		if part := s.UpdateHook(); part != "" {
			out = append(out, convention{PrepareHook(part), "", preparedSignature},
				convention{ValidateHook(part), "", updateSignature})
		}
	}
	return out
}

func isConvention(name string) bool {
	return slices.ContainsFunc(conventions(), func(c convention) bool { return c.name == name })
}

func (c convention) fits(m *model.Func, hub *model.Type) bool {
	return matches(m, c.signature, hub) || c.errors(m) != nil
}

// errors is what a method answers with that has the shape of Knative's Validate.
func (c convention) errors(m *model.Func) *contextual.Errors {
	if c.name != "Validate" {
		return nil
	}
	return contextual.Validator(m)
}

func matches(f *model.Func, signature string, hub *model.Type) bool {
	is := func(t *model.Type, key string) bool {
		if key == hubKey {
			return t.Form == model.Pointer && t.Package == nil && t.Elem == hub
		}
		return TypeKey(t) == key
	}
	params, results := typeKeys(signature)
	return !f.Variadic && slices.EqualFunc(f.Params, params, is) && slices.EqualFunc(f.Results, results, is)
}

var importPaths = strings.NewReplacer("field.", fieldPath+".", "metav1.", metaPath+".")

// typeKeys are the TypeKeys of the parameters and results of a convention's signature; *T is a pointer to the hub.
func typeKeys(signature string) (params, results []string) {
	in, out, _ := strings.Cut(signature[1:], ")")
	for p := range strings.SplitSeq(in, ", ") {
		if name, t, typed := strings.Cut(p, " "); typed {
			params = append(params, importPaths.Replace(t))
		} else if name != "" { // obj, old *T
			params = append(params, hubKey)
		}
	}
	if out != "" {
		results = []string{importPaths.Replace(out[1:])}
	}
	return params, results
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

func (c convention) functionSignature() string {
	switch {
	case c.name == validateName:
		return c.signature
	case c.signature == "()":
		return "(obj *T)"
	case strings.Contains(c.signature, ", old *T"):
		return strings.Replace(c.signature, "old *T", "obj, old *T", 1)
	}
	return strings.Replace(c.signature, "ctx context.Context", "ctx context.Context, obj *T", 1)
}

func (c convention) fitsFunction(f *model.Func, hub *model.Type) bool {
	return matches(f, c.functionSignature(), hub)
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
