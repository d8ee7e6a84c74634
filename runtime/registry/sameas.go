package registry

import (
	"fmt"

	"apigen.dev/runtime/api"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// StoredResource names the resource of another group whose objects a resource has.
type StoredResource struct{ Group, Kind, Plural string }

// NewSameAs returns a Resource of the objects of another group's resource, whose T is the same. Both are opened with
// one Config.Shared, and then have one store. The definition's Storage, StoragePrefix and Scope are those of that
// resource; Storage isn't one of its Versions.
func NewSameAs[T api.Object](d Definition[T], stored StoredResource) Resource {
	definition, info := describe(d)
	of := *info
	of.Group, of.Names = stored.Group, api.Names{Kind: stored.Kind, Plural: stored.Plural}
	info.SameAs = &of
	return &resource[T]{definition: definition, info: info}
}

// Shared are the stores of resources, some of which have the same objects. It isn't safe for concurrent use.
type Shared struct {
	// stores are of type *sharing[T], by the resource that is stored.
	stores map[schema.GroupResource]any
}

// NewShared returns the stores of resources, which are opened with the resources.
func NewShared(resources []Resource) *Shared {
	s := &Shared{stores: map[schema.GroupResource]any{}}
	for _, same := range []bool{false, true} { // the stored resources first
		for _, r := range resources {
			if j, ok := r.(interface{ join(s *Shared) }); ok && (r.Info().SameAs != nil) == same {
				j.join(s)
			}
		}
	}
	return s
}

func (r *resource[T]) join(s *Shared) {
	if r.info.SameAs == nil {
		s.stores[r.info.GroupResource()] = &sharing[T]{stored: r.definition, info: r.info}
	} else if known, ok := s.stores[r.info.SameAs.GroupResource()].(*sharing[T]); ok {
		known.also = append(known.also, r.definition)
	}
}

// sharing returns the definitions that share the store of a resource.
func (r *resource[T]) sharing(config Config) (*sharing[T], error) {
	name := r.info.Stored().GroupResource()
	var found any
	if config.Shared != nil {
		found = config.Shared.stores[name]
	}
	known, ok := found.(*sharing[T])
	switch {
	case ok:
		return known, nil
	case r.info.SameAs == nil:
		return &sharing[T]{stored: r.definition, info: r.info}, nil
	case found == nil:
		return nil, fmt.Errorf("%s has the objects of %s, which the server lacks: add the group %q to its groups",
			r.info.GroupResource(), name, name.Group)
	}
	return nil, fmt.Errorf("%s has the objects of %s, whose Go type is another one", r.info.GroupResource(), name)
}
