package deflate

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/flate"
)

const (
	// few is the number of bytes up to which they are stored as they are: what stands between blocks.
	few = 256
	// pieceSize is the size of the pieces in which a stream is written.
	pieceSize = 32 << 10
)

// header is that of a gzip stream without a name and a time, made on an unknown system.
const header = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

// lastBlock is an empty stored block that is marked as the last.
const lastBlock = "\x01\x00\x00\xff\xff"

// Stream writes a gzip stream. It keeps some bytes until Close. After an error of the writer behind it, it returns that
// error and writes nothing. One goroutine uses a Stream.
type Stream struct {
	w   io.Writer
	out []byte // not yet written
	err error

	zip *flate.Writer // writes to out
	// open: zip has begun a block, which may refer to what it compressed before.
	open bool

	checksum, size uint32 // of the bytes before compression; the size modulo 2^32
}

var streams = sync.Pool{New: func() any {
	s := &Stream{}
	s.zip = newWriter((*output)(s))
	return s
}}

// NewStream returns a stream that is written to w. The caller closes it, and doesn't use it afterwards.
func NewStream(w io.Writer) *Stream {
	s := streams.Get().(*Stream)
	*s = Stream{w: w, out: append(s.out[:0], header...), zip: s.zip}
	return s
}

// Write compresses bytes.
func (s *Stream) Write(data []byte) (int, error) {
	s.checksum = crc32.Update(s.checksum, crc32.IEEETable, data)
	s.size += uint32(len(data))
	switch {
	case s.err != nil:
		return 0, s.err
	case !s.open && len(data) <= few:
		s.store(data)
	default:
		if !s.open {
			s.zip.Reset((*output)(s))
			s.open = true
		}
		_, _ = s.zip.Write(data) // its error is the stream's
	}
	s.writeFull()
	return len(data), s.err
}

// store appends a stored block, which begins and ends at a byte.
func (s *Stream) store(data []byte) {
	if len(data) == 0 {
		return
	}
	s.out = append(s.out, 0)
	s.out = binary.LittleEndian.AppendUint16(s.out, uint16(len(data)))
	s.out = binary.LittleEndian.AppendUint16(s.out, math.MaxUint16^uint16(len(data)))
	s.out = append(s.out, data...)
}

// WriteBlock writes bytes that were compressed before.
func (s *Stream) WriteBlock(b *Block) error {
	s.endBlock()
	s.checksum = concatenated(s.checksum, b.checksum, b.shift)
	s.size += b.size
	s.out = append(s.out, b.data...)
	s.writeFull()
	return s.err
}

// endBlock ends what zip has begun, at a byte. What zip compresses later doesn't refer to it: blocks may stand between.
func (s *Stream) endBlock() {
	if s.open {
		_ = s.zip.Flush() // its error is the stream's
		s.open = false
	}
}

// Close ends the stream.
func (s *Stream) Close() error {
	s.endBlock()
	s.out = append(s.out, lastBlock...)
	s.out = binary.LittleEndian.AppendUint32(s.out, s.checksum)
	s.out = binary.LittleEndian.AppendUint32(s.out, s.size)
	s.write()
	err := s.err
	s.w = nil
	streams.Put(s)
	return err
}

func (s *Stream) writeFull() {
	if len(s.out) >= pieceSize {
		s.write()
	}
}

func (s *Stream) write() {
	if s.err == nil {
		_, s.err = s.w.Write(s.out)
	}
	s.out = s.out[:0]
}

// output is a Stream as zip writes to it.
type output Stream

func (o *output) Write(data []byte) (int, error) {
	s := (*Stream)(o)
	s.out = append(s.out, data...)
	s.writeFull()
	return len(data), s.err
}
