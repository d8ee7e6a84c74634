package rendition

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"apigen.dev/runtime/internal/object/wire"
	"apigen.dev/runtime/internal/verb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	kjson "sigs.k8s.io/json"
)

// Head returns the head of a whole object in an encoding.
func Head(encoding verb.Encoding, kind, apiVersion string) string {
	switch encoding {
	case verb.CBOR:
		var head []byte
		for _, s := range []string{"kind", kind, "apiVersion", apiVersion} {
			head = wire.AppendString(head, s)
		}
		return string(head)
	case verb.Protobuf:
		return wire.EnvelopeHead(kind, apiVersion)
	}
	return jsonHead(kind, apiVersion)
}

const metadataKind = "PartialObjectMetadata"

// metadataHeads are the heads of the shape Metadata; oldMetadataHeads those in the version that old clients ask for.
var metadataHeads, oldMetadataHeads = metadataHeadsIn("meta.k8s.io/v1"), metadataHeadsIn("meta.k8s.io/v1beta1")

func metadataHeadsIn(apiVersion string) [3]string {
	return [...]string{
		verb.JSON:     Head(verb.JSON, metadataKind, apiVersion),
		verb.CBOR:     Head(verb.CBOR, metadataKind, apiVersion),
		verb.Protobuf: Head(verb.Protobuf, metadataKind, apiVersion),
	}
}

func metadataHead(encoding verb.Encoding, shape verb.Shape) string {
	if shape != shape.Plain() {
		return oldMetadataHeads[encoding]
	}
	return metadataHeads[encoding]
}

// jsonHead is the constant beginning of a form behind the brace.
func jsonHead(kind, apiVersion string) string {
	return `"kind":` + strconv.Quote(kind) + `,"apiVersion":` + strconv.Quote(apiVersion) + `,`
}

// MetadataIn returns the metadata of a whole object, in JSON or in protobuf, in an encoding.
func MetadataIn(encoding verb.Encoding, object verb.Rendition, shape verb.Shape) (m verb.Rendition, err error) {
	if IsMessage(object) {
		return metadataOfMessage(encoding, object, shape)
	}
	plain, err := Metadata(object, shape)
	if err != nil || encoding == verb.JSON {
		return plain, err
	}
	var partial metav1.PartialObjectMetadata
	if err := kjson.UnmarshalCaseSensitivePreserveInts(append([]byte{'{'}, plain.Payload...), &partial); err != nil {
		return m, err
	}
	return encodeMetadata(encoding, &partial, shape)
}

func encodeMetadata(
	encoding verb.Encoding, partial *metav1.PartialObjectMetadata, shape verb.Shape,
) (m verb.Rendition, err error) {
	switch encoding {
	case verb.JSON:
		var data []byte
		if data, err = json.Marshal(partial); err == nil {
			m, err = New(data, "")
		}
	case verb.CBOR:
		m.Payload, err = EncodeCBOR(partial)
	case verb.Protobuf:
		m.Payload, err = partial.Marshal()
	default:
		err = fmt.Errorf("metadata can't be written as %v", encoding)
	}
	m.Head = metadataHead(encoding, shape)
	return m, err
}

// EncodeCBOR encodes an object as a map, without kind and apiVersion.
func EncodeCBOR(obj runtime.Object) ([]byte, error) {
	var value any = obj
	if u, ok := obj.(runtime.Unstructured); ok {
		content := make(map[string]any)
		for key, member := range u.UnstructuredContent() {
			if key != "kind" && key != "apiVersion" {
				content[key] = member
			}
		}
		value = content
	}
	data, err := direct.Marshal(value)
	if err != nil {
		return nil, err
	}
	if _, _, err := wire.MapHead(data); err != nil {
		return nil, fmt.Errorf("%T isn't written as a map: %w", obj, err)
	}
	return data, nil
}

// ManagedFieldsKey is the key of managedFields in metadata.
const ManagedFieldsKey = "managedFields"

// CutManagedFields returns the whole object of r without its managedFields, and their value. They are the larger part
// of many objects, expensive to decode and to encode, and the same in all versions. It returns false if they aren't
// the last of several members of the metadata, as encoding/json writes them.
func CutManagedFields(r verb.Rendition) (object, managed []byte, ok bool) {
	start, end, found := Member(r.Payload, 0, MetadataKey)
	if !found || r.Payload[start] != '{' {
		return nil, nil, false
	}
	before, last := start, start // the ends of the last two members
	Members(r.Payload, start+1, func(key []byte, valueStart, valueEnd int) bool {
		before, last = last, valueEnd
		managed = nil
		if string(key) == ManagedFieldsKey {
			managed = r.Payload[valueStart:valueEnd]
		}
		return true
	})
	if managed == nil || before == start || last != end-1 {
		return nil, nil, false
	}
	object = make([]byte, 0, 1+len(r.Head)+len(r.Payload)-(last-before))
	object = append(object, '{')
	object = append(object, r.Head...)
	object = append(object, r.Payload[:before]...)
	return append(object, r.Payload[last:]...), managed, true
}

// InsertManagedFields inserts managedFields where encoding/json would write them. It returns false for an object that
// already has some, or has no other metadata.
func InsertManagedFields(r verb.Rendition, managed []byte) (verb.Rendition, bool) {
	start, end, found := Member(r.Payload, 0, MetadataKey)
	if !found || r.Payload[start] != '{' {
		return r, false
	}
	at := 0
	whole := Members(r.Payload, start+1, func(key []byte, _, valueEnd int) bool {
		if at = valueEnd; string(key) == ManagedFieldsKey {
			at = 0
		}
		return at > 0
	})
	if !whole || at != end-1 {
		return r, false
	}
	r.Payload = slices.Concat(r.Payload[:at], []byte(`,"`+ManagedFieldsKey+`":`), managed, r.Payload[at:])
	return r, true
}
