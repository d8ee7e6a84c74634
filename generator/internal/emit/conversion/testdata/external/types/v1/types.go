// +k8s:deepcopy-gen=package
// +groupName=external.example.com

// Package v1 has the versioned types, as k8s.io/api does.
package v1

import "k8s.io/apimachinery/pkg/runtime"

// SchemeBuilder is what functions are registered with.
var SchemeBuilder runtime.SchemeBuilder

// Door is converted in another package.
type Door struct {
	Name   string `json:"name"`
	Height *int32 `json:"height,omitempty"`
	Lock   Lock   `json:"lock"`
}

// Lock is converted by hand.
type Lock struct {
	Code string `json:"code"`
}

// +k8s:conversion-gen:explicit-from=net/url.Values

// DoorOptions are options.
type DoorOptions struct {
	Wide bool `json:"wide,omitempty"`
}
