package endpoint

import (
	"encoding/json"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/wire"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	kjson "sigs.k8s.io/json"
)

// resourceHeads are what answers in CBOR and protobuf begin with.
type resourceHeads struct {
	// cborList are the members kind and apiVersion of a list, cborColumns the value of columnDefinitions.
	cborList, cborColumns string
	// protobufList is the head of a list's envelope.
	protobufList string
}

func newResourceHeads(listKind, apiVersion string, columns []api.Column) resourceHeads {
	return resourceHeads{
		cborList:     cborKind(listKind, apiVersion),
		cborColumns:  cborColumns(columns),
		protobufList: wire.EnvelopeHead(listKind, apiVersion),
	}
}

// cborKind are the two members that tell a kind.
func cborKind(kind, apiVersion string) string {
	var members []byte
	for _, s := range []string{"kind", kind, "apiVersion", apiVersion} {
		members = wire.AppendString(members, s)
	}
	return string(members)
}

func cborColumns(columns []api.Column) string {
	data, _ := direct.Marshal(tableColumns(columns)) // plain data
	return string(data)
}

// madeKinds are the members kind and apiVersion of what is made of other kinds' objects.
type madeKinds struct{ table, partialList string }

// cborMade are those of meta.k8s.io/v1, cborMadeOld of what old clients ask for.
var cborMade, cborMadeOld = cborKindsIn("meta.k8s.io/v1"), cborKindsIn("meta.k8s.io/v1beta1")

func cborKindsIn(apiVersion string) madeKinds {
	return madeKinds{cborKind("Table", apiVersion), cborKind("PartialObjectMetadataList", apiVersion)}
}

func cborKinds(shape api.Shape) madeKinds {
	if shape != shape.Plain() {
		return cborMadeOld
	}
	return cborMade
}

type cborEncoder struct{}

func (cborEncoder) object(f *frame, r *resource, shape api.Shape, object *api.Rendition, now time.Time) {
	f.text(wire.SelfDescribed)
	if isRow(shape) {
		f.cborTableOf(shape, object, r.heads.cborColumns, now)
	} else {
		f.cborItem(object, now)
	}
}

func (cborEncoder) page(f *frame, r *resource, shape api.Shape, page *api.Page, now time.Time) {
	f.text(wire.SelfDescribed)
	head, items := r.heads.cborList, "items"
	switch {
	case shape.Plain() == api.Metadata:
		head = cborKinds(shape).partialList
	case isRow(shape):
		head, items = cborKinds(shape).table, "rows"
	}
	if isRow(shape) {
		f.cborMap(5)
		f.text(head)
		f.cborString("columnDefinitions")
		f.text(r.heads.cborColumns)
	} else {
		f.cborMap(4)
		f.text(head)
	}
	f.cborString("metadata")
	f.cborListMeta(page)
	f.cborString(items)
	f.reserve(maxHead)
	f.buf = wire.AppendArray(f.buf, page.Len)
	for rendition := range f.wanted(page.Items) {
		if shape.Plain() == api.Metadata {
			f.cborItem(&rendition, now)
		} else {
			f.cborPayload(&rendition, now)
		}
	}
}

func (cborEncoder) event(f *frame, r *resource, shape api.Shape, event *api.Event, first bool, now time.Time) {
	f.cborEvent(string(event.Type))
	if !isRow(shape) {
		f.cborItem(&event.Object, now)
		return
	}
	columns := string(wire.AppendNull(nil))
	if first {
		columns = r.heads.cborColumns
	}
	f.cborTableOf(shape, &event.Object, columns, now)
}

func (cborEncoder) failure(f *frame, status *metav1.Status) {
	data, err := direct.Marshal(status)
	if err != nil {
		return // a Status is plain data
	}
	f.cborEvent("ERROR")
	f.bytes(data)
}

// maxHead is the size of the largest head of an item.
const maxHead = 9

func (f *frame) cborMap(n int) {
	f.reserve(maxHead)
	f.buf = wire.AppendMap(f.buf, n)
}

// cborString writes a short string.
func (f *frame) cborString(s string) {
	f.reserve(maxHead + len(s))
	f.buf = wire.AppendString(f.buf, s)
}

// cborEvent opens an event, through the key of its object.
func (f *frame) cborEvent(kind string) {
	f.text(wire.SelfDescribed)
	f.cborMap(2)
	f.cborString("type")
	f.cborString(kind)
	f.cborString("object")
}

// cborItem writes an object with its kind and apiVersion: the map of its payload with two more members.
func (f *frame) cborItem(r *api.Rendition, now time.Time) {
	members, rest, err := wire.MapHead(r.Payload)
	if err != nil || r.Head == "" { // a row, and never anything that isn't a map
		f.cborPayload(r, now)
		return
	}
	f.cborMap(members + 2)
	f.text(r.Head)
	f.bytes(rest)
}

// cborPayload writes an object as it stands in a list.
func (f *frame) cborPayload(r *api.Rendition, now time.Time) {
	at := uint32(0)
	for i := range r.Holes {
		hole := &r.Holes[i]
		f.bytes(r.Payload[at:hole.At])
		f.reserve(32)
		head := len(f.buf)
		f.buf = append(f.buf, 0)
		f.buf = appendSince(f.buf, hole.Since, now)
		f.buf[head] = wire.ShortString(len(f.buf) - head - 1)
		at = hole.At
	}
	f.bytes(r.Payload[at:])
}

// cborTableOf is tableOf in CBOR.
func (f *frame) cborTableOf(shape api.Shape, row *api.Rendition, columns string, now time.Time) {
	f.cborMap(5)
	f.text(cborKinds(shape).table)
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
	f.reserve(maxHead)
	f.buf = wire.AppendArray(f.buf, 1)
	f.cborPayload(row, now)
}

func (f *frame) cborListMeta(page *api.Page) {
	members := 0
	for _, there := range [...]bool{page.ResourceVersion != "", page.Continue != "", page.Remaining != nil} {
		if there {
			members++
		}
	}
	f.cborMap(members)
	if page.ResourceVersion != "" {
		f.cborString("resourceVersion")
		f.cborString(page.ResourceVersion)
	}
	if page.Continue != "" {
		f.cborString("continue")
		f.cborString(page.Continue)
	}
	if page.Remaining != nil {
		f.cborString("remainingItemCount")
		f.reserve(maxHead)
		f.buf = wire.AppendInt(f.buf, *page.Remaining)
	}
}

// cborToJSON reads what is treated as JSON further on: an object in CBOR.
func cborToJSON(data []byte) ([]byte, error) {
	var object map[string]any
	if err := direct.Unmarshal(data, &object); err != nil {
		return nil, apierrors.NewBadRequest("error decoding CBOR: " + clipTo(err.Error(), maxReport))
	}
	out, err := json.Marshal(object)
	if err != nil {
		return nil, apierrors.NewBadRequest("error converting CBOR to JSON: " + clipTo(err.Error(), maxReport))
	}
	return out, checkDepth(out)
}

// jsonToCBOR is a document in CBOR that was made in JSON before.
func jsonToCBOR(data []byte) ([]byte, error) {
	var value any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &value); err != nil {
		return nil, err
	}
	out, err := direct.Marshal(value)
	return append([]byte(wire.SelfDescribed), out...), err
}
