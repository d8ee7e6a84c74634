package wire

import (
	"encoding/binary"
	"fmt"
)

// SelfDescribed is the head of the tag that encloses a CBOR document, a magic number.
const SelfDescribed = "\xd9\xd9\xf7"

// The major types of CBOR, in the high bits of an item's first byte.
const (
	majorUint  = 0 << 5
	majorInt   = 1 << 5
	majorBytes = 2 << 5
	majorText  = 3 << 5
	majorArray = 4 << 5
	majorMap   = 5 << 5
	majorTag   = 6 << 5
	majorOther = 7 << 5

	majorMask = 7 << 5
)

// maxDepth bounds the nesting of skipped items, as apimachinery's decoder does.
const maxDepth = 10000

// AppendMap appends the head of a map of n members, key and value each.
func AppendMap(b []byte, n int) []byte { return appendHead(b, majorMap, uint64(n)) }

// AppendArray appends the head of an array of n items.
func AppendArray(b []byte, n int) []byte { return appendHead(b, majorArray, uint64(n)) }

// AppendString appends a string as apimachinery does: as a byte string, which need not be valid UTF-8.
func AppendString(b []byte, s string) []byte {
	return append(AppendStringHead(b, len(s)), s...)
}

// AppendStringHead appends the head of a string of n bytes.
func AppendStringHead(b []byte, n int) []byte { return appendHead(b, majorBytes, uint64(n)) }

// ShortString returns the head of a string of at most 23 bytes, for a caller that writes the head after the string.
func ShortString(n int) byte { return majorBytes | byte(n) }

// AppendInt appends a whole number.
func AppendInt(b []byte, n int64) []byte {
	if n < 0 {
		return appendHead(b, majorInt, uint64(-(n + 1)))
	}
	return appendHead(b, majorUint, uint64(n))
}

// AppendBool appends true or false.
func AppendBool(b []byte, value bool) []byte {
	if value {
		return append(b, majorOther|21)
	}
	return append(b, majorOther|20)
}

// AppendNull appends null.
func AppendNull(b []byte) []byte { return append(b, majorOther|22) }

func appendHead(b []byte, major byte, n uint64) []byte {
	switch {
	case n < 24:
		return append(b, major|byte(n))
	case n < 1<<8:
		return append(b, major|24, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32(append(b, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, major|27), n)
}

// MapHead reads the head of a map of definite length. It returns the number of members, and the bytes behind the head.
func MapHead(data []byte) (members int, rest []byte, err error) {
	major, n, rest, err := head(data)
	switch {
	case err != nil:
		return 0, nil, err
	case major != majorMap:
		return 0, nil, fmt.Errorf("CBOR: a map was expected, not major type %d", major>>5)
	case n > uint64(len(rest))/2: // a member takes two bytes at least
		return 0, nil, errTruncated("a CBOR map")
	}
	return int(n), rest, nil
}

// Find finds a value in nested maps by the keys that lead to it, strings of either kind. The value is data[start:end],
// which is empty if there is none.
func Find(data []byte, path ...string) (start, end int, err error) {
	end = len(data)
	for _, key := range path {
		from, to, err := member(data[start:end], key)
		if err != nil || from == to {
			return 0, 0, err
		}
		start, end = start+from, start+to
	}
	return start, end, nil
}

func member(data []byte, key string) (start, end int, err error) {
	n, rest, err := MapHead(data)
	for ; n > 0 && err == nil; n-- {
		name, value, err := stringOf(rest)
		if err != nil {
			return 0, 0, err
		}
		size, err := skip(value, 0)
		if err != nil {
			return 0, 0, err
		}
		if start = len(data) - len(value); name == key {
			return start, start + size, nil
		}
		rest = value[size:]
	}
	return 0, 0, err
}

// String reads a string of either kind. data must have nothing else.
func String(data []byte) (string, error) {
	s, rest, err := stringOf(data)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("CBOR: %d bytes follow a string", len(rest))
	}
	return s, err
}

func stringOf(data []byte) (s string, rest []byte, err error) {
	n, rest, err := StringHead(data)
	if err != nil {
		return "", nil, err
	}
	return string(rest[:n]), rest[n:], nil
}

// StringHead reads the head of a string of either kind. It returns the length of the string, and the bytes behind the
// head, which has the whole string.
func StringHead(data []byte) (length int, rest []byte, err error) {
	major, n, rest, err := head(data)
	switch {
	case err != nil:
		return 0, nil, err
	case major != majorBytes && major != majorText:
		return 0, nil, fmt.Errorf("CBOR: a string was expected, not major type %d", major>>5)
	case n > uint64(len(rest)):
		return 0, nil, errTruncated("a CBOR string")
	}
	return int(n), rest, nil
}

// head reads the first bytes of an item. Indefinite lengths, which apimachinery doesn't write, are errors.
func head(data []byte) (major byte, n uint64, rest []byte, err error) {
	if len(data) == 0 {
		return 0, 0, nil, errTruncated("CBOR")
	}
	major, n, rest = data[0]&majorMask, uint64(data[0]&^majorMask), data[1:]
	if n < 24 {
		return major, n, rest, nil
	}
	size := 1 << (n - 24)
	if n > 27 {
		return 0, 0, nil, fmt.Errorf("CBOR: the item's head %#x is reserved or of indefinite length", data[0])
	}
	if len(rest) < size {
		return 0, 0, nil, errTruncated("CBOR")
	}
	n = 0
	for _, b := range rest[:size] {
		n = n<<8 | uint64(b)
	}
	return major, n, rest[size:], nil
}

func skip(data []byte, depth int) (int, error) {
	major, n, rest, err := head(data)
	if err != nil {
		return 0, err
	}
	if depth > maxDepth {
		return 0, fmt.Errorf("CBOR: nested deeper than %d", maxDepth)
	}
	items := uint64(0)
	switch major {
	case majorBytes, majorText:
		if n > uint64(len(rest)) {
			return 0, errTruncated("a CBOR string")
		}
		rest = rest[n:]
	case majorArray, majorMap:
		if n > uint64(len(rest)) {
			return 0, errTruncated("a CBOR collection")
		}
		items = n
		if major == majorMap {
			items = 2 * n
		}
	case majorTag:
		items = 1
	}
	for ; items > 0; items-- {
		end, err := skip(rest, depth+1)
		if err != nil {
			return 0, err
		}
		rest = rest[end:]
	}
	return len(data) - len(rest), nil
}
