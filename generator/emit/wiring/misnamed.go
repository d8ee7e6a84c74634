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
			if name == "ValidateDelete" {
				out.Add(m.Pos, "method ValidateDelete of %s is not called by the server: nothing of a kind validates its deletion; an admission policy or webhook can", r.Hub.Name)
			} else {
				out.Add(m.Pos, "method %s of %s is not called by the server: write %s", name, r.Hub.Name, strings.NewReplacer("_T", "_"+r.Hub.Name, "*T", "*"+r.Hub.Name).Replace(instead))
			}
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

func isConvention(name string) bool {
	return slices.ContainsFunc(conventions(), func(c convention) bool { return c.name == name })
}
