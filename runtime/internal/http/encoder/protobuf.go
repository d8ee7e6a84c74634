package encoder

import (
	"encoding/binary"
	"time"

	"apigen.dev/runtime/internal/object/wire"
	"apigen.dev/runtime/internal/verb"
	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Message is an object with a protobuf encoding, such as the types of package metav1.
type Message interface {
	runtime.Object
	Marshal() ([]byte, error)
}

// Envelope returns a whole object in Kubernetes protobuf.
func Envelope(object Message) ([]byte, error) {
	data, err := object.Marshal()
	apiVersion, kind := object.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	return wire.Enveloped(wire.EnvelopeHead(kind, apiVersion), data), err
}

// listLayout says how a list is written: the head of its envelope, and the tags of its fields.
type listLayout struct {
	head                     string
	metadataField, itemField protowire.Number
}

// protobufEncoder writes Kubernetes protobuf. A length precedes each message, so Page reads the items of a list twice.
type protobufEncoder struct{}

func (protobufEncoder) Object(f *Frame, _ *Heads, _ verb.Shape, object *verb.Rendition, _ time.Time) {
	f.envelope(object)
}

func (protobufEncoder) Page(f *Frame, heads *Heads, shape verb.Shape, page *verb.Page, _ time.Time) {
	layout := headsOf(shape).protobufPartialList
	if shape == verb.Whole {
		layout = listLayout{heads.protobufList, wire.ListMetaField, wire.ItemField}
	}
	meta := metav1.ListMeta{
		ResourceVersion: page.ResourceVersion, Continue: page.Continue, RemainingItemCount: page.Remaining,
	}
	metadata, err := meta.Marshal()
	if err != nil {
		f.Fail(err)
		return
	}
	f.text(layout.head)
	f.reserve(maxFieldHead)
	f.buf = wire.AppendRawHead(f.buf, wire.FieldSize(len(metadata))+f.sizeOfItems(page))
	f.field(layout.metadataField, metadata)
	if w := f.blocks(page); w != nil {
		f.parts(w, page.Parts, verb.Protobuf)
	} else {
		for rendition := range f.untilError(page.Items) {
			f.field(layout.itemField, rendition.Payload)
		}
	}
	f.text(wire.EnvelopeTail())
}

// sizeOfItems returns the size of what follows the metadata of a list. It is the same by parts and by items.
func (f *Frame) sizeOfItems(page *verb.Page) (size int) {
	if f.blocks(page) != nil {
		for part := range page.Parts {
			size += part.Len()
		}
		return size
	}
	for rendition := range page.Items {
		size += wire.FieldSize(len(rendition.Payload))
	}
	return size
}

// Event writes the length of an event in four bytes, and a WatchEvent whose object has an envelope of its own.
func (protobufEncoder) Event(f *Frame, _ *Heads, _ verb.Shape, event *verb.Event, _ bool, _ time.Time) {
	f.protobufEvent(string(event.Type), wire.EnvelopeSize(event.Object.Head, len(event.Object.Payload)))
	f.envelope(&event.Object)
}

func (protobufEncoder) Failure(f *Frame, status *metav1.Status) {
	data, err := Envelope(status)
	if err != nil {
		return // a Status can always be encoded
	}
	f.protobufEvent("ERROR", len(data))
	f.bytes(data)
}

// maxFieldHead is the size of the largest head of a field.
const maxFieldHead = 1 + binary.MaxVarintLen64

// ProtobufEventLengthSize is the size of the length with which an event in protobuf begins.
const ProtobufEventLengthSize = 4

// protobufEvent opens an event, up to its object of n bytes.
func (f *Frame) protobufEvent(kind string, n int) {
	extension := wire.FieldSize(n)
	f.reserve(ProtobufEventLengthSize + 3*maxFieldHead + len(kind))
	f.buf = binary.BigEndian.AppendUint32(f.buf, uint32(wire.FieldSize(len(kind))+wire.FieldSize(extension)))
	f.buf = wire.AppendField(f.buf, wire.EventTypeField, kind)
	f.buf = wire.AppendFieldHead(f.buf, wire.EventObjectField, extension)
	f.buf = wire.AppendFieldHead(f.buf, wire.RawExtensionField, n)
}

func (f *Frame) envelope(r *verb.Rendition) {
	f.text(r.Head)
	f.reserve(maxFieldHead)
	f.buf = wire.AppendRawHead(f.buf, len(r.Payload))
	f.bytes(r.Payload)
	f.text(wire.EnvelopeTail())
}

func (f *Frame) field(number protowire.Number, value []byte) {
	f.reserve(maxFieldHead)
	f.buf = wire.AppendFieldHead(f.buf, number, len(value))
	f.bytes(value)
}
