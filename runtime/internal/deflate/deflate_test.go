package deflate

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"strings"
	"testing"
)

// unzipped decodes a stream, and fails where its checksum or its length is not that of its bytes, or bytes follow it.
func unzipped(t testing.TB, stream []byte) []byte {
	t.Helper()
	in := bytes.NewReader(stream)
	r, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	r.Multistream(false)
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("%v, after %d bytes", err, len(data))
	}
	if in.Len() > 0 {
		t.Fatalf("%d bytes follow the stream", in.Len())
	}
	return data
}

// FuzzStream holds any mix of blocks and other bytes against compress/gzip. Each byte of plan takes a run of text: its
// lowest bit says whether as a block, the others how long the run is.
func FuzzStream(f *testing.F) {
	item := strings.Repeat(`,{"metadata":{"name":"a","uid":"0b"}}`, 40)
	f.Add(item, []byte{2, 1, 3, 0, 255, 254, 9})
	f.Add("", []byte{0, 1, 0, 1})
	f.Add("a", []byte{})
	f.Add(item, []byte{254, 254, 255, 254, 255, 255, 2, 4, 254})
	f.Fuzz(func(t *testing.T, text string, plan []byte) {
		var out bytes.Buffer
		s := NewStream(&out)
		var want []byte
		for i, step := range plan {
			run := []byte(text[min(i, len(text)):])
			run = run[:min(len(run), int(step>>1)*int(step>>1))]
			want = append(want, run...)
			if step&1 == 0 {
				if n, err := s.Write(run); n != len(run) || err != nil {
					t.Fatal(n, err)
				}
				continue
			}
			half := len(run) / 2
			b := Compress(run[:half], run[half:])
			if b.Len() != len(run) {
				t.Fatalf("a block of %d bytes says %d", len(run), b.Len())
			}
			if err := s.WriteBlock(b); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := unzipped(t, out.Bytes()); !bytes.Equal(got, want) {
			t.Fatalf("got %d bytes, want %d", len(got), len(want))
		}
	})
}

func TestGzip(t *testing.T) {
	for _, n := range []int{0, 1, few, few + 1, pieceSize, 10 * pieceSize} {
		data := bytes.Repeat([]byte(fmt.Sprintf("%d,", n)), n)[:n]
		if got := unzipped(t, Gzip(data)); !bytes.Equal(got, data) {
			t.Errorf("%d bytes became %d", n, len(got))
		}
	}
}

func TestConcatenated(t *testing.T) {
	text := bytes.Repeat([]byte("checksums combine "), 1<<12)
	for _, n := range []int{0, 1, 7, 8, 255, 256, 65_535, 65_536, len(text)} {
		a, b := text[:len(text)-n], text[len(text)-n:]
		got := concatenated(crc32.ChecksumIEEE(a), crc32.ChecksumIEEE(b), shiftOf(uint32(n)))
		if want := crc32.ChecksumIEEE(text); got != want {
			t.Errorf("with the last %d bytes apart: %08x, want %08x", n, got, want)
		}
	}
}

// TestSizeModulo: the length in the trailer is modulo 2^32, as RFC 1952 says, and so is the one that counts blocks.
func TestSizeModulo(t *testing.T) {
	var out bytes.Buffer
	s := NewStream(&out)
	s.size = math.MaxUint32 - 2 // as if 4 GiB had been written
	_, _ = s.Write([]byte("12345"))
	_ = s.WriteBlock(Compress([]byte("678")))
	_ = s.Close()
	if size := binary.LittleEndian.Uint32(out.Bytes()[out.Len()-4:]); size != 5 {
		t.Errorf("got %d", size)
	}
}

// TestStreamFailure: a stream whose writer fails says so at once, and writes nothing more.
func TestStreamFailure(t *testing.T) {
	broken := errors.New("the client left")
	writes := 0
	s := NewStream(writer(func([]byte) (int, error) { writes++; return 0, broken }))
	block := Compress(noise(2 * pieceSize))
	if err := s.WriteBlock(block); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if err := s.WriteBlock(block); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Write(noise(2 * pieceSize)); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if err := s.Close(); !errors.Is(err, broken) || writes != 1 {
		t.Errorf("got %v, after %d writes", err, writes)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(data []byte) (int, error) { return w(data) }

// noise returns bytes that don't become fewer.
func noise(n int) []byte {
	data := make([]byte, n)
	state := uint32(1)
	for i := range data {
		state = state*1664525 + 1013904223
		data[i] = byte(state >> 24)
	}
	return data
}

func BenchmarkCompress(b *testing.B) {
	leaf := []byte(strings.Repeat(`,{"metadata":{"name":"widget-12","namespace":"default"},"spec":{"size":12}}`, 600))
	b.SetBytes(int64(len(leaf)))
	b.ReportAllocs()
	for b.Loop() {
		Compress(leaf)
	}
}

func BenchmarkWriteBlock(b *testing.B) {
	block := Compress(noise(8 << 10))
	s := NewStream(io.Discard)
	b.ReportAllocs()
	for b.Loop() {
		_ = s.WriteBlock(block)
	}
}
