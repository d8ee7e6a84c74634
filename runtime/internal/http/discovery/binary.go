package discovery

import (
	"net/http"
	"sync"

	"apigen.dev/runtime/internal/http/encoder"
	"apigen.dev/runtime/internal/http/negotiation"
	"apigen.dev/runtime/internal/http/respond"
	"apigen.dev/runtime/internal/jsondoc"
	"apigen.dev/runtime/internal/object/wire"
	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// encoded is a document in JSON and in binary forms. Each is made when a client first asks for it: where many
// definitions come one after the other, nobody reads most of the documents.
type encoded struct {
	text   func() hashed
	binary [negotiation.FormatCount]func() ([]byte, error)
}

// hashed is a document in JSON, and the hash of that.
type hashed struct {
	data []byte
	hash string
}

func hashOf(data []byte) hashed { return hashed{data, jsondoc.HashOf(data)} }

func newEncoded(text func() hashed, protobuf func() ([]byte, error)) *encoded {
	e := &encoded{text: sync.OnceValue(text)}
	e.binary[negotiation.CBOR] = sync.OnceValues(func() ([]byte, error) { return encoder.JSONToCBOR(e.text().data) })
	e.binary[negotiation.Protobuf] = sync.OnceValues(protobuf)
	return e
}

func encodedMessage(object func() encoder.Message) *encoded {
	object = sync.OnceValue(object)
	return newEncoded(func() hashed { return hashOf(toJSON(object())) },
		func() ([]byte, error) { return encoder.Envelope(object()) })
}

func (e *encoded) write(
	w http.ResponseWriter, r *http.Request, media negotiation.MediaType, contentType string,
) (err error) {
	var data []byte
	if binary := e.binary[media.Format]; binary == nil {
		data = e.text().data
	} else if data, err = binary(); err != nil {
		return err
	}
	return respond.Bytes(w, r, media, contentType, data)
}

// aggregatedProtobuf encodes an APIGroupDiscoveryList of either version. Apimachinery doesn't have its types: metadata
// is field 1, an item is field 2.
func aggregatedProtobuf(apiVersion string, items []groupDiscovery) ([]byte, error) {
	var out protobufFields
	out.message(1, &metav1.ListMeta{})
	for i := range items {
		out.nested(2, items[i].fields())
	}
	return wire.Enveloped(wire.EnvelopeHead(aggregatedKind, apiVersion), out.data), out.err
}

func (g *groupDiscovery) fields() (out protobufFields) {
	out.message(1, &metav1.ObjectMeta{Name: g.Metadata.Name})
	for i := range g.Versions {
		out.nested(2, g.Versions[i].fields())
	}
	return out
}

func (v *versionDiscovery) fields() (out protobufFields) {
	out.texts(1, v.Version)
	for i := range v.Resources {
		out.nested(2, v.Resources[i].fields())
	}
	out.texts(3, v.Freshness)
	return out
}

func (r *resourceDiscovery) fields() (out protobufFields) {
	out.texts(1, r.Resource)
	out.message(2, &r.ResponseKind)
	out.texts(3, string(r.Scope))
	out.texts(4, r.SingularResource)
	out.texts(5, r.Verbs...)
	out.texts(6, r.ShortNames...)
	out.texts(7, r.Categories...)
	for i := range r.Subresources {
		out.nested(8, r.Subresources[i].fields())
	}
	return out
}

func (s *subresourceDiscovery) fields() (out protobufFields) {
	out.texts(1, s.Subresource)
	out.message(2, &s.ResponseKind)
	out.texts(4, s.Verbs...)
	return out
}

// protobufFields are the encoded fields of a message.
type protobufFields struct {
	data []byte
	err  error
}

func (f *protobufFields) texts(number protowire.Number, values ...string) {
	for _, value := range values {
		f.data = wire.AppendField(f.data, number, value)
	}
}

func (f *protobufFields) nested(number protowire.Number, inner protobufFields) {
	if f.err == nil {
		f.err = inner.err
	}
	f.texts(number, string(inner.data))
}

func (f *protobufFields) message(number protowire.Number, m interface{ Marshal() ([]byte, error) }) {
	data, err := m.Marshal()
	f.nested(number, protobufFields{data, err})
}
