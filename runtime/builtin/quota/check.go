package quota

import (
	"fmt"
	"slices"
	"strings"

	"apigen.dev/runtime/admission"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// demand is what one write asks of the quotas of its namespace.
type demand struct {
	resource    schema.GroupResource
	measure     measure
	obj, old    any // old is nil for a creation
	subresource string
	limited     []LimitedResource
}

// newDemand returns what a creation or an update asks for, or nil where quota doesn't count it.
func newDemand(a *admission.Attributes, limited []LimitedResource) *demand {
	gr := a.Resource.GroupResource()
	obj := a.Object.Value()
	d := &demand{resource: gr, measure: measureOf(gr, obj), obj: obj, subresource: a.Subresource}
	if !d.measure.handles(a) {
		return nil
	}
	if a.Old != nil {
		d.old = a.Old.Value()
	}
	for _, l := range limited {
		if l.APIGroup == gr.Group && l.Resource == gr.Resource {
			d.limited = append(d.limited, l)
		}
	}
	return d
}

// charges returns what the write adds to the usage of each quota, or why it is refused. quotas are the present ones of
// the namespace; a quota that the write doesn't concern has no charge.
func (d *demand) charges(quotas []*core.ResourceQuota) (map[string]core.ResourceList, error) {
	usage := d.measure.usage(d.obj)
	for name, quantity := range usage {
		if quantity.Sign() < 0 {
			return nil, fmt.Errorf("quota usage is negative for resource(s): %s", name)
		}
	}
	charges := map[string]core.ResourceList{}
	var covered []core.ResourceName
	for _, quota := range quotas {
		names, err := d.concerns(quota, d.obj)
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			continue
		}
		covered = append(covered, names...)
		if err := d.measure.check(names, d.obj); err != nil {
			return nil, fmt.Errorf("failed quota: %s: %w", quota.Name, err)
		}
		if !counts(quota, names) {
			return nil, fmt.Errorf("status unknown for quota: %s, resources: %s", quota.Name, describeNames(names))
		}
		more, err := d.more(quota, usage)
		if err != nil {
			return nil, err
		}
		if more = mask(more, quota.Status.Hard); len(more) > 0 {
			charges[quota.Name] = more
		}
	}
	err := d.checkLimited(usage, covered)
	if err == nil {
		err = d.checkLimitedScopes(quotas)
	}
	if err != nil {
		return nil, err
	}
	for _, quota := range quotas {
		if err := d.fits(quota, charges[quota.Name]); err != nil {
			return nil, err
		}
	}
	return charges, nil
}

// more returns by how much the write raises the usage of a quota, which counts an old object only if its scopes have
// it.
func (d *demand) more(quota *core.ResourceQuota, usage core.ResourceList) (core.ResourceList, error) {
	if d.old == nil {
		return withoutZeros(usage), nil
	}
	names, err := d.concerns(quota, d.old)
	if err != nil || len(names) == 0 {
		return withoutZeros(usage), err
	}
	return growth(usage, d.measure.usage(d.old)), nil
}

// fits refuses a charge for which a quota has no room.
func (d *demand) fits(quota *core.ResourceQuota, charge core.ResourceList) error {
	if len(charge) == 0 || d.subresource == "status" {
		return nil // a status tells what is used already
	}
	used := clone(quota.Status.Used)
	add(used, charge)
	exceeded := exceeding(mask(used, charge), quota.Status.Hard)
	if len(exceeded) == 0 {
		return nil
	}
	return fmt.Errorf("exceeded quota: %s, requested: %s, used: %s, limited: %s", quota.Name,
		describe(mask(charge, exceeded)), describe(mask(quota.Status.Used, exceeded)), describe(exceeded))
}

// concerns returns the resources of a quota that an object uses, if the quota's scopes have it.
func (d *demand) concerns(quota *core.ResourceQuota, obj any) (names []core.ResourceName, err error) {
	for _, scope := range scopesOf(quota) {
		in, err := d.measure.inScope(scope, obj)
		if err != nil || !in {
			return nil, err
		}
	}
	for name := range quota.Status.Hard {
		if d.measure.tracks(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

func scopesOf(quota *core.ResourceQuota) (scopes []core.ScopedResourceSelectorRequirement) {
	for _, scope := range quota.Spec.Scopes {
		scopes = append(scopes, core.ScopedResourceSelectorRequirement{
			ScopeName: scope, Operator: core.ScopeSelectorOpExists,
		})
	}
	if selector := quota.Spec.ScopeSelector; selector != nil {
		scopes = append(scopes, selector.MatchExpressions...)
	}
	return scopes
}

// counts reports whether the status of a quota has the usage of resources.
func counts(quota *core.ResourceQuota, names []core.ResourceName) bool {
	for _, name := range names {
		if _, ok := quota.Status.Used[name]; !ok {
			return false
		}
	}
	return true
}

// checkLimited refuses an object that uses what only quotas allow, and no quota covers.
func (d *demand) checkLimited(usage core.ResourceList, covered []core.ResourceName) error {
	var bare []string
	for name, quantity := range usage {
		if quantity.Sign() <= 0 || slices.Contains(covered, name) || slices.Contains(bare, string(name)) {
			continue
		}
		for _, l := range d.limited {
			has := func(part string) bool { return strings.Contains(string(name), part) }
			if slices.ContainsFunc(l.MatchContains, has) {
				bare = append(bare, string(name))
				break
			}
		}
	}
	if len(bare) == 0 {
		return nil
	}
	slices.Sort(bare)
	return fmt.Errorf("insufficient quota to consume: %s", strings.Join(bare, ","))
}

// checkLimitedScopes refuses an object in a scope that only quotas allow, if no quota has that scope.
func (d *demand) checkLimitedScopes(quotas []*core.ResourceQuota) error {
	var bare []core.ScopedResourceSelectorRequirement
	for _, l := range d.limited {
		for _, scope := range l.MatchScopes {
			in, err := d.measure.inScope(scope, d.obj)
			if err != nil {
				return err
			}
			if in && !slices.ContainsFunc(quotas, func(q *core.ResourceQuota) bool { return d.hasScope(q, scope) }) {
				bare = append(bare, scope)
			}
		}
	}
	if len(bare) == 0 {
		return nil
	}
	return fmt.Errorf("insufficient quota to match these scopes: %v", bare)
}

// hasScope reports whether a quota has a scope of that name which has the object.
func (d *demand) hasScope(quota *core.ResourceQuota, scope core.ScopedResourceSelectorRequirement) bool {
	return slices.ContainsFunc(scopesOf(quota), func(s core.ScopedResourceSelectorRequirement) bool {
		in, err := d.measure.inScope(s, d.obj)
		return s.ScopeName == scope.ScopeName && in && err == nil
	})
}
