package encoder

import (
	"time"

	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/object/wire"
	"apigen.dev/runtime/internal/verb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	kjson "sigs.k8s.io/json"
)

// cborKind returns the members kind and apiVersion of an object.
func cborKind(kind, apiVersion string) string {
	var members []byte
	for _, s := range []string{"kind", kind, "apiVersion", apiVersion} {
		members = wire.AppendString(members, s)
	}
	return string(members)
}

type cborEncoder struct{}

func (cborEncoder) Object(f *Frame, heads *Heads, shape verb.Shape, object *verb.Rendition, now time.Time) {
	f.text(wire.SelfDescribed)
	if isRow(shape) {
		f.cborTable(shape, object, heads.cborColumns(), now)
	} else {
		f.cborItem(object, now)
	}
}

func (cborEncoder) Page(f *Frame, heads *Heads, shape verb.Shape, page *verb.Page, now time.Time) {
	f.text(wire.SelfDescribed)
	head, items := heads.cborList, "items"
	switch {
	case shape.Plain() == verb.Metadata:
		head = headsOf(shape).cborPartialList
	case isRow(shape):
		head, items = headsOf(shape).cborTable, "rows"
	}
	if isRow(shape) {
		f.cborMap(5)
		f.text(head)
		f.cborString("columnDefinitions")
		f.text(heads.cborColumns())
	} else {
		f.cborMap(4)
		f.text(head)
	}
	f.cborString("metadata")
	f.cborListMeta(page, heads.saysEnd(shape))
	f.cborString(items)
	f.reserve(maxItemHead)
	f.buf = wire.AppendArray(f.buf, page.Len)
	if w := f.blocks(page); w != nil {
		f.parts(w, page.Parts, verb.CBOR)
		return
	}
	for rendition := range f.untilError(page.Items) {
		if shape.Plain() == verb.Metadata || heads.itemHeads && shape.Plain() == verb.Whole {
			f.cborItem(&rendition, now)
		} else {
			f.cborPayload(&rendition, now)
		}
	}
}

func (cborEncoder) Event(f *Frame, heads *Heads, shape verb.Shape, event *verb.Event, first bool, now time.Time) {
	f.cborEvent(string(event.Type))
	if !isRow(shape) {
		f.cborItem(&event.Object, now)
		return
	}
	columns := string(wire.AppendNull(nil))
	if first {
		columns = heads.cborColumns()
	}
	f.cborTable(shape, &event.Object, columns, now)
}

func (cborEncoder) Failure(f *Frame, status *metav1.Status) {
	data, err := direct.Marshal(status)
	if err != nil {
		return // a Status can always be encoded
	}
	f.cborEvent("ERROR")
	f.bytes(data)
}

// maxItemHead is the size of the largest head of a data item of CBOR.
const maxItemHead = 9

func (f *Frame) cborMap(n int) {
	f.reserve(maxItemHead)
	f.buf = wire.AppendMap(f.buf, n)
}

func (f *Frame) cborString(s string) {
	f.reserve(maxItemHead + len(s))
	f.buf = wire.AppendString(f.buf, s)
}

// cborEvent opens an event, through the key of its object.
func (f *Frame) cborEvent(kind string) {
	f.text(wire.SelfDescribed)
	f.cborMap(2)
	f.cborString("type")
	f.cborString(kind)
	f.cborString("object")
}

// cborItem writes an object with its kind and apiVersion: the map that is its payload with two more members.
func (f *Frame) cborItem(r *verb.Rendition, now time.Time) {
	members, rest, err := wire.MapHead(r.Payload)
	if err != nil || r.Head == "" { // a row; the payload of everything else is a map
		f.cborPayload(r, now)
		return
	}
	f.cborMap(members + 2)
	f.text(r.Head)
	f.bytes(rest)
}

// cborPayload writes an object without kind and apiVersion, as it stands in a list.
func (f *Frame) cborPayload(r *verb.Rendition, now time.Time) {
	at := uint32(0)
	for i := range r.Holes {
		hole := &r.Holes[i]
		f.bytes(r.Payload[at : hole.At-hole.Within])
		f.cborAge(r.Payload[hole.At-hole.Within:], hole, now)
		at = hole.At
	}
	f.bytes(r.Payload[at:])
}

// cborAge writes the beginning of a text through the age in it, with a head that counts the age.
func (f *Frame) cborAge(text []byte, hole *verb.Hole, now time.Time) {
	var buffer [rendition.MaxAge]byte
	age := rendition.AppendAge(buffer[:0], hole.Since, now)
	length, rest, err := wire.StringHead(text)
	if err != nil {
		f.Fail(err)
		return
	}
	f.reserve(maxItemHead)
	f.buf = wire.AppendStringHead(f.buf, length+len(age))
	f.bytes(text[len(text)-len(rest) : hole.Within])
	f.reserve(rendition.MaxAge)
	f.buf = append(f.buf, age...)
}

func (f *Frame) cborTable(shape verb.Shape, row *verb.Rendition, columns string, now time.Time) {
	f.cborMap(5)
	f.text(headsOf(shape).cborTable)
	f.cborString("metadata")
	if row.VersionLen > 0 {
		f.cborMap(1)
		f.cborString("resourceVersion")
		f.cborString(string(row.Payload[row.VersionAt : row.VersionAt+row.VersionLen]))
	} else {
		f.cborMap(0)
	}
	f.cborString("columnDefinitions")
	f.text(columns)
	f.cborString("rows")
	f.reserve(maxItemHead)
	f.buf = wire.AppendArray(f.buf, 1)
	if shape.Plain() == verb.Row {
		row = rendition.WithoutObject(row, verb.CBOR)
	}
	f.cborPayload(row, now)
}

func (f *Frame) cborListMeta(page *verb.Page, saysEnd bool) {
	members, hasContinue := 0, page.Continue != "" || saysEnd
	for _, present := range [...]bool{page.ResourceVersion != "", hasContinue, page.Remaining != nil} {
		if present {
			members++
		}
	}
	f.cborMap(members)
	if page.ResourceVersion != "" {
		f.cborString("resourceVersion")
		f.cborString(page.ResourceVersion)
	}
	if hasContinue {
		f.cborString("continue")
		f.cborString(page.Continue)
	}
	if page.Remaining != nil {
		f.cborString("remainingItemCount")
		f.reserve(maxItemHead)
		f.buf = wire.AppendInt(f.buf, *page.Remaining)
	}
}

// JSONToCBOR converts a document from JSON to CBOR.
func JSONToCBOR(data []byte) ([]byte, error) {
	var value any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &value); err != nil {
		return nil, err
	}
	out, err := direct.Marshal(value)
	return append([]byte(wire.SelfDescribed), out...), err
}
