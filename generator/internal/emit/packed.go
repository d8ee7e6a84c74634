package emit

import (
	"bytes"
	"compress/gzip"
	"io"
)

// Pack compresses a document. What it returns says at its beginning, in gzip's comment, that it is generated, and bears
// no time.
func Pack(document []byte) ([]byte, error) {
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	zip.Comment = Notice
	if _, err := zip.Write(document); err != nil {
		return nil, err
	}
	err = zip.Close()
	return out.Bytes(), err
}

// Readable is the content of a file as people read it: the document if it is packed, else the content itself.
func Readable(content []byte) []byte {
	if !bytes.HasPrefix(content, []byte{0x1f, 0x8b}) {
		return content
	}
	zip, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return content
	}
	document, err := io.ReadAll(zip)
	if err != nil {
		return content
	}
	return document
}

// Same reports whether two contents say the same. What Go's compressor makes of a document may change with Go; what it
// is made of doesn't.
func Same(a, b []byte) bool {
	return bytes.Equal(a, b) || bytes.Equal(Readable(a), Readable(b))
}
