package resolve

import (
	"slices"

	"apigen.dev/generator/internal/model"
)

// linkSame connects resources with those of other groups that have the same objects.
func (b *groupBuilder) linkSame(groups []*model.Group) {
	for _, g := range groups {
		for _, r := range g.Resources {
			for _, rv := range r.Versions {
				if ref := rv.Type.Kind.SameAs; ref != nil {
					b.linkTo(groups, g, r, *ref)
				}
			}
		}
	}
}

// linkTo makes a resource that of the objects of another one.
func (b *groupBuilder) linkTo(groups []*model.Group, g *model.Group, r *model.Resource, ref model.Ref) {
	const marker = "marker \"+apigen:sameAs\""
	of := resourceNamed(groups, ref)
	switch {
	case of == nil:
		b.errorf(ref.Pos, "%s: package %s has no kind %s that is served: name a package of an API group, or the one "+
			"that serves it with +apigen:serve", marker, ref.Path, ref.Name)
	case of.Group == g:
		b.errorf(ref.Pos, "%s: %s is a kind of the same group %q: one kind has several versions there, and no marker",
			marker, ref.Name, g.Name)
	case r.SameAs != nil && r.SameAs.Resource != of.Resource:
		b.errorf(ref.Pos, "%s: kind %s is the same as %s of group %q here, and as another one in another version",
			marker, r.Kind, of.Kind, of.Group.Name)
	case of.Versions[0].Type.Kind.SameAs != nil:
		b.errorf(ref.Pos, "%s: %s of group %q is itself the same as %s: name that kind", marker, of.Kind,
			of.Group.Name, of.Versions[0].Type.Kind.SameAs.Name)
	case of.WithoutStorage || r.WithoutStorage:
		b.errorf(ref.Pos, "%s: nothing is stored of kinds marked +apigen:storage=none, so that two can't have the "+
			"same objects", marker)
	case of.ClusterScoped != r.ClusterScoped:
		b.errorf(ref.Pos, "%s: kind %s is %s, but %s of group %q is %s", marker, r.Kind, scopeName(r.ClusterScoped),
			of.Kind, of.Group.Name, scopeName(of.ClusterScoped))
	case slices.ContainsFunc(r.Versions, func(v model.ResourceVersion) bool { return v.Type.Kind.StorageVersion }):
		b.errorf(ref.Pos, "%s: kind %s is stored in a version of %s in group %q: remove +kubebuilder:storageversion",
			marker, r.Kind, of.Kind, of.Group.Name)
	case r.StoragePrefix != "":
		b.errorf(ref.Pos, "%s: kind %s is stored where %s of group %q is: put +apigen:storagePrefix there", marker,
			r.Kind, of.Kind, of.Group.Name)
	default:
		r.SameAs, r.Hub, r.Storage, r.StoragePrefix, r.Status = of, of.Hub, of.Storage, of.Prefix(), of.Status
	}
}

// resourceNamed finds the resource of a kind, by the package of one of its versions or the one that serves it.
func resourceNamed(groups []*model.Group, ref model.Ref) *model.GroupResource {
	for _, g := range groups {
		for _, r := range g.Resources {
			if r.Kind == ref.Name && slices.ContainsFunc(r.Versions, func(v model.ResourceVersion) bool {
				return v.Type.Package.Path == ref.Path || v.Type.Package.Home().Path == ref.Path
			}) {
				return &model.GroupResource{Resource: r, Group: g}
			}
		}
	}
	return nil
}
