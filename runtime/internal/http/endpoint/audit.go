package endpoint

import (
	"bytes"
	"encoding/json"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/audit/trail"
	"apigen.dev/runtime/internal/http/encoder"
	"apigen.dev/runtime/internal/verb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// auditBody has the object that a body holds recorded, once it is decoded.
func (req *resourceRequest) auditBody(body *verb.Body) {
	record := trail.RecordFrom(req.r.Context())
	if !record.Wants(trail.Metadata) {
		return
	}
	body.Decoded = func(object api.Object, encode func() ([]byte, error)) {
		record.SetObject(object)
		if !record.Wants(trail.Request) {
			return
		}
		if data, err := encode(); err == nil {
			record.SetRequest(data)
		}
	}
}

// internalMeta is the apiVersion that kube-apiserver gives to the options of a deletion in events: that of its own
// types.
const internalMeta = "meta.k8s.io/__internal"

// auditOptions records the body of a deletion, as it was decoded.
func (req *resourceRequest) auditOptions(options *metav1.DeleteOptions) {
	record := trail.RecordFrom(req.r.Context())
	if !record.Wants(trail.Request) {
		return
	}
	shown := *options
	shown.Kind, shown.APIVersion = "DeleteOptions", internalMeta
	if data, err := json.Marshal(&shown); err == nil {
		record.SetRequest(data)
	}
}

// auditPatch records a patch, which is JSON.
func (req *resourceRequest) auditPatch(data []byte) {
	trail.RecordFrom(req.r.Context()).SetRequest(data)
}

// auditObject records the object of an answer.
func (req *resourceRequest) auditObject(form verb.Form, object verb.Rendition) {
	if record := trail.RecordFrom(req.r.Context()); record.Wants(trail.RequestResponse) {
		req.auditWhole(record, form, object)
	}
}

// auditWhole records the object of an answer in a record that wants it. It is a function of its own so that other
// objects stay out of the heap.
func (req *resourceRequest) auditWhole(record *trail.Record, form verb.Form, object verb.Rendition) {
	if form.Encoding == verb.Protobuf {
		var err error
		if object, err = req.toJSON(object, form); err != nil {
			return
		}
		form.Encoding = verb.JSON
	}
	req.auditAnswer(record, form, func(f *encoder.Frame, e encoder.Encoder) {
		e.Object(f, req.heads, form.Shape, &object, time.Now())
	})
}

// auditPage records the list of an answer.
func (req *resourceRequest) auditPage(form verb.Form, page *verb.Page) {
	record := trail.RecordFrom(req.r.Context())
	if !record.Wants(trail.RequestResponse) {
		return
	}
	shown, to := page, form
	if form.Encoding == verb.Protobuf {
		to.Encoding = verb.JSON
		shown = req.pageToJSON(page, form)
	}
	req.auditAnswer(record, to, func(f *encoder.Frame, e encoder.Encoder) {
		e.Page(f, req.heads, form.Shape, shown, time.Now())
	})
}

// pageToJSON returns a page whose items are in JSON. It leaves out what can't be rendered.
func (req *resourceRequest) pageToJSON(page *verb.Page, form verb.Form) *verb.Page {
	shown := *page
	shown.Blocks = nil
	shown.Items = func(yield func(verb.Rendition) bool) {
		for object := range page.Items {
			if object, err := req.toJSON(object, form); err == nil && !yield(object) {
				return
			}
		}
	}
	return &shown
}

// toJSON renders in JSON what is in protobuf.
func (req *resourceRequest) toJSON(object verb.Rendition, form verb.Form) (verb.Rendition, error) {
	if req.extension != nil {
		return req.extension.handle.ToJSON(object, form)
	}
	return req.handle.ToJSON(object, form)
}

// auditAnswer records what write writes in the encoding of a form: JSON or CBOR.
func (req *resourceRequest) auditAnswer(
	record *trail.Record, form verb.Form, write func(*encoder.Frame, encoder.Encoder),
) {
	var out bytes.Buffer
	f := req.api.frames.Get(&out)
	defer req.api.frames.Put(f)
	write(f, encoder.For(form.Encoding))
	f.Flush()
	data := out.Bytes()
	if form.Encoding == verb.CBOR {
		var err error
		if data, err = cborToJSON(data); err != nil {
			return
		}
	}
	record.SetResponse(data)
}
