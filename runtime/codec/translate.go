package codec

import (
	"encoding/json"
	"fmt"

	"apigen.dev/runtime/wire"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Translate translates an object that is stored in Kubernetes protobuf to JSON, in the same version. kube-apiserver
// stores its own kinds in protobuf.
func (a *Versions[T]) Translate(data []byte) ([]byte, error) {
	message, gvk, err := wire.OpenEnvelope(data)
	if err != nil {
		return nil, err
	}
	apiVersion, kind := gvk.ToAPIVersionAndKind()
	v, err := a.called(kind, apiVersion)
	if err != nil {
		return nil, err
	}
	if !v.codec.hasProtobuf() {
		return nil, fmt.Errorf("it is stored as Kubernetes protobuf, which the Go type of %s can't be read from: "+
			"it has no methods Size, Marshal and Unmarshal", gvk)
	}
	return v.codec.translate(message, v.GVK)
}

// translate translates a message to JSON, without defaults.
func (c *typed[T, V]) translate(message []byte, gvk schema.GroupVersionKind) ([]byte, error) {
	obj := c.New()
	if err := c.Proto.unmarshal(message, obj); err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return json.Marshal(obj)
}
