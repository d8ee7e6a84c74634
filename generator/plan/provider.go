package plan

import (
	"strings"

	"apigen.dev/generator/model"
)

// Provided are the group's kinds without storage: Group takes a provider for each of them, in this order.
func Provided(g *model.Group) (kinds []*model.Resource) {
	for _, r := range g.Resources {
		if r.WithoutStorage() && len(r.Served()) > 0 {
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
