package verb

import (
	"fmt"
	"strconv"
	"time"

	"apigen.dev/runtime/internal/deflate"
)

// Shape says what of an object a rendition shows.
type Shape uint8

const (
	// Whole is the object itself.
	Whole Shape = iota
	// Metadata is the object as meta.k8s.io/v1 PartialObjectMetadata.
	Metadata
	// Row is the object as a meta.k8s.io/v1 TableRow without an object.
	Row
	// RowWithMetadata is a TableRow that carries PartialObjectMetadata, what kubectl gets.
	RowWithMetadata
	// RowWithObject is a TableRow that carries the whole object.
	RowWithObject

	// V1beta1 marks what is of meta.k8s.io/v1beta1 instead, as old clients ask for it: Metadata | V1beta1.
	V1beta1 Shape = 1 << 7
)

// Plain is the shape without the mark V1beta1.
func (s Shape) Plain() Shape { return s &^ V1beta1 }

// Form is one way to write an object: a version, a shape and an encoding.
type Form struct {
	Version  string // the key of a version: see Info.Key
	Shape    Shape
	Encoding Encoding
}

// Rendition is one object in one form, as bytes. It is immutable and shared: whoever holds it must not write to it.
//
// A single object, or the object of a watch event, is written as "{" + Head + Payload. An item of a list whose shape is
// Whole is written as "{" + Payload, since items of a typed list carry neither kind nor apiVersion; in every other
// shape an item is written with its head. This is so in JSON; what the two are in other encodings stands there.
type Rendition struct {
	// Head is the constant beginning of the form behind the brace, with a trailing comma if it is not empty:
	// "kind":"Widget","apiVersion":"shop.example.com/v1", in the shape Whole.
	Head string
	// Payload is the rest, through the closing brace.
	Payload []byte
	// VersionAt and VersionLen delimit the digits of metadata.resourceVersion in Payload, so that the same bytes can
	// be restamped with another revision. VersionLen 0 means that the payload has none.
	VersionAt, VersionLen uint32
	// Holes are the ages in a row, filled when it is written; in ascending order of At, one in a text.
	Holes []Hole
}

// Version returns the resourceVersion in the payload, and false where that has none.
func (r *Rendition) Version() (int64, bool) {
	if r.VersionLen == 0 {
		return 0, false
	}
	version, err := strconv.ParseInt(string(r.Payload[r.VersionAt:r.VersionAt+r.VersionLen]), 10, 64)
	return version, err == nil
}

// Block is one or more objects in one form, joined as a list in JSON has them. A comma stands before each object, the
// first one included. A Block is immutable and shared, as renditions are.
type Block struct {
	Data []byte
	// Holes are the ages in the block, in ascending order. A hole at At+i belongs to Data[i].
	Holes []Hole
	At    uint32
}

// Part is one or more items of a page, one after the other as a list has them, without what stands between it and other
// parts. It is immutable and shared.
type Part struct {
	Compressed *deflate.Block // nil: the items are in Plain
	Plain      []byte
}

// Len is the number of bytes before compression.
func (p Part) Len() int {
	if p.Compressed != nil {
		return p.Compressed.Len()
	}
	return len(p.Plain)
}

// Hole is a place in a row's payload where an age goes: within a text, which is whole without the age.
type Hole struct {
	At uint32
	// Within is the number of bytes from the beginning of the text, its head included, to At. It is for encodings whose
	// texts begin with their length: JSON has 0.
	Within uint32
	Since  time.Time // zero: <unknown>
}

// Encoding is how the bytes of a form are written. Values are stored in JSON or in protobuf, whatever clients speak.
type Encoding uint8

const (
	// JSON is the encoding that every kind has.
	JSON Encoding = iota
	// CBOR is RFC 8949 as apimachinery writes it: byte strings, keys in deterministic order, no indefinite lengths.
	//
	// The Payload of a Rendition is a whole map without kind and apiVersion: an item of a list of shape Whole. Head is
	// two more members of that map, kind and apiVersion, encoded; it is empty for rows, which have neither. VersionAt
	// and VersionLen are set for rows alone. Who fills a hole writes a longer length before its text.
	CBOR
	// Protobuf is Kubernetes protobuf: for the shape Metadata of every kind, and for the shape Whole where
	// VersionInfo.Protobuf says so. There is no message for rows.
	//
	// The Payload of a Rendition is the object's message, as it stands in a list. Head is what precedes it, where it
	// stands alone: the four bytes that all such data begin with, and the field of a runtime.Unknown that tells kind
	// and apiVersion. VersionAt and VersionLen are not set.
	Protobuf
)

var encodingNames = [...]string{JSON: "JSON", CBOR: "CBOR", Protobuf: "protobuf"}

// String names the encoding.
func (e Encoding) String() string {
	if int(e) < len(encodingNames) {
		return encodingNames[e]
	}
	return fmt.Sprintf("encoding %d", uint8(e))
}

// String is for messages: version and shape, and the encoding if it isn't JSON.
func (f Form) String() string {
	if f.Encoding == JSON {
		return fmt.Sprintf("{%s %d}", f.Version, f.Shape)
	}
	return fmt.Sprintf("{%s %d %s}", f.Version, f.Shape, f.Encoding)
}
