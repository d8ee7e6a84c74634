package encoder

import (
	"encoding/json"
	"iter"
	"strconv"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/verb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type jsonEncoder struct{}

func (jsonEncoder) Object(f *Frame, heads *Heads, shape verb.Shape, object *verb.Rendition, now time.Time) {
	if isRow(shape) {
		f.table(shape, object, heads.jsonColumns(), now)
	} else {
		f.rendition(object, true, now)
	}
	f.text("\n")
}

func (jsonEncoder) Page(f *Frame, heads *Heads, shape verb.Shape, page *verb.Page, now time.Time) {
	head, items := heads.jsonList, `},"items":[`
	switch {
	case shape.Plain() == verb.Metadata:
		head = headsOf(shape).jsonPartialList
	case isRow(shape):
		head, items = headsOf(shape).jsonTable, `},"columnDefinitions":`+heads.jsonColumns()+`,"rows":[`
	}
	f.text(head)
	f.listMeta(page, heads.saysEnd(shape))
	f.text(items)
	switch w := f.blocks(page); {
	case w != nil:
		f.parts(w, page.Parts, verb.JSON)
	case page.Blocks != nil:
		f.joinedItems(page.Blocks, now)
	default:
		f.items(page.Items, shape, now)
	}
	f.text("]}\n")
}

func (f *Frame) items(items iter.Seq[verb.Rendition], shape verb.Shape, now time.Time) {
	comma := false
	for rendition := range f.untilError(items) {
		if comma {
			f.text(",")
		}
		comma = true
		f.rendition(&rendition, shape != verb.Whole, now)
	}
}

// joinedItems writes items that the cache keeps joined, each with a comma before it, which the first must not have.
func (f *Frame) joinedItems(blocks []verb.Block, now time.Time) {
	for i := range blocks {
		if f.err != nil {
			return
		}
		f.joinedBlock(&blocks[i], i == 0, now)
	}
}

func (f *Frame) joinedBlock(block *verb.Block, first bool, now time.Time) {
	at := 0
	if first {
		at = len(",")
	}
	for i := range block.Holes {
		hole := &block.Holes[i]
		f.bytes(block.Data[at : hole.At-block.At])
		f.age(hole.Since, now)
		at = int(hole.At - block.At)
	}
	f.bytes(block.Data[at:])
}

// Event writes {"type":"ADDED","object":{...}} and a newline.
func (jsonEncoder) Event(f *Frame, heads *Heads, shape verb.Shape, event *verb.Event, first bool, now time.Time) {
	f.text(eventHead(event.Type))
	if isRow(shape) {
		columns := "null"
		if first {
			columns = heads.jsonColumns()
		}
		f.table(shape, &event.Object, columns, now)
	} else {
		f.rendition(&event.Object, true, now)
	}
	f.text("}\n")
}

func eventHead(t api.EventType) string {
	switch t {
	case api.Added:
		return `{"type":"ADDED","object":`
	case api.Modified:
		return `{"type":"MODIFIED","object":`
	case api.Deleted:
		return `{"type":"DELETED","object":`
	}
	return `{"type":"` + string(t) + `","object":`
}

func (jsonEncoder) Failure(f *Frame, status *metav1.Status) {
	data, err := json.Marshal(status)
	if err != nil {
		return // a Status can always be encoded
	}
	f.text(`{"type":"ERROR","object":`)
	f.bytes(data)
	f.text("}\n")
}

func (f *Frame) listMeta(page *verb.Page, saysEnd bool) {
	comma := ""
	if page.ResourceVersion != "" {
		f.text(`"resourceVersion":` + quoted(page.ResourceVersion))
		comma = ","
	}
	if page.Continue != "" || saysEnd {
		f.text(comma + `"continue":` + quoted(page.Continue))
		comma = ","
	}
	if page.Remaining != nil {
		f.text(comma + `"remainingItemCount":` + strconv.FormatInt(*page.Remaining, 10))
	}
}

func quoted(s string) string {
	data, _ := json.Marshal(s) // a string can always be encoded
	return string(data)
}
