package rendition

import (
	"strconv"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/wire"
)

// Head returns the head of a whole object in an encoding.
func Head(encoding api.Encoding, kind, apiVersion string) string {
	switch encoding {
	case api.CBOR:
		var head []byte
		for _, s := range []string{"kind", kind, "apiVersion", apiVersion} {
			head = wire.AppendString(head, s)
		}
		return string(head)
	case api.Protobuf:
		return wire.EnvelopeHead(kind, apiVersion)
	}
	return jsonHead(kind, apiVersion)
}

// metadataKind is the kind of the shape Metadata.
const metadataKind = "PartialObjectMetadata"

// metadataHeads are its heads; oldMetadataHeads those in the version that old clients ask for.
var metadataHeads, oldMetadataHeads = metadataHeadsIn("meta.k8s.io/v1"), metadataHeadsIn("meta.k8s.io/v1beta1")

func metadataHeadsIn(apiVersion string) [3]string {
	return [...]string{
		api.JSON:     Head(api.JSON, metadataKind, apiVersion),
		api.CBOR:     Head(api.CBOR, metadataKind, apiVersion),
		api.Protobuf: Head(api.Protobuf, metadataKind, apiVersion),
	}
}

func metadataHead(encoding api.Encoding, shape api.Shape) string {
	if shape != shape.Plain() {
		return oldMetadataHeads[encoding]
	}
	return metadataHeads[encoding]
}

// jsonHead is the constant beginning of a form behind the brace.
func jsonHead(kind, apiVersion string) string {
	return `"kind":` + strconv.Quote(kind) + `,"apiVersion":` + strconv.Quote(apiVersion) + `,`
}
