package hook

import (
	"slices"
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
)

// webhookMethods are those of controller-runtime's webhooks, and what takes their places. ValidateUpdate is a name of
// ours, too.
var webhookMethods = map[string]string{
	"ValidateCreate": "func (in *T) Validate(ctx context.Context) field.ErrorList",
	"ValidateDelete": "",
	"Default":        "func SetDefaults_T(in *T), or +default on its fields",
}

// webhookTypeMethods are the methods of webhooks that are types of their own, in the order in which one reads them.
var webhookTypeMethods = []string{"Default", "ValidateCreate", "ValidateUpdate", "ValidateDelete"}

// warnWebhookTypes names the methods of types beside a kind that are webhooks for it, unless the kind has what takes
// their places.
func warnWebhookTypes(out *diag.Errors, r *model.Resource) {
	packages := []*model.Package{r.Hub.Package}
	for _, v := range r.Versions {
		if !slices.Contains(packages, v.Type.Package) {
			packages = append(packages, v.Type.Package)
		}
	}
	for _, p := range packages {
		for _, t := range p.Types {
			for _, name := range webhookTypeMethods {
				if m := t.Methods[name]; m != nil && isWebhookOf(m, t, r) && !replaced(name, r) {
					instead := webhookMethods[name]
					if name == "ValidateUpdate" {
						instead = "func (in *T) ValidateUpdate" + updateSignature
					}
					warnWebhook(out, m, t, r.Hub, instead)
				}
			}
		}
	}
}

// isWebhookOf reports whether a method of t takes a context and objects of a kind. One that takes any object says of
// which kind by the name of its type, as those of kubebuilder's projects do.
func isWebhookOf(m *model.Func, t *model.Type, r *model.Resource) bool {
	objects := 1
	if m.Name == "ValidateUpdate" {
		objects = 2
	}
	if len(m.Params) != 1+objects || model.TypeKey(m.Params[0]) != "context.Context" || ofKind(t, r) {
		return false
	}
	obj := m.Params[objects]
	if model.TypeKey(obj) == "k8s.io/apimachinery/pkg/runtime.Object" {
		return ofKind(namesake(t), r)
	}
	return obj.Form == model.Pointer && obj.Package == nil && ofKind(obj.Elem, r)
}

// namesake returns the type with the longest name with which the name of another one of its package begins, or nil.
func namesake(t *model.Type) (found *model.Type) {
	for _, other := range t.Package.Types {
		if other != t && strings.HasPrefix(t.Name, other.Name) &&
			(found == nil || len(other.Name) > len(found.Name)) {
			found = other
		}
	}
	return found
}

// ofKind reports whether a type is the hub or a version of a resource.
func ofKind(t *model.Type, r *model.Resource) bool {
	return t == r.Hub || slices.ContainsFunc(r.Versions, func(v model.ResourceVersion) bool { return v.Type == t })
}

// replaced reports whether a kind has what takes the place of a webhook's method. Nothing takes that of ValidateDelete;
// one is named as long as ValidateCreate is.
func replaced(name string, r *model.Resource) bool {
	switch name {
	case "Default":
		return slices.ContainsFunc(r.Versions, func(v model.ResourceVersion) bool {
			return v.Type.Package.Home().Func("SetDefaults_"+v.Type.Name) != nil
		})
	case "ValidateCreate", "ValidateDelete":
		name = "Validate"
	}
	for _, c := range conventions() {
		if c.name == name {
			m, _ := r.Hub.Method(name)
			return m != nil && c.fits(m, r.Hub) || c.functionOf(r.Hub, servedBy(r.Hub)) != nil
		}
	}
	return false
}

// warnWebhook says what to write instead of a webhook's method, which stands on the hub or on a type of its own.
func warnWebhook(out *diag.Errors, m *model.Func, on, hub *model.Type, instead string) {
	home := hub.Package.ServedBy
	switch {
	case m.Name == "ValidateDelete":
		out.Add(m.Pos, "method ValidateDelete of %s is not called by the server: nothing of a kind validates its "+
			"deletion; an admission policy or webhook can", on.Name)
	case home == nil:
		out.Add(m.Pos, "method %s of %s is not called by the server: write %s", m.Name, on.Name,
			strings.NewReplacer("_T", "_"+hub.Name, "*T", "*"+hub.Name).Replace(instead))
	case m.Name != "Default":
		name := strings.TrimSuffix(m.Name, "Create")
		validates := slices.IndexFunc(conventions(), func(c convention) bool { return c.name == name })
		conventions()[validates].warnForeign(out, m, on, hub)
	case home.Func("SetDefaults_"+hub.Name) == nil:
		out.Add(m.Pos, "method %s of %s is not called by the server: write `func SetDefaults_%s(in *%s)` in package %s",
			m.Name, on.Name, hub.Name, model.TypeText(hub), home.Path)
	}
}
