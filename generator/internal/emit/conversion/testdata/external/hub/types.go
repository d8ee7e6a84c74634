// +k8s:deepcopy-gen=package
// +groupName=external.example.com

// Package hub has the internal types.
package hub

// Door is the internal type.
type Door struct {
	Name   string
	Height int32
	Lock   Lock
}

// Lock is converted by hand.
type Lock struct {
	Digits []byte
}

// DoorOptions are options.
type DoorOptions struct {
	Wide bool
}
