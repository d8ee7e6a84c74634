package respond

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"apigen.dev/runtime/internal/http/encoder"
	"apigen.dev/runtime/internal/http/negotiation"
	"apigen.dev/runtime/internal/jsondoc"
	"apigen.dev/runtime/internal/object/wire"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// Document writes a small object that has no rendition, such as a Status.
func Document(w http.ResponseWriter, media negotiation.MediaType, code int, object encoder.Message) {
	data, err := marshal(object, media)
	if err != nil {
		// Statuses and discovery documents can always be encoded; only a bug leads here.
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", media.Format.MediaType())
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Length", strconv.Itoa(len(data)))
	announce(w, len(data))
	w.WriteHeader(code)
	_, _ = w.Write(data) // an error means that the client closed the connection
}

func marshal(object encoder.Message, media negotiation.MediaType) ([]byte, error) {
	switch media.Format {
	case negotiation.CBOR:
		data, err := direct.Marshal(object)
		return append([]byte(wire.SelfDescribed), data...), err
	case negotiation.Protobuf:
		return encoder.Envelope(object)
	}
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return readable(media, append(data, '\n'))
}

// Bytes writes a document that is already encoded, in JSON or in a binary format. It converts JSON to YAML and indents
// JSON, as media says.
func Bytes(w http.ResponseWriter, r *http.Request, media negotiation.MediaType, contentType string, data []byte) error {
	data, err := readable(media, data)
	if err != nil {
		return err
	}
	body := &Body{Writer: w, Code: http.StatusOK, ContentType: []string{contentType}, Gzip: AcceptsGzip(r)}
	defer body.Close()
	body.WriteWhole(data)
	return nil
}

// readable converts JSON to a form that people read, if media asks for one.
func readable(media negotiation.MediaType, data []byte) ([]byte, error) {
	if media.Format == negotiation.YAML {
		return encoder.ToYAML(data)
	}
	if media.Format != negotiation.JSON || !media.Pretty {
		return data, nil
	}
	var out bytes.Buffer
	err := json.Indent(&out, data, "", "  ")
	return out.Bytes(), err
}

// Compressed writes a document that is kept compressed. A client that accepts gzip gets the document as it is kept.
func Compressed(w http.ResponseWriter, r *http.Request, contentType string, data []byte) error {
	if AcceptsGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
	} else {
		var err error
		if data, err = jsondoc.Unzip(data); err != nil {
			return err
		}
	}
	body := &Body{Writer: w, Code: http.StatusOK, ContentType: []string{contentType}}
	defer body.Close()
	body.WriteWhole(data)
	return nil
}

// NotModified sets the ETag of a document, and answers 304 if the client has the document already. It returns whether
// it answered.
func NotModified(w http.ResponseWriter, r *http.Request, hash string) bool {
	tag := strconv.Quote(hash)
	w.Header().Set("Etag", tag)
	for _, header := range r.Header.Values("If-None-Match") {
		for known := range strings.SplitSeq(header, ",") {
			if known = strings.TrimPrefix(strings.TrimSpace(known), "W/"); known == tag || known == "*" {
				w.WriteHeader(http.StatusNotModified)
				return true
			}
		}
	}
	return false
}

// AcceptsGzip reads Accept-Encoding as kube-apiserver does: a client that names gzip accepts it, unless its weight is
// 0.
func AcceptsGzip(r *http.Request) bool {
	for _, header := range r.Header.Values("Accept-Encoding") {
		for token := range strings.SplitSeq(header, ",") {
			name, weight, _ := strings.Cut(token, ";")
			if strings.TrimSpace(name) == "gzip" && strings.TrimSpace(weight) != "q=0" {
				return true
			}
		}
	}
	return false
}
