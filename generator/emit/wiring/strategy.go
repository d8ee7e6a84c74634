package wiring

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

// convention is a method of the hub type that is called on writes, found by its name and its signature.
type convention struct {
	name string
	// field of the Strategy that calls it; empty for those of subresources.
	field string
	// signature is what the user has to write behind the receiver and the name, with T for the type.
	signature       string
	params, results []shape
}

// shape recognizes a type; hub is T.
type shape func(t, hub *model.Type) bool

func contextShape(t, _ *model.Type) bool { return isNamed(t, "context", "Context") }
func hubShape(t, hub *model.Type) bool {
	return t.Form == model.Pointer && t.Package == nil && t.Elem == hub
}
func errorsShape(t, _ *model.Type) bool  { return isNamed(t, fieldPath, "ErrorList") }
func stringShape(t, _ *model.Type) bool  { return t.Package == nil && isString(t) }
func booleanShape(t, _ *model.Type) bool { return t.Package == nil && isBool(t) }
func deleteOptionsShape(t, _ *model.Type) bool {
	return t.Form == model.Pointer && t.Package == nil && isNamed(t.Elem, metav1Path, "DeleteOptions")
}
func propagationShape(t, _ *model.Type) bool { return isNamed(t, metav1Path, "DeletionPropagation") }
func stringsShape(t, hub *model.Type) bool {
	return t.Package == nil && t.Form == model.Slice && stringShape(t.Elem, hub)
}

// conventions returns the table of methods, in the order of a Strategy's fields.
func conventions() []convention {
	return []convention{
		{"PrepareForCreate", "PrepareForCreate", "(ctx context.Context)", []shape{contextShape}, nil},
		{"PrepareForUpdate", "PrepareForUpdate", "(ctx context.Context, old *T)", []shape{contextShape, hubShape}, nil},
		{"Validate", "Validate", "(ctx context.Context) field.ErrorList", []shape{contextShape}, []shape{errorsShape}},
		{"ValidateUpdate", "ValidateUpdate", "(ctx context.Context, old *T) field.ErrorList", []shape{contextShape, hubShape}, []shape{errorsShape}},
		{validateStatusUpdate, "", "(ctx context.Context, old *T) field.ErrorList", []shape{contextShape, hubShape}, []shape{errorsShape}},
		{"Canonicalize", "Canonicalize", "()", nil, nil},
		{"Warnings", "Warnings", "(ctx context.Context, old *T) []string", []shape{contextShape, hubShape}, []shape{stringsShape}},
		{checkGracefulDelete, checkGracefulDelete, "(ctx context.Context, options *metav1.DeleteOptions) bool", []shape{contextShape, deleteOptionsShape}, []shape{booleanShape}},
		{"DefaultPropagationPolicy", "DefaultPropagationPolicy", "(ctx context.Context) metav1.DeletionPropagation", []shape{contextShape}, []shape{propagationShape}},
		{"ValidateName", "ValidateName", "(name string, generated bool) []string", []shape{stringShape, booleanShape}, []shape{stringsShape}},
	}
}

const metav1Path = "k8s.io/apimachinery/pkg/apis/meta/v1"

// checkGracefulDelete is the convention that takes the options of a deletion.
const checkGracefulDelete = "CheckGracefulDelete"

// validateStatusUpdate is the convention that belongs to the status subresource.
const validateStatusUpdate = "ValidateStatusUpdate"

// fits tells whether a method of the hub has the convention's signature.
func (c convention) fits(m *model.Func, hub *model.Type) bool {
	return !m.Variadic && sameShapes(m.Params, c.params, hub) && sameShapes(m.Results, c.results, hub)
}

func sameShapes(types []*model.Type, shapes []shape, hub *model.Type) bool {
	if len(types) != len(shapes) {
		return false
	}
	for i, s := range shapes {
		if !s(types[i], hub) {
			return false
		}
	}
	return true
}

// strategy prints the Strategy, or nothing where the author has no logic.
func (p *printer) strategy(r *model.Resource) jen.Code {
	var members []jen.Code
	for _, c := range conventions() {
		if c.field == "" {
			continue
		}
		if code := p.wire(r, c.name); code != nil {
			members = append(members, member(c.field, code))
		}
	}
	for _, rule := range markerRules {
		if rule.of(r) {
			members = append(members, member(rule.field, jen.True()))
		}
	}
	if !counted(r) && r.Verbs == nil {
		members = append(members, member("NoGeneration", jen.True()))
	}
	if members == nil {
		return nil
	}
	return member("Strategy", literal(jen.Qual(registryPath, "Strategy").Types(pointer(r.Hub)), members...))
}

// rule is a field of the Strategy that markers of a kind set.
type rule struct {
	field string
	asked func(*model.Kind) bool
}

var markerRules = []rule{
	{"AllowCreateOnUpdate", func(k *model.Kind) bool { return k.CreateOnUpdate }},
	{"RequireVersionOnUpdate", func(k *model.Kind) bool { return k.RequireResourceVersion }},
	{"ReturnDeletedObject", func(k *model.Kind) bool { return k.ReturnDeletedObject }},
}

// of tells whether any version of the kind, or its hub, asks for the rule.
func (u rule) of(r *model.Resource) bool {
	if r.Hub.Kind != nil && u.asked(r.Hub.Kind) {
		return true
	}
	for _, v := range r.Versions {
		if v.Type.Kind != nil && u.asked(v.Type.Kind) {
			return true
		}
	}
	return false
}

