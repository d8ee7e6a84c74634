package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Field is one field of a protobuf message. Varint is set if the field is a varint, Bytes if it is bytes, a
// string or a message; neither is set for the other types.
type Field struct {
	Number protowire.Number
	Varint uint64
	Bytes  []byte
}

// EachField calls visit with the fields of a message, in their order. Bytes share memory with the message. It ends with
// the first error, that of visit or that of data which is not a message.
func EachField(message []byte, visit func(Field) error) error {
	for len(message) > 0 {
		f, n, err := consumeField(message)
		if err != nil {
			return err
		}
		if err := visit(f); err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}

func consumeField(data []byte) (f Field, size int, err error) {
	number, typ, head := protowire.ConsumeTag(data)
	switch {
	case head < 0:
		return f, 0, fmt.Errorf("the tag of a field: %w", protowire.ParseError(head))
	case !number.IsValid():
		return f, 0, fmt.Errorf("no field has the number %d", number)
	}
	f.Number = number
	var n int
	switch typ {
	case protowire.VarintType:
		f.Varint, n = protowire.ConsumeVarint(data[head:])
	case protowire.BytesType:
		f.Bytes, n = protowire.ConsumeBytes(data[head:])
		f.Bytes = f.Bytes[:len(f.Bytes):len(f.Bytes)]
	case protowire.Fixed32Type, protowire.Fixed64Type:
		n = protowire.ConsumeFieldValue(number, typ, data[head:])
	default: // Kubernetes' messages have no groups
		return f, 0, fmt.Errorf("field %d has the type %d, which no message of Kubernetes has", number, typ)
	}
	if n < 0 {
		return f, 0, fmt.Errorf("field %d: %w", number, protowire.ParseError(n))
	}
	return f, head + n, nil
}

// ReplaceBytes returns a message with other bytes in a field of a message within it, to which the numbers of path lead.
// It returns false if there is no such field, or the field doesn't hold old. Of several fields with one number it
// takes the first.
func ReplaceBytes(message, old, replacement []byte, path ...protowire.Number) ([]byte, bool) {
	for at := message; len(at) > 0; {
		f, n, err := consumeField(at)
		if err != nil {
			return nil, false
		}
		if f.Number != path[0] || f.Bytes == nil {
			at = at[n:]
			continue
		}
		inner, ok := replacement, bytes.Equal(f.Bytes, old)
		if len(path) > 1 {
			inner, ok = ReplaceBytes(f.Bytes, old, replacement, path[1:]...)
		}
		if !ok {
			return nil, false
		}
		out := make([]byte, 0, len(message)+len(inner)-len(f.Bytes)+binary.MaxVarintLen32) // the length may grow
		out = append(out, message[:len(message)-len(at)]...)
		return append(AppendField(out, f.Number, inner), at[n:]...), true
	}
	return nil, false
}

// FindBytes returns the bytes of the first field to which the numbers of path lead, through messages within message.
func FindBytes(message []byte, path ...protowire.Number) (value []byte, ok bool) {
	for len(message) > 0 {
		f, n, err := consumeField(message)
		switch {
		case err != nil:
			return nil, false
		case f.Number != path[0] || f.Bytes == nil:
			message = message[n:]
		case len(path) > 1:
			return FindBytes(f.Bytes, path[1:]...)
		default:
			return f.Bytes, true
		}
	}
	return nil, false
}

// EqualBut reports whether two messages are equal, apart from the fields to which the numbers of path lead: either may
// have any number of them, with any values. It returns false for what is not a message.
func EqualBut(a, b []byte, path ...protowire.Number) bool {
	for {
		f, m, okA := nextBut(&a, path)
		g, n, okB := nextBut(&b, path)
		switch {
		case !okA || !okB:
			return false
		case m == 0 || n == 0:
			return m == n
		case f.Number != path[0] || g.Number != path[0] || f.Bytes == nil || g.Bytes == nil:
			if !bytes.Equal(a[:m], b[:n]) {
				return false
			}
		case !EqualBut(f.Bytes, g.Bytes, path[1:]...):
			return false
		}
		a, b = a[m:], b[n:]
	}
}

// nextBut passes over the fields that a path of one number leads to, and returns the field behind them and its size, 0
// at the end.
func nextBut(message *[]byte, path []protowire.Number) (f Field, size int, ok bool) {
	for len(*message) > 0 {
		f, size, err := consumeField(*message)
		if err != nil {
			return f, 0, false
		}
		if len(path) > 1 || f.Number != path[0] {
			return f, size, true
		}
		*message = (*message)[size:]
	}
	return f, 0, true
}

// AppendField appends a field that holds bytes, a string or a message.
func AppendField[B string | []byte](b []byte, number protowire.Number, value B) []byte {
	return append(AppendFieldHead(b, number, len(value)), value...)
}

// AppendFieldHead appends the tag and the length of a field that holds n bytes. It uses encoding/binary's varints,
// which are protobuf's: appending them costs a quarter of protowire.AppendVarint.
func AppendFieldHead(b []byte, number protowire.Number, n int) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, protowire.EncodeTag(number, protowire.BytesType)), uint64(n))
}

// AppendInt32 appends a field that is an int32.
func AppendInt32(b []byte, number protowire.Number, value int32) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), uint64(int64(value)))
}

// FieldSize returns the size of a field that holds n bytes, with its tag and its length. Its number is at most 15, as
// all numbers in lists, events and envelopes are.
func FieldSize(n int) int { return 1 + protowire.SizeBytes(n) }

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

// CutEnvelope returns the message in an envelope that begins with head, as Enveloped writes it. The message shares
// memory with data. It returns false for every other envelope, which OpenEnvelope may be able to read.
func CutEnvelope(data []byte, head string) (message []byte, ok bool) {
	rest, ok := bytes.CutPrefix(data, []byte(head))
	if !ok {
		return nil, false
	}
	if rest, ok = bytes.CutSuffix(rest, []byte(envelopeTail)); !ok {
		return nil, false
	}
	f, n, err := consumeField(rest)
	return f.Bytes, err == nil && n == len(rest) && f.Number == rawField && f.Bytes != nil
}

// IsEnvelope reports whether data begins as a protobuf document of Kubernetes does.
func IsEnvelope[B string | []byte](data B) bool {
	return len(data) >= len(Magic) && string(data[:len(Magic)]) == Magic
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
