package wire

import (
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

// AppendInt32 appends a field that is an int32.
func AppendInt32(b []byte, number byte, value int32) []byte {
	return binary.AppendUvarint(append(b, number<<3|varintType), uint64(int64(value)))
}

// AppendBytes appends a field of bytes.
func AppendBytes(b []byte, number byte, value []byte) []byte {
	return append(AppendFieldHead(b, number<<3|bytesType, len(value)), value...)
}
