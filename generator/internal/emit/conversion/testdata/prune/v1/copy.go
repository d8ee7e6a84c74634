package v1

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime"
)

// DeepCopyObject is written by hand, since one emitter alone writes into this folder.
func (in *Rack) DeepCopyObject() runtime.Object {
	data, err := json.Marshal(in)
	if err != nil {
		panic(err)
	}
	out := new(Rack)
	if err := json.Unmarshal(data, out); err != nil {
		panic(err)
	}
	return out
}
