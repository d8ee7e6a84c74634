package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// The types of fields in a protobuf message, which are the last three bits of their tags.
const (
	varintType  = 0
	fixed64Type = 1
	bytesType   = 2
	fixed32Type = 5
	maxField    = 1<<29 - 1
)

// Field is one of a message: Varint where that is its type, Bytes where it is bytes, a string or a message. What has
// another type has neither.
type Field struct {
	Number uint64
	Varint uint64
	Bytes  []byte
}

// EachField calls visit with the fields of a message, in their order; Bytes share memory with it. It ends with the first
// error, visit's or that of data which is no message.
func EachField(message []byte, visit func(Field) error) error {
	for len(message) > 0 {
		f, rest, err := nextField(message)
		if err != nil {
			return err
		}
		if err := visit(f); err != nil {
			return err
		}
		message = rest
	}
	return nil
}

func nextField(data []byte) (f Field, rest []byte, err error) {
	tag, n := binary.Uvarint(data)
	if n <= 0 {
		return f, nil, errTruncated("the tag of a field")
	}
	data = data[n:]
	if f.Number = tag >> 3; f.Number == 0 || f.Number > maxField {
		return f, nil, fmt.Errorf("no field has the number %d", f.Number)
	}
	var size uint64
	switch tag & 7 {
	case varintType:
		if f.Varint, n = binary.Uvarint(data); n <= 0 {
			return f, nil, errTruncated("a number")
		}
		return f, data[n:], nil
	case fixed64Type:
		size = 8
	case fixed32Type:
		size = 4
	case bytesType:
		if size, n = binary.Uvarint(data); n <= 0 {
			return f, nil, errTruncated("the length of a field")
		}
		data = data[n:]
	default:
		return f, nil, fmt.Errorf("field %d is of the type %d, which is none", f.Number, tag&7)
	}
	if size > uint64(len(data)) {
		return f, nil, errTruncated("a field")
	}
	if tag&7 == bytesType {
		f.Bytes = data[:size:size]
	}
	return f, data[size:], nil
}

// ReplaceBytes is a message with other bytes in a field of a message within it, which the numbers of path lead to; false
// where there is no such field, or it isn't old. Of fields that stand twice the first one counts.
func ReplaceBytes(message, old, replacement []byte, path ...uint64) ([]byte, bool) {
	for at := message; len(at) > 0; {
		f, rest, err := nextField(at)
		if err != nil {
			return nil, false
		}
		if f.Number != path[0] || f.Bytes == nil {
			at = rest
			continue
		}
		inner, ok := replacement, bytes.Equal(f.Bytes, old)
		if len(path) > 1 {
			inner, ok = ReplaceBytes(f.Bytes, old, replacement, path[1:]...)
		}
		if !ok {
			return nil, false
		}
		out := make([]byte, 0, len(message)+len(inner)-len(f.Bytes)+binary.MaxVarintLen32)
		out = append(out, message[:len(message)-len(at)]...)
		out = binary.AppendUvarint(out, f.Number<<3|bytesType)
		out = binary.AppendUvarint(out, uint64(len(inner)))
		return append(append(out, inner...), rest...), true
	}
	return nil, false
}

// AppendInt32 appends a field that is an int32.
func AppendInt32(b []byte, number byte, value int32) []byte {
	return binary.AppendUvarint(append(b, number<<3|varintType), uint64(int64(value)))
}

// AppendBytes appends a field of bytes.
func AppendBytes(b []byte, number byte, value []byte) []byte {
	return append(AppendFieldHead(b, number<<3|bytesType, len(value)), value...)
}
