package wiring

import (
	"maps"
	"slices"
	"strings"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/model"
	"apigen.dev/generator/spelling"
)

// webhookMethods are those of controller-runtime's webhooks, and what takes their places. ValidateUpdate is a name of ours,
// too.
var webhookMethods = map[string]string{
	"ValidateCreate": "func (in *T) Validate(ctx context.Context) field.ErrorList",
	"ValidateDelete": "",
	"Default":        "func SetDefaults_T(in *T), or +default on its fields",
}

// warnMisnamed finds methods of the hub that nobody calls: those that a webhook would have, and those that are nearly
// called like one that the server calls.
func warnMisnamed(out *emit.Errors, r *model.Resource) {
	for _, name := range slices.Sorted(maps.Keys(r.Hub.Methods)) {
		m := r.Hub.Methods[name]
		if instead, ok := webhookMethods[name]; ok {
			warnWebhook(out, m, r.Hub, instead)
			continue
		}
		for _, c := range conventionsOf(r) {
			if spelling.Misspelt(name, c.name) && r.Hub.Methods[c.name] == nil && !isConvention(name) && c.fits(m, r.Hub) {
				out.Add(m.Pos, "method %s of %s is not called by the server: it is called %s there", name, r.Hub.Name, c.name)
				break
			}
		}
	}
}

// warnWebhook says what takes the place of a webhook's method.
func warnWebhook(out *emit.Errors, m *model.Func, hub *model.Type, instead string) {
	home := hub.Package.ServedBy
	switch {
	case m.Name == "ValidateDelete":
		out.Add(m.Pos, "method ValidateDelete of %s is not called by the server: nothing of a kind validates its deletion; an admission policy or webhook can", hub.Name)
	case home == nil:
		out.Add(m.Pos, "method %s of %s is not called by the server: write %s", m.Name, hub.Name, strings.NewReplacer("_T", "_"+hub.Name, "*T", "*"+hub.Name).Replace(instead))
	case m.Name == "ValidateCreate":
		validates := slices.IndexFunc(conventions(), func(c convention) bool { return c.name == "Validate" })
		conventions()[validates].warnForeign(out, m, hub)
	case home.Func("SetDefaults_"+hub.Name) == nil:
		out.Add(m.Pos, "method %s of %s is not called by the server: write `func SetDefaults_%s(in *%s)` in package %s", m.Name, hub.Name, hub.Name, typeText(hub), home.Path)
	}
}

func isConvention(name string) bool {
	return slices.ContainsFunc(conventions(), func(c convention) bool { return c.name == name })
}
