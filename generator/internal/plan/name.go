package plan

import (
	"strings"

	"apigen.dev/generator/internal/model"
)

// Func names a function of a package, which is written by hand or in this run.
type Func struct{ Path, Name string }

func (f Func) String() string { return f.Path + "." + f.Name }

// The functions of a group's wiring package that return its OpenAPI documents.
const (
	// OpenAPIFunc returns the OpenAPI v3 document of each version, by its name.
	OpenAPIFunc = "openAPI"
	// SwaggerFunc returns the OpenAPI v2 document of all versions.
	SwaggerFunc = "swagger"
)

func (t *planner) spokes(typ *model.Type) bool {
	return typ.Package != nil && typ.Package.Path == t.Types.Path
}

// WithoutStorage are the group's kinds without storage: Group takes a provider for each of them, in this order.
func WithoutStorage(g *model.Group) (kinds []*model.Resource) {
	for _, r := range g.Resources {
		if r.WithoutStorage && len(r.Served()) > 0 {
			kinds = append(kinds, r)
		}
	}
	return kinds
}

// ProviderName is the name of the interface that answers for a kind, in the group's wiring.
func ProviderName(r *model.Resource) string { return r.Kind + "Provider" }

// ProviderParameter is the name of the parameter that takes it.
func ProviderParameter(r *model.Resource) string {
	return strings.ToLower(r.Kind[:1]) + r.Kind[1:] + "Provider"
}
