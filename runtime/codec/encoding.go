package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/object/wire"
	"apigen.dev/runtime/internal/verb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	kjson "sigs.k8s.io/json"
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
func (c *typed[T, V]) read(encoding verb.Encoding, data []byte, hub T, gvk schema.GroupVersionKind,
	strictly bool,
) (d Decoded[T], err error) {
	obj := c.New()
	var asJSON []byte
	switch {
	case encoding == verb.CBOR:
		if d.Strict, err = decodeCBOR(data, obj, gvk, strictly); err == nil && c.form() != nil {
			asJSON, obj, err = c.likeJSON(data, obj)
		}
		d.GVK = obj.GetObjectKind().GroupVersionKind()
	case encoding == verb.Protobuf && c.Proto.unmarshal != nil:
		var message []byte
		if message, d.GVK, err = wire.OpenEnvelope(data); err == nil {
			err = c.Proto.unmarshal(message, obj)
			c.form().FillLists(obj)
		}
	default:
		err = fmt.Errorf("it can't be read as %v", encoding)
	}
	if err == nil {
		err = c.checkNumbers(obj)
	}
	if err != nil {
		return d, err
	}
	d.Object, err = c.toHub(obj, hub, asJSON, true)
	return d, err
}

// likeJSON returns the JSON of CBOR, and the object that was decoded of it. Where there is null, that is decoded anew,
// of the JSON: intstr.IntOrString takes null in CBOR for a text.
func (c *typed[T, V]) likeJSON(data []byte, obj V) ([]byte, V, error) {
	asJSON, err := jsonOfCBOR(data)
	if err == nil && bytes.Contains(asJSON, []byte("null")) {
		gvk := obj.GetObjectKind().GroupVersionKind()
		obj = c.New()
		_, err = c.unmarshal(c.form().Decodable(asJSON), obj, false)
		obj.GetObjectKind().SetGroupVersionKind(gvk)
	}
	return asJSON, obj, err
}

func jsonOfCBOR(data []byte) ([]byte, error) {
	var object map[string]any
	if err := direct.Unmarshal(data, &object); err != nil {
		return nil, err
	}
	return json.Marshal(object)
}

// write encodes an object in another encoding than JSON: the payload of its whole form.
func (c *typed[T, V]) write(encoding verb.Encoding, obj T) ([]byte, error) {
	out, err := c.version(obj)
	switch {
	case err != nil:
		return nil, err
	case encoding == verb.CBOR && c.form().Differs(out):
		return c.writeFormed(out)
	case encoding == verb.CBOR:
		return rendition.EncodeCBOR(out)
	case encoding == verb.Protobuf && c.Proto.marshal != nil:
		return c.message(out)
	}
	return nil, fmt.Errorf("it can't be written as %v", encoding)
}

// message encodes an object as a message in protobuf, which has no zero values that a client sent.
func (c *typed[T, V]) message(obj V) ([]byte, error) {
	link := obj.GetSelfLink()
	obj.SetSelfLink("")
	data, err := c.Proto.marshal(obj)
	obj.SetSelfLink(link)
	return data, err
}

// writeFormed encodes what the JSON of an object has as CBOR.
func (c *typed[T, V]) writeFormed(obj V) ([]byte, error) {
	data, err := c.marshal(obj)
	if err != nil {
		return nil, err
	}
	var u unstructured.Unstructured
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &u.Object); err != nil {
		return nil, err
	}
	return rendition.EncodeCBOR(&u)
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
