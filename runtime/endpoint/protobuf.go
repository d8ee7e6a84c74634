package endpoint

import (
	"encoding/binary"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/wire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// listLayout is how a list is written: the head of its envelope, and its fields.
type listLayout struct {
	head                 string
	metadataTag, itemTag byte
}

// partialList is that of metadata, oldPartialList of meta.k8s.io/v1beta1, whose fields are the other way round.
var (
	partialList    = listLayout{wire.EnvelopeHead("PartialObjectMetadataList", "meta.k8s.io/v1"), wire.ListMetaField, wire.ItemField}
	oldPartialList = listLayout{wire.EnvelopeHead("PartialObjectMetadataList", "meta.k8s.io/v1beta1"), wire.ItemField, wire.ListMetaField}
)

func layoutOf(r *resource, shape api.Shape) listLayout {
	switch {
	case shape == api.Whole:
		return listLayout{r.heads.protobufList, wire.ListMetaField, wire.ItemField}
	case shape != shape.Plain():
		return oldPartialList
	}
	return partialList
}

// protobufEncoder writes Kubernetes protobuf. Lengths stand before what they are of, so a list is gone through twice.
type protobufEncoder struct{}

func (protobufEncoder) object(f *frame, _ *resource, _ api.Shape, object *api.Rendition, _ time.Time) {
	f.envelope(object)
}

func (protobufEncoder) page(f *frame, r *resource, shape api.Shape, page *api.Page, _ time.Time) {
	layout := layoutOf(r, shape)
	meta := metav1.ListMeta{ResourceVersion: page.ResourceVersion, Continue: page.Continue, RemainingItemCount: page.Remaining}
	metadata, err := meta.Marshal()
	if err != nil {
		f.err = err // plain data
		return
	}
	size := wire.FieldSize(len(metadata))
	for rendition := range page.Items {
		size += wire.FieldSize(len(rendition.Payload))
	}
	f.text(layout.head)
	f.reserve(maxFieldHead)
	f.buf = wire.AppendRawHead(f.buf, size)
	f.field(layout.metadataTag, metadata)
	for rendition := range f.wanted(page.Items) {
		f.field(layout.itemTag, rendition.Payload)
	}
	f.text(wire.EnvelopeTail())
}

// event writes the length of an event in four bytes, and a WatchEvent whose object is in an envelope of its own.
func (protobufEncoder) event(f *frame, _ *resource, _ api.Shape, event *api.Event, _ bool, _ time.Time) {
	f.protobufEvent(string(event.Type), wire.EnvelopeSize(event.Object.Head, len(event.Object.Payload)))
	f.envelope(&event.Object)
}

func (protobufEncoder) failure(f *frame, status *metav1.Status) {
	data, err := enveloped(status)
	if err != nil {
		return // a Status is plain data
	}
	f.protobufEvent("ERROR", len(data))
	f.bytes(data)
}

// maxFieldHead is the size of the largest head of a field.
const maxFieldHead = 1 + binary.MaxVarintLen64

// eventLength is the size of the length that an event begins with.
const eventLength = 4

// protobufEvent opens an event, up to its object of n bytes.
func (f *frame) protobufEvent(kind string, n int) {
	extension := wire.FieldSize(n)
	f.reserve(eventLength + 3*maxFieldHead + len(kind))
	f.buf = binary.BigEndian.AppendUint32(f.buf, uint32(wire.FieldSize(len(kind))+wire.FieldSize(extension)))
	f.buf = wire.AppendField(f.buf, wire.EventTypeField, kind)
	f.buf = wire.AppendFieldHead(f.buf, wire.EventObjectField, extension)
	f.buf = wire.AppendFieldHead(f.buf, wire.RawExtensionField, n)
}

// envelope writes an object that stands alone.
func (f *frame) envelope(r *api.Rendition) {
	f.text(r.Head)
	f.reserve(maxFieldHead)
	f.buf = wire.AppendRawHead(f.buf, len(r.Payload))
	f.bytes(r.Payload)
	f.text(wire.EnvelopeTail())
}

func (f *frame) field(tag byte, value []byte) {
	f.reserve(maxFieldHead)
	f.buf = wire.AppendFieldHead(f.buf, tag, len(value))
	f.bytes(value)
}
