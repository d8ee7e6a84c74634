package model

import "slices"

// Served returns the resource's versions that clients may ask for, in order of priority: all but those marked
// +kubebuilder:unservedversion.
func (r *Resource) Served() []ResourceVersion {
	unserved := func(v ResourceVersion) bool { return v.Type.Kind != nil && v.Type.Kind.Unserved }
	return slices.DeleteFunc(slices.Clone(r.Versions), unserved)
}

// ServedVersions returns the group's versions with anything to serve, in order of priority.
func (g *Group) ServedVersions() []*Version {
	served := map[*Version]bool{}
	for _, r := range g.Resources {
		for _, v := range r.Served() {
			served[v.Version] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(g.Versions), func(v *Version) bool { return !served[v] })
}

// Wired returns the groups that have wiring: those with a home for it, in a module that requires the runtime, with
// something to serve.
func (p *Program) Wired() []*Group {
	if !p.RuntimeAvailable {
		return nil
	}
	var out []*Group
	for _, g := range p.Groups {
		if g.Wiring != nil && len(g.ServedVersions()) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// InGroup reports whether the package of that path is a version of an API group, or one's internal package.
func (p *Program) InGroup(path string) bool {
	for _, g := range p.Groups {
		if g.Internal != nil && g.Internal.Path == path {
			return true
		}
		for _, v := range g.Versions {
			if v.Package.Path == path || v.Package.Home().Path == path {
				return true
			}
		}
	}
	return false
}
