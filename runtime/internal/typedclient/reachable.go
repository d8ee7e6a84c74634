package typedclient

import (
	"fmt"

	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/reach"
)

// Reached is a resource whose objects the logic of other kinds can reach by their Go type.
type Reached interface {
	// AddObjects adds the objects of the resource. It fails if another resource has the same Go type.
	AddObjects(to *reach.Resources) error
}

// Reachable returns the objects of open resources by their Go types. Resources that share a store are added once.
func Reachable(handles []verb.Handle) (*reach.Resources, error) {
	all := new(reach.Resources)
	for _, h := range verb.Distinct(handles) {
		if r, ok := h.(Reached); ok {
			if err := r.AddObjects(all); err != nil {
				return nil, fmt.Errorf("%s: %w", h.Info().GroupResource(), err)
			}
		}
	}
	return all, nil
}
