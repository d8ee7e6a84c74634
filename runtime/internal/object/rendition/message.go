package rendition

import (
	"bytes"
	"fmt"
	"strconv"

	"apigen.dev/runtime/internal/object/wire"
	"apigen.dev/runtime/internal/verb"
	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The fields of metadata in a Kubernetes object, and those of metadata that this package knows.
const (
	metadataField protowire.Number = 1
	versionField  protowire.Number = 6
	managedField  protowire.Number = 17
	// messageField is the field of an object's message in its envelope.
	messageField protowire.Number = 2
)

// IsMessage reports whether a rendition is a whole object in protobuf, or its metadata: its head is that of an
// envelope.
func IsMessage(r verb.Rendition) bool { return wire.IsEnvelope(r.Head) }

// InProtobuf reports whether a whole object is in protobuf.
func InProtobuf(object []byte) bool { return wire.IsEnvelope(object) }

func newMessage(object []byte, head string) (verb.Rendition, error) {
	message, ok := wire.CutEnvelope(object, head)
	if !ok || len(object) > maxRenditionLen {
		return verb.Rendition{}, fmt.Errorf("not a protobuf object of the kind of an acceptable size (%d bytes)",
			len(object))
	}
	return verb.Rendition{Head: head, Payload: message}, nil
}

// CanStamp reports whether Stamp sets the resourceVersion in messages of a type: plain is the message of an object
// without a resourceVersion, stamped that of the same object with revision.
func CanStamp(plain, stamped []byte, revision int64) bool {
	got := stampMessage(verb.Rendition{Payload: plain}, strconv.AppendInt(nil, revision, 10))
	return bytes.Equal(got.Payload, stamped) && !bytes.Equal(plain, stamped)
}

// stampMessage returns a copy of r with a resourceVersion in the place of that in its message. The metadata of
// apimachinery always has that field, also if it is empty.
func stampMessage(r verb.Rendition, version []byte) verb.Rendition {
	old, ok := wire.FindBytes(r.Payload, metadataField, versionField)
	if !ok {
		return r
	}
	if payload, ok := wire.ReplaceBytes(r.Payload, old, version, metadataField, versionField); ok {
		r.Payload = payload
	}
	return r
}

func isStoredMessage(r verb.Rendition, stored []byte) bool {
	message, ok := wire.CutEnvelope(stored, r.Head)
	if !ok {
		return false
	}
	version, ok := wire.FindBytes(message, metadataField, versionField)
	return ok && len(version) == 0 && wire.EqualBut(r.Payload, message, metadataField, versionField)
}

// metadataOfMessage is MetadataIn for a whole object in protobuf.
func metadataOfMessage(encoding verb.Encoding, object verb.Rendition, shape verb.Shape) (m verb.Rendition, err error) {
	metadata, ok := wire.FindBytes(object.Payload, metadataField)
	if !ok {
		return m, errNoMetadata
	}
	alone := wire.AppendField(nil, metadataField, metadata)
	if encoding == verb.Protobuf {
		return verb.Rendition{Head: metadataHead(encoding, shape), Payload: alone}, nil
	}
	var partial metav1.PartialObjectMetadata
	if err := partial.Unmarshal(alone); err != nil {
		return m, err
	}
	return encodeMetadata(encoding, &partial, shape)
}

// EqualButManagedFields reports whether two stored forms have managedFields, and are equal apart from them.
func EqualButManagedFields(a, b []byte) bool {
	if wire.IsEnvelope(a) && wire.IsEnvelope(b) {
		return wire.EqualBut(a[len(wire.Magic):], b[len(wire.Magic):], messageField, metadataField, managedField)
	}
	startA, endA, okA := MetadataMember(a, 1, ManagedFieldsKey)
	startB, endB, okB := MetadataMember(b, 1, ManagedFieldsKey)
	return okA && okB && bytes.Equal(a[:startA], b[:startB]) && bytes.Equal(a[endA:], b[endB:])
}

// EqualButMetadata reports whether two stored forms in protobuf are equal apart from their metadata.
func EqualButMetadata(a, b []byte) bool {
	return wire.IsEnvelope(a) && wire.IsEnvelope(b) &&
		wire.EqualBut(a[len(wire.Magic):], b[len(wire.Magic):], messageField, metadataField)
}
