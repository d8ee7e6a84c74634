// Package jsondoc makes JSON documents that a server holds compressed, such as those of OpenAPI. Generated wiring
// embeds them as api.Document. It may know package deflate.
package jsondoc

import (
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/hex"
	"io"
	"strings"
	"sync"

	"apigen.dev/runtime/internal/deflate"
)

// Document is a JSON document that is embedded and served as it is: compressed, with a hash that was computed with it.
// The zero value means no document. It is immutable.
type Document struct {
	// Gzip is the JSON, compressed.
	Gzip []byte
	// Hash is the JSON's SHA-512, in hexadecimal digits and capital letters, as kube-openapi has it: its ETag.
	Hash string
	// made makes Gzip when it is first needed.
	made func() ([]byte, error)
}

// Deferred returns a document whose JSON is made when it is first needed. Its hash is that of source, from which alone
// the JSON follows.
func Deferred(source []byte, made func() ([]byte, error)) Document {
	return Document{Hash: HashOf(source), made: sync.OnceValues(func() ([]byte, error) {
		data, err := made()
		return New(data).Gzip, err
	})}
}

// Fetched returns a document that is read from elsewhere when it is first needed, and again after an error. Its hash is
// that of source.
func Fetched(source []byte, fetch func() ([]byte, error)) Document {
	var mu sync.Mutex // guards zipped
	var zipped []byte
	return Document{Hash: HashOf(source), made: func() ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		if zipped == nil {
			data, err := fetch()
			if err != nil {
				return nil, err
			}
			zipped = New(data).Gzip
		}
		return zipped, nil
	}}
}

// Compressed returns the JSON, compressed.
func (d Document) Compressed() ([]byte, error) {
	if d.made != nil {
		return d.made()
	}
	return d.Gzip, nil
}

// New compresses and hashes JSON, for documents that no generator made.
func New(json []byte) Document { return Document{Gzip: deflate.Gzip(json), Hash: HashOf(json)} }

// HashOf is the Hash of a document of these bytes.
func HashOf(data []byte) string {
	sum := sha512.Sum512(data)
	return strings.ToUpper(hex.EncodeToString(sum[:]))
}

// IsZero reports whether there is no document.
func (d Document) IsZero() bool { return len(d.Gzip) == 0 && d.made == nil }

// JSON returns the document's text.
func (d Document) JSON() ([]byte, error) {
	data, err := d.Compressed()
	if err != nil {
		return nil, err
	}
	return Unzip(data)
}

// Unzip returns what was compressed.
func Unzip(data []byte) ([]byte, error) {
	unzip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(unzip)
}
