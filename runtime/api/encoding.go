package api

import "fmt"

// Encoding is how the bytes of a form are written. Values are stored in JSON, whatever clients speak.
type Encoding uint8

const (
	// JSON is the encoding that all others are made of.
	JSON Encoding = iota
	// CBOR is RFC 8949 as apimachinery writes it: byte strings, keys in deterministic order, no indefinite lengths.
	//
	// The Payload of a Rendition is a whole map without kind and apiVersion: an item of a list of shape Whole. Head is
	// two more members of that map, kind and apiVersion, encoded; it is empty for rows, which have neither. VersionAt
	// and VersionLen are set for rows alone. A hole is a text that is missing, with its length.
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

// String is for messages: version and shape, and the encoding where it isn't JSON.
func (f Form) String() string {
	if f.Encoding == JSON {
		return fmt.Sprintf("{%s %d}", f.Version, f.Shape)
	}
	return fmt.Sprintf("{%s %d %s}", f.Version, f.Shape, f.Encoding)
}
