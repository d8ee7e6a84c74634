package endpoint

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"apigen.dev/runtime/wire"
	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// binaryForms are a document in the encodings that aren't text, each made when it is first asked for.
type binaryForms [formatCBOR + 1]func() ([]byte, error)

// newBinary takes the document in JSON, and how it becomes protobuf.
func newBinary(data []byte, protobuf func(data []byte) ([]byte, error)) binaryForms {
	return binaryForms{
		formatCBOR:     sync.OnceValues(func() ([]byte, error) { return jsonToCBOR(data) }),
		formatProtobuf: sync.OnceValues(func() ([]byte, error) { return protobuf(data) }),
	}
}

// in is the document in a format; data is it in JSON.
func (b *binaryForms) in(f format, data []byte) ([]byte, error) {
	if b[f] == nil {
		return data, nil
	}
	return b[f]()
}

// legacyFormats are those of legacy discovery. CBOR is none of them, as in kube-apiserver: client-go's discovery client
// accepts it where clients are told to prefer it, and can't read it.
func legacyFormats(f format, as transform) bool { return f != formatCBOR && as == transform{} }

// addBinaries lets all of discovery be had in all formats that negotiation allows.
func addBinaries(documents map[string]document) {
	for _, d := range documents {
		switch d := d.(type) {
		case *legacyDocument:
			d.binary = newBinary(d.data, legacyAsProtobuf)
		case *rootDocument:
			d.binary = newBinary(d.data, legacyAsProtobuf)
			for version, aggregated := range d.aggregated {
				aggregated.binary = newBinary(aggregated.data, aggregatedAsProtobuf)
				d.aggregated[version] = aggregated
			}
		}
	}
}

// legacyAsProtobuf reads a document of one level, and writes it by its type's own methods.
func legacyAsProtobuf(data []byte) ([]byte, error) {
	var kind metav1.TypeMeta
	if err := json.Unmarshal(data, &kind); err != nil {
		return nil, err
	}
	known := map[string]message{
		"APIVersions": &metav1.APIVersions{}, "APIGroupList": &metav1.APIGroupList{},
		"APIGroup": &metav1.APIGroup{}, "APIResourceList": &metav1.APIResourceList{},
	}
	object := known[kind.Kind]
	if object == nil {
		return nil, statusError(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable, fmt.Sprintf("there is no protobuf of %s", kind.Kind))
	}
	if err := json.Unmarshal(data, object); err != nil {
		return nil, err
	}
	return enveloped(object)
}

// aggregatedAsProtobuf writes an APIGroupDiscoveryList of either version, whose types apimachinery doesn't have: metadata
// is field 1, an item field 2.
func aggregatedAsProtobuf(data []byte) ([]byte, error) {
	var list struct {
		metav1.TypeMeta `json:",inline"`
		Items           []groupDiscovery
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, err
	}
	var out protoFields
	out.message(1, &metav1.ListMeta{})
	for i := range list.Items {
		out.nested(2, list.Items[i].fields())
	}
	return wire.Enveloped(wire.EnvelopeHead(list.Kind, list.APIVersion), out.data), out.err
}

func (g *groupDiscovery) fields() (out protoFields) {
	out.message(1, &metav1.ObjectMeta{Name: g.Metadata.Name})
	for i := range g.Versions {
		out.nested(2, g.Versions[i].fields())
	}
	return out
}

func (v *versionDiscovery) fields() (out protoFields) {
	out.texts(1, v.Version)
	for i := range v.Resources {
		out.nested(2, v.Resources[i].fields())
	}
	out.texts(3, v.Freshness)
	return out
}

func (r *resourceDiscovery) fields() (out protoFields) {
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

func (s *subresourceDiscovery) fields() (out protoFields) {
	out.texts(1, s.Subresource)
	out.message(2, &s.ResponseKind)
	out.texts(4, s.Verbs...)
	return out
}

// protoFields are those of a message that is being written.
type protoFields struct {
	data []byte
	err  error
}

func (f *protoFields) texts(number protowire.Number, values ...string) {
	for _, value := range values {
		f.data = wire.AppendField(f.data, number, value)
	}
}

func (f *protoFields) nested(number protowire.Number, inner protoFields) {
	if f.err == nil {
		f.err = inner.err
	}
	f.texts(number, string(inner.data))
}

func (f *protoFields) message(number protowire.Number, m interface{ Marshal() ([]byte, error) }) {
	data, err := m.Marshal()
	f.nested(number, protoFields{data, err})
}
