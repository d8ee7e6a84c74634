package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/rendition"
	"apigen.dev/runtime/wire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
)

// Message is a type with methods for protobuf, as the types of k8s.io/api have them.
type Message interface {
	api.Object
	Size() int
	Marshal() ([]byte, error)
	Unmarshal(data []byte) error
}

// Proto encodes and decodes a version's type as Kubernetes protobuf. The zero value stands for a type that has none.
type Proto[V api.Object] struct {
	marshal   func(V) ([]byte, error)
	unmarshal func([]byte, V) error
}

// ProtoOf returns the Proto of a type that calls its methods.
func ProtoOf[V Message]() Proto[V] {
	return Proto[V]{
		marshal:   func(obj V) ([]byte, error) { return obj.Marshal() },
		unmarshal: func(data []byte, obj V) error { return obj.Unmarshal(data) },
	}
}

// read decodes data in another encoding than JSON. gvk supplies a kind or apiVersion that the data lacks.
func (c *typed[T, V]) read(encoding api.Encoding, data []byte, hub T, gvk schema.GroupVersionKind,
	strictly bool,
) (d Decoded[T], err error) {
	obj := c.New()
	switch {
	case encoding == api.CBOR:
		d.Strict, err = decodeCBOR(data, obj, gvk, strictly)
		d.GVK = obj.GetObjectKind().GroupVersionKind()
	case encoding == api.Protobuf && c.Proto.unmarshal != nil:
		var message []byte
		if message, d.GVK, err = wire.OpenEnvelope(data); err == nil {
			err = c.Proto.unmarshal(message, obj)
		}
	default:
		err = fmt.Errorf("it can't be read as %v", encoding)
	}
	if err != nil {
		return d, err
	}
	d.Object, err = c.toHub(obj, hub, true)
	return d, err
}

// write encodes an object in another encoding than JSON: the payload of its whole form.
func (c *typed[T, V]) write(encoding api.Encoding, obj T) ([]byte, error) {
	out, err := c.version(obj)
	switch {
	case err != nil:
		return nil, err
	case encoding == api.CBOR:
		return rendition.EncodeCBOR(out)
	case encoding == api.Protobuf && c.Proto.marshal != nil:
		return c.Proto.marshal(out)
	}
	return nil, fmt.Errorf("it can't be written as %v", encoding)
}

func decodeCBOR(data []byte, into runtime.Object, gvk schema.GroupVersionKind,
	strictly bool,
) (strict []error, err error) {
	kind := knownKind{gvk, into}
	_, _, err = cbor.NewSerializer(kind, kind, cbor.Strict(strictly)).Decode(data, &gvk, into)
	if found, ok := runtime.AsStrictDecodingError(err); ok {
		return found.Errors(), nil
	}
	return nil, err
}

// knownKind is a scheme of one object.
type knownKind struct {
	gvk    schema.GroupVersionKind
	object runtime.Object
}

func (k knownKind) ObjectKinds(runtime.Object) ([]schema.GroupVersionKind, bool, error) {
	return []schema.GroupVersionKind{k.gvk}, false, nil
}

func (k knownKind) Recognizes(schema.GroupVersionKind) bool { return true }

func (k knownKind) New(schema.GroupVersionKind) (runtime.Object, error) { return k.object, nil }

func (a *Versions[T]) bookmarkHub(revision int64, initialEnd bool) T {
	hub := a.NewHub()
	hub.SetResourceVersion(strconv.FormatInt(revision, 10))
	if initialEnd {
		hub.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	return hub
}

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

func (c *typed[T, V]) translate(message []byte, gvk schema.GroupVersionKind) ([]byte, error) {
	obj := c.New()
	if err := c.Proto.unmarshal(message, obj); err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return json.Marshal(obj)
}

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
