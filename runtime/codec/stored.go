package codec

import (
	"bytes"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// store encodes an object as kube-apiserver reads it back from protobuf, with the version's defaults. Only an object
// with a null or an empty list changes on that way, so store spares all others. An empty map that is never omitted
// would change, too, but no kind of Kubernetes has one, and most have an empty struct, which looks the same in JSON.
func (c *typed[T, V]) store(obj T, gvk schema.GroupVersionKind, head string) ([]byte, error) {
	in, err := c.version(obj)
	if err != nil {
		return nil, err
	}
	data, err := encodeWhole(in, gvk, head)
	if err != nil || c.Proto.marshal == nil || !hasMember(data, `":null`) && !hasMember(data, `":[]`) {
		return data, err
	}
	message, err := c.Proto.marshal(in)
	if err != nil {
		return nil, err
	}
	out := c.New()
	if err := c.Proto.unmarshal(message, out); err != nil {
		return nil, err
	}
	if c.Default != nil {
		c.Default(out)
	}
	return encodeWhole(out, gvk, head)
}

// hasMember tells whether JSON without white space has a member that ends with end: the quote after its key, a colon
// and its value. It passes over JSON in a string, as kubectl puts it into an annotation, where the quote is escaped.
func hasMember(data []byte, end string) bool {
	for {
		at := bytes.Index(data, []byte(end))
		if at < 0 {
			return false
		}
		backslashes := at - len(bytes.TrimRight(data[:at], `\`))
		if backslashes%2 == 0 {
			return true
		}
		data = data[at+len(end):]
	}
}
