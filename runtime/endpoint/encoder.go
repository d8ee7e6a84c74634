package endpoint

import (
	"encoding/json"
	"iter"
	"strconv"
	"time"

	"apigen.dev/runtime/api"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// encoder writes what is asked of resources in one encoding.
type encoder interface {
	// object writes one object, or a Table of one row.
	object(f *frame, r *resource, shape api.Shape, object *api.Rendition, now time.Time)
	// page writes a list, or a Table.
	page(f *frame, r *resource, shape api.Shape, page *api.Page, now time.Time)
	// event writes an event of a watch; only the first one of a stream of Tables tells their columns.
	event(f *frame, r *resource, shape api.Shape, event *api.Event, first bool, now time.Time)
	// failure writes the event that ends a stream.
	failure(f *frame, status *metav1.Status)
}

// encoders are those of all encodings.
var encoders = [...]encoder{api.JSON: jsonEncoder{}, api.CBOR: cborEncoder{}, api.Protobuf: protobufEncoder{}}

type jsonEncoder struct{}

func (jsonEncoder) object(f *frame, r *resource, shape api.Shape, object *api.Rendition, now time.Time) {
	if isRow(shape) {
		f.tableOf(shape, object, r.columns, now)
	} else {
		f.rendition(object, true, now)
	}
	f.text("\n")
}

func (jsonEncoder) page(f *frame, r *resource, shape api.Shape, page *api.Page, now time.Time) {
	head, items := r.listHead, `},"items":[`
	switch {
	case shape.Plain() == api.Metadata:
		head = partialListHead(shape)
	case isRow(shape):
		head, items = tableHead(shape), `},"columnDefinitions":`+r.columns+`,"rows":[`
	}
	f.text(head)
	f.listMeta(page)
	f.text(items)
	if page.Sheets != nil {
		f.sheets(page.Sheets, now)
	} else {
		f.items(page.Items, shape, now)
	}
	f.text("]}\n")
}

// items writes a list's, with commas between them.
func (f *frame) items(items iter.Seq[api.Rendition], shape api.Shape, now time.Time) {
	comma := false
	for rendition := range f.wanted(items) {
		if comma {
			f.text(",")
		}
		comma = true
		f.rendition(&rendition, shape != api.Whole, now)
	}
}

// sheets writes items that are joined already; a list doesn't begin with a comma.
func (f *frame) sheets(sheets []api.Sheet, now time.Time) {
	for i := range sheets {
		if f.err != nil {
			return
		}
		f.sheet(&sheets[i], i == 0, now)
	}
}

func (f *frame) sheet(s *api.Sheet, first bool, now time.Time) {
	at := 0
	if first {
		at = len(",")
	}
	for i := range s.Holes {
		hole := &s.Holes[i]
		f.bytes(s.Data[at : hole.At-s.At])
		f.age(hole.Since, now)
		at = int(hole.At - s.At)
	}
	f.bytes(s.Data[at:])
}

// event writes {"type":"ADDED","object":{...}} and a newline.
func (jsonEncoder) event(f *frame, r *resource, shape api.Shape, event *api.Event, first bool, now time.Time) {
	f.text(eventHead(event.Type))
	if isRow(shape) {
		columns := "null"
		if first {
			columns = r.columns
		}
		f.tableOf(shape, &event.Object, columns, now)
	} else {
		f.rendition(&event.Object, true, now)
	}
	f.text("}\n")
}

func (jsonEncoder) failure(f *frame, status *metav1.Status) {
	data, err := json.Marshal(status)
	if err != nil {
		return // a Status is plain data
	}
	f.text(`{"type":"ERROR","object":`)
	f.bytes(data)
	f.text("}\n")
}

// partialListHead opens a list of PartialObjectMetadata of a shape, through the brace of its metadata.
func partialListHead(shape api.Shape) string {
	if shape != shape.Plain() {
		return `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1beta1","metadata":{`
	}
	return `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{`
}

// listMeta writes what stands between the braces of a list's metadata.
func (f *frame) listMeta(page *api.Page) {
	comma := ""
	if page.ResourceVersion != "" {
		f.text(`"resourceVersion":` + quoted(page.ResourceVersion))
		comma = ","
	}
	if page.Continue != "" {
		f.text(comma + `"continue":` + quoted(page.Continue))
		comma = ","
	}
	if page.Remaining != nil {
		f.text(comma + `"remainingItemCount":` + strconv.FormatInt(*page.Remaining, 10))
	}
}
