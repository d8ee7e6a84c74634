package endpoint

import (
	"net/http"
	"time"

	"apigen.dev/runtime/internal/deflate"
	"apigen.dev/runtime/internal/http/encoder"
	"apigen.dev/runtime/internal/http/negotiation"
	"apigen.dev/runtime/internal/http/respond"
	"apigen.dev/runtime/internal/verb"
)

// frameSize is the size of the pieces in which answers are written. It is more than deflate.Threshold, so that an
// answer of several pieces is beyond the threshold. HTTP/2 cuts a piece into frames of its own without waking the
// writer for each.
const frameSize = deflate.Threshold + 16<<10

// streamFrameSize is the size of the pieces of watches, many of which may have something to write at one moment.
const streamFrameSize = 64 << 10

const defaultWriteTimeout = time.Minute

// writeObject writes one object, if the client accepts it.
func (req *resourceRequest) writeObject(accepted acceptance, code int, object verb.Rendition) error {
	if accepted.notAcceptable != nil {
		return accepted.notAcceptable
	}
	form := accepted.form
	req.auditObject(form, object)
	write := func(f *encoder.Frame) {
		encoder.For(form.Encoding).Object(f, req.heads, form.Shape, &object, time.Now())
	}
	if accepted.media.Format == negotiation.YAML {
		return req.writeYAML(code, write)
	}
	req.writeBody(accepted.media, code, write)
	return nil
}

// writePage writes a list, if the client accepts it. The memory that it takes doesn't depend on the number of items.
func (req *resourceRequest) writePage(accepted acceptance, page *verb.Page) error {
	if accepted.notAcceptable != nil {
		return accepted.notAcceptable
	}
	form := accepted.form
	req.auditPage(form, page)
	if accepted.media.Format == negotiation.YAML {
		return req.writeYAMLPage(form.Shape, page)
	}
	req.writeBody(accepted.media, http.StatusOK, func(f *encoder.Frame) {
		encoder.For(form.Encoding).Page(f, req.heads, form.Shape, page, time.Now())
	})
	return nil
}

func (req *resourceRequest) newBody(f negotiation.Format, code int) *respond.Body {
	return &respond.Body{
		Writer: req.w, Code: code, ContentType: f.ContentType(), Gzip: respond.AcceptsGzip(req.r),
		WriteTimeout: req.api.writeTimeout,
		Turn:         req.api.turns.Of(req.api.user(req.r.Context())), Context: req.r.Context(),
	}
}

// compresses reports whether a large answer is compressed as it comes from the store.
func (req *resourceRequest) compresses(media negotiation.MediaType) bool {
	return media.Format != negotiation.YAML && !media.Pretty && respond.AcceptsGzip(req.r)
}

// writeBody writes the body that write writes, and indents it if media asks for that.
func (req *resourceRequest) writeBody(media negotiation.MediaType, code int, write func(*encoder.Frame)) {
	frames := req.api.frames
	body := req.newBody(media.Format, code)
	defer body.Close()
	f := frames.Get(body)
	defer frames.Put(f)
	if media.Format == negotiation.JSON && media.Pretty {
		compact := frames.Get(encoder.NewIndenter(f))
		defer frames.Put(compact)
		write(compact)
		compact.Flush()
	} else {
		write(f)
	}
	body.SetWhole()
	f.Flush()
}

// writeYAML converts all of a document before it writes anything, so that an error has a status.
func (req *resourceRequest) writeYAML(code int, write func(*encoder.Frame)) error {
	data, err := req.convertToYAML(write)
	if err != nil {
		return err
	}
	body := req.newBody(negotiation.YAML, code)
	defer body.Close()
	body.WriteWhole(data)
	return nil
}

// convertToYAML converts the JSON that write writes when its turn comes. If the request ends before that, the error is
// the end of the request and no 429: the server may have done what the client asked for.
func (req *resourceRequest) convertToYAML(write func(*encoder.Frame)) ([]byte, error) {
	if err := req.api.converters.Acquire(req.r.Context(), 1); err != nil {
		return nil, err
	}
	defer req.api.converters.Release(1)
	return encoder.YAML(req.api.frames, write)
}

// writeYAMLPage writes a list in YAML, several items at once.
func (req *resourceRequest) writeYAMLPage(shape verb.Shape, page *verb.Page) error {
	body := req.newBody(negotiation.YAML, http.StatusOK)
	defer body.Close()
	out := req.api.frames.Get(body)
	defer req.api.frames.Put(out)
	list := encoder.YAMLList{Heads: req.heads, Shape: shape, Now: time.Now(), Out: out, Convert: req.convertToYAML}
	err := list.Write(page)
	if err == nil {
		body.SetWhole()
		out.Flush()
	} else if body.Begun() {
		req.api.logWithheld(req.r.Context(), err)
		panic(http.ErrAbortHandler) // the client must not take a part of the list for the whole
	}
	return err
}
