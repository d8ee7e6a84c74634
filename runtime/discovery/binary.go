package discovery

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"apigen.dev/runtime/encoder"
	"apigen.dev/runtime/negotiation"
	"apigen.dev/runtime/wire"
	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// binaryForms are the encodings of a document that aren't text. Each is made when a client first asks for it.
type binaryForms [negotiation.FormatCount]func() ([]byte, error)

// newBinaryForms takes the document in JSON, and the function that converts it to protobuf.
func newBinaryForms(data []byte, protobuf func(data []byte) ([]byte, error)) binaryForms {
	return binaryForms{
		negotiation.CBOR:     sync.OnceValues(func() ([]byte, error) { return encoder.JSONToCBOR(data) }),
		negotiation.Protobuf: sync.OnceValues(func() ([]byte, error) { return protobuf(data) }),
	}
}

// encoded returns the document in a format; data is the document in JSON, which is also the source of YAML.
func (b *binaryForms) encoded(f negotiation.Format, data []byte) ([]byte, error) {
	if b[f] == nil {
		return data, nil
	}
	return b[f]()
}

// addBinaryForms adds the binary forms to all documents of discovery.
func addBinaryForms(documents map[string]document) {
	for _, d := range documents {
		switch d := d.(type) {
		case *legacyDocument:
			d.binary = newBinaryForms(d.data, legacyAsProtobuf)
		case *rootDocument:
			d.binary = newBinaryForms(d.data, legacyAsProtobuf)
			for version, aggregated := range d.aggregated {
				aggregated.binary = newBinaryForms(aggregated.data, aggregatedAsProtobuf)
				d.aggregated[version] = aggregated
			}
		}
	}
}

// legacyAsProtobuf decodes a document of legacy discovery, and encodes it by the methods of its type.
func legacyAsProtobuf(data []byte) ([]byte, error) {
	var kind metav1.TypeMeta
	if err := json.Unmarshal(data, &kind); err != nil {
		return nil, err
	}
	known := map[string]encoder.Message{
		"APIVersions": &metav1.APIVersions{}, "APIGroupList": &metav1.APIGroupList{},
		"APIGroup": &metav1.APIGroup{}, "APIResourceList": &metav1.APIResourceList{},
	}
	object := known[kind.Kind]
	if object == nil {
		return nil, negotiation.NewError(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
			fmt.Sprintf("there is no protobuf of %s", kind.Kind))
	}
	if err := json.Unmarshal(data, object); err != nil {
		return nil, err
	}
	return encoder.Envelope(object)
}

// aggregatedAsProtobuf encodes an APIGroupDiscoveryList of either version. Apimachinery doesn't have its types:
// metadata is field 1, an item is field 2.
func aggregatedAsProtobuf(data []byte) ([]byte, error) {
	var list struct {
		metav1.TypeMeta `json:",inline"`
		Items           []groupDiscovery
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, err
	}
	var out protobufFields
	out.message(1, &metav1.ListMeta{})
	for i := range list.Items {
		out.nested(2, list.Items[i].fields())
	}
	return wire.Enveloped(wire.EnvelopeHead(list.Kind, list.APIVersion), out.data), out.err
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
