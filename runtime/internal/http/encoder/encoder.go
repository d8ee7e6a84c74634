// Package encoder writes the bodies of answers from renditions: objects, lists, Tables and the events of watches, in
// JSON, CBOR and Kubernetes protobuf, and lists in YAML. It copies the bytes of renditions and decodes nothing. Into
// Tables it writes ages, which depend on the time.
//
// It may know packages api, verb and wire, and nothing of HTTP.
package encoder

import (
	"encoding/json"
	"sync"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/wire"
	"apigen.dev/runtime/internal/verb"
	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// Encoder writes the answers of resources in one encoding. An Encoder has no state.
type Encoder interface {
	// Object writes one object, or a Table of one row.
	Object(f *Frame, heads *Heads, shape verb.Shape, object *verb.Rendition, now time.Time)
	// Page writes a list, or a Table.
	Page(f *Frame, heads *Heads, shape verb.Shape, page *verb.Page, now time.Time)
	// Event writes an event of a watch. first reports whether it is the first event of the stream: only the first Table
	// of a stream has column definitions.
	Event(f *Frame, heads *Heads, shape verb.Shape, event *verb.Event, first bool, now time.Time)
	// Failure writes the event that ends a stream with an error.
	Failure(f *Frame, status *metav1.Status)
}

// For returns the Encoder of an encoding.
func For(encoding verb.Encoding) Encoder { return encoders[encoding] }

var encoders = [...]Encoder{verb.JSON: jsonEncoder{}, verb.CBOR: cborEncoder{}, verb.Protobuf: protobufEncoder{}}

// Heads are the constant beginnings of the answers of a resource in one version.
type Heads struct {
	// jsonList opens a list, through the opening brace of its metadata.
	jsonList string
	// cborList holds the members kind and apiVersion of a list.
	cborList string
	// jsonColumns and cborColumns return the value of a Table's columnDefinitions.
	jsonColumns, cborColumns func() string
	// protobufList is the head of a list's envelope.
	protobufList string
	// itemHeads reports whether the items of a list have kind and apiVersion, which in JSON are not in their heads
	// then.
	itemHeads bool
}

// WithItemHeads returns heads of lists whose items have kind and apiVersion.
func (h *Heads) WithItemHeads() *Heads {
	other := *h
	other.itemHeads = true
	return &other
}

// saysEnd reports whether lists have an empty continue if nothing follows. As in kube-apiserver, those of custom
// resources have it, whose continue is set whatever it is (UnstructuredList.SetContinue of apimachinery).
func (h *Heads) saysEnd(shape verb.Shape) bool { return h.itemHeads && shape.Plain() == verb.Whole }

// NewHeads returns the heads of a resource whose lists have this kind and apiVersion. Without columns, a Table has the
// columns name and age.
func NewHeads(listKind, apiVersion string, columns []api.Column) *Heads {
	encoded := func(marshal func(any) ([]byte, error)) func() string {
		return sync.OnceValue(func() string {
			text, _ := marshal(tableColumns(columns)) // column definitions can always be encoded
			return string(text)
		})
	}
	return &Heads{
		jsonList: jsonHead(listKind, apiVersion), jsonColumns: encoded(json.Marshal),
		cborList: cborKind(listKind, apiVersion), cborColumns: encoded(direct.Marshal),
		protobufList: wire.EnvelopeHead(listKind, apiVersion),
	}
}

// jsonHead opens a list or a Table, through the opening brace of its metadata.
func jsonHead(kind, apiVersion string) string {
	return `{"kind":` + quoted(kind) + `,"apiVersion":` + quoted(apiVersion) + `,"metadata":{`
}

// transformHeads are the beginnings of Tables and of lists of PartialObjectMetadata.
type transformHeads struct {
	jsonTable, jsonPartialList string
	// The members kind and apiVersion.
	cborTable, cborPartialList string
	protobufPartialList        listLayout
}

// Old clients ask for the kinds of meta.k8s.io/v1beta1, in which the fields of a PartialObjectMetadataList have each
// other's numbers.
var (
	headsV1      = newTransformHeads("meta.k8s.io/v1", wire.ListMetaField, wire.ItemField)
	headsV1beta1 = newTransformHeads("meta.k8s.io/v1beta1", wire.ItemField, wire.ListMetaField)
)

func newTransformHeads(apiVersion string, metadataField, itemField protowire.Number) *transformHeads {
	const table, partialList = "Table", "PartialObjectMetadataList"
	return &transformHeads{
		jsonTable: jsonHead(table, apiVersion), jsonPartialList: jsonHead(partialList, apiVersion),
		cborTable: cborKind(table, apiVersion), cborPartialList: cborKind(partialList, apiVersion),
		protobufPartialList: listLayout{wire.EnvelopeHead(partialList, apiVersion), metadataField, itemField},
	}
}

func headsOf(shape verb.Shape) *transformHeads {
	if shape != shape.Plain() {
		return headsV1beta1
	}
	return headsV1
}
