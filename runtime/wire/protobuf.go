package wire

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Magic is the beginning of a protobuf document of Kubernetes, as opposed to a message inside of a document.
const Magic = "k8s\x00"

// The numbers of fields that hold bytes, a string or a message.
const (
	// ListMetaField and ItemField are the fields of every list: its metadata, and one of its items.
	ListMetaField protowire.Number = 1
	ItemField     protowire.Number = 2
	// EventTypeField and EventObjectField are the fields of a metav1.WatchEvent. The object is a runtime.RawExtension,
	// whose only field is RawExtensionField.
	EventTypeField    protowire.Number = 1
	EventObjectField  protowire.Number = 2
	RawExtensionField protowire.Number = 1

	// The fields of runtime.Unknown, which is the envelope.
	typeMetaField        protowire.Number = 1
	rawField             protowire.Number = 2
	contentEncodingField protowire.Number = 3
	contentTypeField     protowire.Number = 4

	// The fields of the envelope's runtime.TypeMeta.
	apiVersionField protowire.Number = 1
	kindField       protowire.Number = 2
)

// envelopeTail is the fields behind the message: no content encoding, no content type.
var envelopeTail = string(AppendField(AppendField(nil, contentEncodingField, ""), contentTypeField, ""))

// EnvelopeHead returns the constant beginning of the envelope of a kind, through the field that names the kind.
func EnvelopeHead(kind, apiVersion string) string {
	var typeMeta []byte
	typeMeta = AppendField(typeMeta, apiVersionField, apiVersion)
	typeMeta = AppendField(typeMeta, kindField, kind)
	return string(AppendField([]byte(Magic), typeMetaField, typeMeta))
}

// EnvelopeSize returns the size of a message of n bytes in its envelope.
func EnvelopeSize(head string, n int) int { return len(head) + FieldSize(n) + len(envelopeTail) }

// AppendRawHead appends the bytes between the head of an envelope and its message of n bytes.
func AppendRawHead(b []byte, n int) []byte { return AppendFieldHead(b, rawField, n) }

// EnvelopeTail returns the bytes that follow the message in an envelope.
func EnvelopeTail() string { return envelopeTail }

// Enveloped returns a message in its envelope.
func Enveloped(head string, message []byte) []byte {
	b := make([]byte, 0, EnvelopeSize(head, len(message)))
	b = AppendRawHead(append(b, head...), len(message))
	return append(append(b, message...), envelopeTail...)
}

// OpenEnvelope finds the message in a protobuf document, and the kind that the document names.
func OpenEnvelope(data []byte) (message []byte, gvk schema.GroupVersionKind, err error) {
	inner, ok := bytes.CutPrefix(data, []byte(Magic))
	if !ok || len(inner) == 0 {
		return nil, gvk, fmt.Errorf("provided data does not appear to be a protobuf message, expected prefix %v",
			[]byte(Magic))
	}
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(inner); err != nil {
		return nil, gvk, err
	}
	return envelope.Raw, envelope.GroupVersionKind(), nil
}
