package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Magic begins every protobuf document of Kubernetes that stands alone.
const Magic = "k8s\x00"

// The fields of runtime.Unknown, of lists and of watch events, all of them bytes.
const (
	typeMetaField        = 1<<3 | 2
	rawField             = 2<<3 | 2
	contentEncodingField = 3<<3 | 2
	contentTypeField     = 4<<3 | 2

	// ListMetaField and ItemField are those of every list: its metadata, and one of its items.
	ListMetaField = 1<<3 | 2
	ItemField     = 2<<3 | 2
	// EventTypeField and EventObjectField are those of a metav1.WatchEvent; RawExtensionField is that of the
	// runtime.RawExtension that the latter is.
	EventTypeField    = 1<<3 | 2
	EventObjectField  = 2<<3 | 2
	RawExtensionField = 1<<3 | 2
)

// envelopeTail are the fields behind the message: no content encoding, no content type.
const envelopeTail = string(rune(contentEncodingField)) + "\x00" + string(rune(contentTypeField)) + "\x00"

// EnvelopeHead is the constant beginning of the envelope of a kind, through the field that names it.
func EnvelopeHead(kind, apiVersion string) string {
	var typeMeta []byte
	typeMeta = AppendField(typeMeta, 1<<3|2, apiVersion)
	typeMeta = AppendField(typeMeta, 2<<3|2, kind)
	return string(AppendField([]byte(Magic), typeMetaField, string(typeMeta)))
}

// EnvelopeSize is the size of a message of n bytes in its envelope.
func EnvelopeSize(head string, n int) int { return len(head) + FieldSize(n) + len(envelopeTail) }

// AppendRawHead appends what stands between the head of an envelope and its message of n bytes.
func AppendRawHead(b []byte, n int) []byte { return AppendFieldHead(b, rawField, n) }

// EnvelopeTail is what follows the message.
func EnvelopeTail() string { return envelopeTail }

// Enveloped is a message in its envelope.
func Enveloped(head string, message []byte) []byte {
	b := make([]byte, 0, EnvelopeSize(head, len(message)))
	b = AppendRawHead(append(b, head...), len(message))
	return append(append(b, message...), envelopeTail...)
}

// OpenEnvelope finds the message in a protobuf document, and what it says it is.
func OpenEnvelope(data []byte) (message []byte, gvk schema.GroupVersionKind, err error) {
	inner, ok := bytes.CutPrefix(data, []byte(Magic))
	if !ok || len(inner) == 0 {
		return nil, gvk, fmt.Errorf("provided data does not appear to be a protobuf message, expected prefix %v", []byte(Magic))
	}
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(inner); err != nil {
		return nil, gvk, err
	}
	return envelope.Raw, envelope.GroupVersionKind(), nil
}

// AppendField appends a field of bytes.
func AppendField(b []byte, tag byte, value string) []byte {
	return append(AppendFieldHead(b, tag, len(value)), value...)
}

// AppendFieldHead appends what precedes the n bytes of a field.
func AppendFieldHead(b []byte, tag byte, n int) []byte {
	return binary.AppendUvarint(append(b, tag), uint64(n))
}

// FieldSize is the size of a field of n bytes, with its head.
func FieldSize(n int) int { return 1 + (bits.Len64(uint64(n)|1)+6)/7 + n }
