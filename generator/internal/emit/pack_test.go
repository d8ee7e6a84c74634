package emit

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
)

// TestPack: a document comes back, says that it is generated, and is the same however well it is compressed.
func TestPack(t *testing.T) {
	document := []byte(strings.Repeat(`{"a":"b"}`+"\n", 100))
	packed, err := Pack(document)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(packed[:100], []byte(Notice)) || len(packed) > len(document)/4 {
		t.Errorf("packed: %q", packed)
	}
	var other bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&other, gzip.NoCompression)
	_, _ = zip.Write(document)
	_ = zip.Close()
	changed, err := Pack(document[1:])
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(Readable(packed), document) || !Same(packed, other.Bytes()) || Same(packed, changed) ||
		Same(packed, nil) {
		t.Error("the same document is another, or another the same")
	}
	for _, damaged := range [][]byte{packed[:3], packed[:len(packed)-3], []byte("\x1f\x8b"), []byte("text"), nil} {
		if !bytes.Equal(Readable(damaged), damaged) {
			t.Errorf("%q became readable", damaged)
		}
	}
}
