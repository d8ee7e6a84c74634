package registry

import "apigen.dev/runtime/api"

// List is a page of typed objects, as a Provider returns it.
type List[T api.Object] struct {
	Items           []T
	ResourceVersion string
	Continue        string
	Remaining       *int64
}

// WatchEvent is a change of a typed object, as a Provider tells it. A bookmark's object has metadata only.
type WatchEvent[T api.Object] struct {
	Type   api.EventType
	Object T
	// Old is the object before the change, where the Provider knows it.
	Old T
}
