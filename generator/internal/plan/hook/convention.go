package hook

import (
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan/contextual"
)

const (
	metaPath  = "k8s.io/apimachinery/pkg/apis/meta/v1"
	fieldPath = "k8s.io/apimachinery/pkg/util/validation/field"
)

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
		{"AuthorizeCreate", "AuthorizeCreate", "(ctx context.Context) error"},
		{"AuthorizeUpdate", "AuthorizeUpdate", "(ctx context.Context, old *T) error"},
		{"PrepareForCreate", "PrepareForCreate", "(ctx context.Context)"},
		{"PrepareForUpdate", "PrepareForUpdate", preparedSignature},
		{"Validate", "Validate", "(ctx context.Context) field.ErrorList"},
		{"ValidateUpdate", "ValidateUpdate", updateSignature},
		{PreparePart("Status"), "", preparedSignature},
		{ValidatePart("Status"), "", updateSignature},
		{"Canonicalize", "Canonicalize", "()"},
		{"Warnings", "Warnings", "(ctx context.Context, old *T) []string"},
		{CheckGracefulDelete, CheckGracefulDelete, "(ctx context.Context, options *metav1.DeleteOptions) bool"},
		{BlocksDeletion, BlocksDeletion, "() bool"},
		{"PrepareForDelete", "PrepareForDelete", "(ctx context.Context)"},
		{"DefaultPropagationPolicy", "DefaultPropagationPolicy", "(ctx context.Context) metav1.DeletionPropagation"},
		{"TimeToLive", "TimeToLive", "(ctx context.Context) time.Duration"},
		{ValidateName, ValidateName, "(name string, generated bool) []string"},
	}
}

func conventionsOf(r *model.Resource) []convention {
	out := conventions()
	for _, s := range r.Subresources {
		if part := s.UpdateHook(); part != "" {
			out = append(out, convention{PreparePart(part), "", preparedSignature},
				convention{ValidatePart(part), "", updateSignature})
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
		return model.TypeKey(t) == key
	}
	params, results := typeKeys(signature)
	return !f.Variadic && slices.EqualFunc(f.Params, params, is) && slices.EqualFunc(f.Results, results, is)
}

var importPaths = strings.NewReplacer("field.", fieldPath+".", "metav1.", metaPath+".")

// typeKeys are the keys of the types in a convention's signature, parameters and results; *T is a pointer to the hub.
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
	case c.name == ValidateName:
		return c.signature
	case strings.HasPrefix(c.signature, "()"):
		return "(obj *T)" + strings.TrimPrefix(c.signature, "()")
	case strings.Contains(c.signature, ", old *T"):
		return strings.Replace(c.signature, "old *T", "obj, old *T", 1)
	}
	return strings.Replace(c.signature, "ctx context.Context", "ctx context.Context, obj *T", 1)
}

func (c convention) fitsFunction(f *model.Func, hub *model.Type) bool {
	return matches(f, c.functionSignature(), hub)
}

func (c convention) functionOf(hub *model.Type, homes []*model.Package) *model.Func {
	for _, home := range homes {
		if f := home.Func(c.functionName(hub.Name)); f != nil && c.fitsFunction(f, hub) {
			return f
		}
	}
	return nil
}

func expand(signature, name string) string { return strings.ReplaceAll(signature, "*T", "*"+name) }
