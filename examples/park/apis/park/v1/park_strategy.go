package v1

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PrepareForCreate sets a field that clients can't set.
func (p *Park) PrepareForCreate(_ context.Context) {
	p.Spec.PlantedBy = "the city"
}

// PrepareForUpdate keeps the field that clients can't set.
func (p *Park) PrepareForUpdate(_ context.Context, old *Park) {
	p.Spec.PlantedBy = old.Spec.PlantedBy
}

// Validate checks a rule that markers can't express.
func (p *Park) Validate(_ context.Context) field.ErrorList {
	const most = 2000 // trees on a hectare
	if area := p.Spec.AreaHectares; area > 0 && float64(p.Spec.Trees) > area*most {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "trees"), p.Spec.Trees, "must leave room to walk")}
	}
	return nil
}

// ValidateUpdate rejects updates that cut trees.
func (p *Park) ValidateUpdate(_ context.Context, old *Park) field.ErrorList {
	if p.Spec.Trees < old.Spec.Trees {
		return field.ErrorList{field.Forbidden(field.NewPath("spec", "trees"), "trees must not be cut")}
	}
	return nil
}

// Canonicalize sorts the paths, so that the same park is always stored as the same bytes.
func (p *Park) Canonicalize() {
	slices.SortFunc(p.Spec.Paths, func(a, b Path) int { return strings.Compare(a.Name, b.Name) })
}

// Warnings returns a warning for a valid but odd park.
func (p *Park) Warnings(_ context.Context, _ *Park) []string {
	if p.Spec.Trees == 0 {
		return []string{fmt.Sprintf("park %s has no trees", p.Name)}
	}
	return nil
}
