package cache

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/klauspost/compress/flate"
)

// payload is the bytes of an entry's stored form: as they are, compressed, or both. Nobody reads most objects for
// hours, and compressed they take a tenth to a third of the memory. A reader takes the bytes without a lock, and keeps
// them alive, while they are compressed or expanded. The addresses of the first bytes stand here in place of slices, so
// that an entry is not larger, and its bytes are as few steps away as they were.
type payload struct {
	plain   atomic.Pointer[byte] // nil if the bytes are kept compressed alone
	packed  atomic.Pointer[byte] // nil if they weren't compressed; set once, before plain is nil for the first time
	length  uint32
	packLen uint32      // of the compressed bytes; keepsPlain if they are not worth it. It belongs to the cooler.
	used    atomic.Bool // a reader took the bytes since the cooler last passed
}

// keepsPlain is the packLen of bytes that compression makes hardly smaller.
const keepsPlain = ^uint32(0)

// address returns where a slice begins, which isn't empty.
func address(data []byte) *byte {
	return unsafe.SliceData(data) //nolint:gosec // G103: bytesAt makes a slice of it again
}

// bytesAt returns the slice of a length that begins at an address.
func bytesAt(first *byte, length uint32) []byte {
	return unsafe.Slice(first, length) //nolint:gosec // G103: address had a slice of this length
}

// init takes the bytes of a new entry, which count as used.
func (p *payload) init(data []byte) {
	if p.length = uint32(len(data)); p.length > 0 {
		p.plain.Store(address(data))
	}
	p.used.Store(true)
}

// take returns the bytes to a reader, and keeps them as they are from then on, until nobody reads them for a while.
func (p *payload) take(s *shared) []byte {
	if plain := p.plain.Load(); plain != nil {
		if !p.used.Load() {
			p.used.Store(true)
		}
		return bytesAt(plain, p.length)
	}
	data := p.peek(s)
	if len(data) > 0 {
		p.used.Store(true)
		p.plain.Store(address(data))
	}
	return data
}

// isCold reports whether the bytes are kept compressed alone.
func (p *payload) isCold() bool { return p.length > 0 && p.plain.Load() == nil }

// peek returns the bytes, and doesn't keep what it expands.
func (p *payload) peek(s *shared) []byte {
	if plain := p.plain.Load(); plain != nil {
		return bytesAt(plain, p.length)
	}
	if p.length == 0 {
		return nil
	}
	s.counts.expanded.Add(1)
	data, err := expand(bytesAt(p.packed.Load(), p.packLen), int(p.length), s.dictionary)
	if err != nil { // they were expanded once, after they had been compressed
		panic(fmt.Sprintf("cache: compressed bytes can't be expanded: %v", err))
	}
	return data
}

// cool keeps the bytes compressed alone unless they were read since the last call. It reports whether it compressed
// them, which it does once.
func (p *payload) cool(s *shared) (compressed bool) {
	plain := p.plain.Load()
	if plain == nil || p.used.Swap(false) || p.packLen == keepsPlain {
		return false
	}
	if p.packed.Load() == nil {
		compressed = true
		data := bytesAt(plain, p.length)
		packed := compress(data, s.dictionary)
		again, err := expand(packed, len(data), s.dictionary)
		if len(packed) > len(data)*3/4 || err != nil || !bytes.Equal(again, data) {
			p.packLen = keepsPlain
			return compressed
		}
		p.packLen = uint32(len(packed))
		p.packed.Store(address(packed))
		s.counts.compressed.Add(1)
	}
	p.plain.Store(nil)
	return compressed
}

// coolLevel compresses an object in 10 to 20 µs. Higher levels take longer, and make hardly anything smaller: what
// objects have in common is in the dictionary.
const coolLevel = 1

var (
	packers = sync.Pool{New: func() any {
		w, _ := flate.NewWriterDict(nil, coolLevel, nil) // the level is valid
		return w
	}}
	unpackers = sync.Pool{New: func() any { return flate.NewReader(nil) }}
)

// compress returns data as a deflate stream (RFC 1951) that refers to the dictionary, in a slice of its own.
func compress(data, dictionary []byte) []byte {
	w := packers.Get().(*flate.Writer)
	defer packers.Put(w)
	out := bytes.NewBuffer(make([]byte, 0, len(data)/2))
	w.ResetDict(out, dictionary)
	_, _ = w.Write(data) // a buffer takes everything
	_ = w.Close()
	return bytes.Clone(out.Bytes()) // without the buffer's spare memory
}

// expand returns the length bytes of which compress made packed.
func expand(packed []byte, length int, dictionary []byte) ([]byte, error) {
	r := unpackers.Get().(io.ReadCloser)
	defer unpackers.Put(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(packed), dictionary); err != nil {
		return nil, err
	}
	data := make([]byte, length)
	_, err := io.ReadFull(r, data)
	return data, err
}

const (
	// coolFrom is how many bytes the stored forms of a cache have at least, in all, if any of them are compressed.
	coolFrom = 1 << 20
	// dictionarySize bounds a dictionary, and sampleSize the part of it that is of one object, in bytes.
	dictionarySize, sampleSize = 16 << 10, 4 << 10
	// coolShare is how many times as long as it compresses the cooler rests.
	coolShare = 3
)

// runCooler compresses, again and again, what nobody read for Config.Cold.
func (c *Cache) runCooler(ctx context.Context) {
	if c.config.Cold <= 0 {
		return
	}
	tick := time.NewTicker(c.config.Cold)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.cool(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// cool compresses what nobody read since the last call.
func (c *Cache) cool(ctx context.Context) {
	g := c.generation.Load()
	if g == nil {
		return
	}
	now := g.state.Load()
	if now.root.Len() == 0 || now.size < coolFrom && !g.shared.verify {
		return
	}
	if g.shared.dictionary == nil {
		g.shared.dictionary = dictionaryOf(now.root)
	}
	now.root.Leaves(position{}, position{}, func(leaf *node, first, last int) bool {
		began, compressed := time.Now(), false
		for _, slot := range leaf.Values()[first:last] {
			compressed = slot.entry.payload.cool(g.shared) || compressed
		}
		return !compressed || rested(ctx, coolShare*time.Since(began))
	})
}

// rested waits, and returns false if ctx ends first.
func rested(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// dictionaryOf returns parts of some objects, which the others resemble. It isn't nil.
func dictionaryOf(root *node) []byte {
	dictionary := make([]byte, 0, dictionarySize)
	n := root.Len()
	const samples = dictionarySize / sampleSize * 2
	for i := range samples {
		if found, ok := root.Nth(n * i / samples); ok {
			data := found.entry.payload.peek(found.entry.shared)
			data = data[:min(len(data), sampleSize, dictionarySize-len(dictionary))]
			dictionary = append(dictionary, data...)
		}
	}
	return dictionary
}