// counted tells whether the kind's objects have a generation: where a marker says so, or none says that they haven't and
// there is a spec to count the changes of.
func counted(r *model.Resource) bool {
	types := []*model.Type{r.Hub}
	for _, v := range r.Versions {
		types = append(types, v.Type)
	}
	spec := false
	for _, t := range types {
		if t.Kind != nil && t.Kind.Generation != nil {
			return *t.Kind.Generation
		}
		spec = spec || slices.ContainsFunc(t.Fields, func(f *model.Field) bool { return f.JSON == "spec" || f.Name == "Spec" })
	}
	return spec
}

// wire prints the call of the hub's method of that name, or returns nil where it has none of the right signature.
func (p *printer) wire(r *model.Resource, name string) jen.Code {
	for _, c := range conventions() {
		if c.name != name {
			continue
		}
		if f := c.wireFunction(r.Hub); f != nil {
			return f
		}
		if m := r.Hub.Methods[name]; m != nil && c.fits(m, r.Hub) {
			return c.call(r.Hub)
		}
	}
	return nil
}

// call is the function that calls the method.
func (c convention) call(hub *model.Type) jen.Code {
	switch c.name {
	case "Canonicalize":
		return jen.Parens(pointer(hub)).Dot(c.name)
	case "ValidateName":
		return jen.New(jen.Qual(hub.Package.Path, hub.Name)).Dot(c.name)
	case checkGracefulDelete:
		return jen.Func().Params(jen.Id("ctx").Qual("context", "Context"), jen.Id("obj").Add(pointer(hub)), jen.Id("options").Op("*").Qual(metav1Path, "DeleteOptions")).
			Bool().Block(jen.Return(jen.Id("obj").Dot(c.name).Call(jen.Id("ctx"), jen.Id("options"))))
	}
	object := []jen.Code{jen.Id("obj").Add(pointer(hub))}
	args := []jen.Code{jen.Id("ctx")}
	if len(c.params) == 2 {
		object = []jen.Code{jen.List(jen.Id("obj"), jen.Id("old")).Add(pointer(hub))}
		args = append(args, jen.Id("old"))
	}
	f := jen.Func().Params(append([]jen.Code{jen.Id("ctx").Qual("context", "Context")}, object...)...)
	call := jen.Id("obj").Dot(c.name).Call(args...)
	if len(c.results) == 0 {
		return f.Block(call)
	}
	switch c.name {
	case "Warnings":
		return f.Index().String().Block(jen.Return(call))
	case "DefaultPropagationPolicy":
		return f.Qual(metav1Path, "DeletionPropagation").Block(jen.Return(call))
	}
	return f.Qual(fieldPath, "ErrorList").Block(jen.Return(call))
}

// Warnings names the methods that look as if the server called them and that it doesn't call, since they have another
// signature or stand on another type than the hub, and the columns that can't show what they lead to.
func Warnings(p *plan.Plan) []emit.Error {
	var out emit.Errors
	for _, g := range p.WiredGroups() {
		for _, r := range g.Resources {
			warnMethods(&out, r)
			warnMisnamed(&out, r)
			warnFunctions(&out, r)
			for _, v := range r.Versions {
				warnColumns(&out, v.Type)
				warnElsewhere(&out, r, v.Type)
				warnFunctionsElsewhere(&out, r, v.Type)
			}
		}
	}
	return out
}

func warnMethods(out *emit.Errors, r *model.Resource) {
	for _, c := range conventionsOf(r) {
		m := r.Hub.Methods[c.name]
		switch {
		case m == nil || c.fits(m, r.Hub):
		case r.Hub.Package.ServedBy != nil:
			c.warnForeign(out, m, r.Hub)
		default:
			signature := fmt.Sprintf("func (in *%s) %s%s", r.Hub.Name, c.name, expand(c.signature, r.Hub.Name))
			out.Add(m.Pos, "method %s of %s is not called by the server: its signature is not `%s`", c.name, r.Hub.Name, signature)
		}
	}
}

// warnElsewhere finds logic on a version that is not the hub, where nobody calls it.
func warnElsewhere(out *emit.Errors, r *model.Resource, t *model.Type) {
	if t == r.Hub {
		return
	}
	for _, c := range conventions() {
		if m := t.Methods[c.name]; m != nil && c.fits(m, t) {
			out.Add(m.Pos, "method %s of %s is not called by the server: logic works on the hub, so write it for %s.%s", c.name, typeText(t), r.Hub.Package.Path, r.Hub.Name)
		}
	}
}

func warnColumns(out *emit.Errors, t *model.Type) {
	if t.Kind == nil {
		return
	}
	for _, c := range t.Kind.Columns {
		if c.Method == "" && c.Steps == nil {
			out.Add(c.Pos, "column %q is always empty: Go's types don't tell where %s leads; write a method and +apigen:printcolumn:name=%q,type=%s,method=", c.Name, c.JSONPath, c.Name, c.Type)
			continue
		}
		end := t
		if c.Method != "" {
			m := columnFunction(t, c)
			if m == nil {
				m = t.Methods[c.Method]
			}
			if m == nil || len(m.Results) != 1 {
				continue
			}
			end = m.Results[0]
		}
		for _, step := range c.Steps {
			end = after(end, step)
		}
		end = end.Pointee()
		if end != nil && !fits(c.Type, end) {
			out.Add(c.Pos, "column %q is always empty: %s is no %s", c.Name, typeText(end), c.Type)
		}
	}
}

// after is the type that one step leads to.
func after(t *model.Type, step model.Step) *model.Type {
	if step.Field != nil {
		return step.Field.Type
	}
	t = t.Pointee()
	if t == nil {
		return nil
	}
	return t.Elem
}

// expand writes a signature's T as the type's name.
func expand(signature, name string) string { return strings.ReplaceAll(signature, "*T", "*"+name) }
