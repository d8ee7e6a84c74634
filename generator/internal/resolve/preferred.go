package resolve

import (
	"fmt"
	"slices"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
)

// prefer puts the group's preferred version first, in the group and in its resources.
func (b *groupBuilder) prefer(g *model.Group) {
	first := b.markedPreferred(g)
	if first == nil {
		first = storedVersion(g)
	}
	rank := func(v *model.Version) int {
		if v == first {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(g.Versions, func(x, y *model.Version) int { return rank(x) - rank(y) })
	for _, r := range g.Resources {
		slices.SortStableFunc(r.Versions, func(x, y model.ResourceVersion) int {
			return rank(x.Version) - rank(y.Version)
		})
	}
}

// markedPreferred returns the version that is marked +apigen:preferred, or nil.
func (b *groupBuilder) markedPreferred(g *model.Group) *model.Version {
	var marked *model.Version
	served := g.ServedVersions()
	for _, v := range g.Versions {
		i := slices.IndexFunc(v.Packages, func(p *model.Package) bool { return p.Home().Preferred })
		if i < 0 {
			continue
		}
		home := v.Packages[i].Home()
		fault := func(format string, args ...any) {
			b.marked(home, diag.Errors{{Pos: home.PreferredPos, Message: fmt.Sprintf(format, args...)}})
		}
		switch {
		case !slices.Contains(served, v):
			fault("version %s of group %q is marked +apigen:preferred, and no kind is served in it: serve one, or "+
				"remove the marker", v.Name, g.Name)
		case marked != nil:
			fault("group %q has two preferred versions, %s and %s: put +apigen:preferred on one", g.Name, marked.Name,
				v.Name)
		default:
			marked = v
		}
	}
	return marked
}

// storedVersion returns the version that clients get where the author marked none: the first by priority whose kinds
// are all stored in it, so that a client that names no version works with what is stored. It returns the first by
// priority where the kinds contradict each other.
func storedVersion(g *model.Group) *model.Version {
	served := g.ServedVersions()
	for _, v := range served {
		if !slices.ContainsFunc(g.Resources, func(r *model.Resource) bool { return storedElsewhere(r, v) }) {
			return v
		}
	}
	return g.Versions[0]
}

// storedElsewhere reports whether a resource is served in a version and stored in another one.
func storedElsewhere(r *model.Resource, v *model.Version) bool {
	return !r.WithoutStorage && r.Storage != v &&
		slices.ContainsFunc(r.Served(), func(rv model.ResourceVersion) bool { return rv.Version == v })
}
