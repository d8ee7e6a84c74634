package cache

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"apigen.dev/runtime/internal/verb"
	"k8s.io/apimachinery/pkg/labels"
)

// Entry is one object at one revision: its rendition in the storage version, the labels and fields that selectors ask
// for, and further forms, which are rendered at demand. What it says never changes; forms come and go, and the
// rendition is kept compressed while nobody reads it. It is safe for concurrent use.
//
// An Entry has few pointers, so that a million entries cost the garbage collector little: key, fields and labels are
// packed into one string.
type Entry struct {
	shared *shared
	// packed is the key, then the number of fields and the fields, then the labels in the order of their names. A field
	// is its length, doubled, and its bytes; where the key holds the same bytes, it is the doubled length plus one and
	// the offset in the key. A label is two strings with their lengths in front.
	packed    string
	payload   payload
	signature signature
	revision  int64
	forms     atomic.Pointer[formList]
	rare      *rare // nil for nearly all

	keyLen, labelsAt      uint32
	versionAt, versionLen uint32
	stale                 bool
}

// rare holds the data that only few entries have.
type rare struct {
	err      error
	head     *string // if it differs from that of the other entries
	holes    []verb.Hole
	checksum uint32 // of the payload, with Config.Verify
}

// shared is the data to which all entries of one generation point.
type shared struct {
	codec  Codec
	stored verb.Form
	head   atomic.Pointer[string] // the stored form's, kept once for all
	pool   pool
	verify bool
	counts *counters
	// dictionary is what compressed payloads refer to. The cooler makes it, before the first of them.
	dictionary []byte
}

func newEntry(s *shared, key string, revision int64, r Record) *Entry {
	packed := make([]byte, 0, 192)
	packed = append(packed, key...)
	packed = binary.AppendUvarint(packed, uint64(len(r.Fields)))
	var signatures signature
	for i, field := range r.Fields {
		packed = appendField(packed, key, field)
		signatures |= signatureOfField(i, field)
	}
	labelsAt := len(packed)
	packed = appendLabels(packed, r.Labels)
	for name, value := range r.Labels {
		signatures |= signatureOfLabel(name, value)
	}
	e := &Entry{
		shared: s, packed: string(packed), keyLen: uint32(len(key)), labelsAt: uint32(labelsAt),
		signature: signatures, revision: revision, stale: r.Stale,
	}
	e.setStored(r.Rendition)
	return e
}

func newCorrupt(s *shared, key string, revision int64, err error) *Entry {
	return &Entry{
		shared: s, packed: key + "\x00", keyLen: uint32(len(key)), labelsAt: uint32(len(key)) + 1,
		signature: everything, revision: revision,
		rare: &rare{err: fmt.Errorf("%w: %s at revision %d: %w", ErrCorrupt, key, revision, err)},
	}
}

// restamped returns the same object with the revision of the change that deleted it.
func (e *Entry) restamped(revision int64) *Entry {
	c := &Entry{
		shared: e.shared, packed: e.packed, keyLen: e.keyLen, labelsAt: e.labelsAt,
		signature: e.signature, revision: revision, stale: e.stale,
	}
	c.setStored(e.shared.codec.Restamp(e.stored(), revision))
	return c
}

// share makes e, which no reader has seen yet, share memory with the entry before it.
func (e *Entry) share(before *Entry) {
	if e.packed == before.packed {
		e.packed = before.packed
	}
}

func (e *Entry) setStored(r verb.Rendition) {
	data := r.Payload
	if cap(data) > len(data)+len(data)/8+64 {
		data = slices.Clone(data)
	}
	e.payload.init(data)
	e.versionAt, e.versionLen = r.VersionAt, r.VersionLen
	if known := e.shared.isHead(r.Head); !known || len(r.Holes) > 0 {
		e.rare = &rare{holes: r.Holes}
		if !known {
			e.rare.head = &r.Head
		}
	}
	if e.shared.verify {
		e.seal()
	}
}

// isHead reports whether head is the one that all entries share. The first entry decides which one it is.
func (s *shared) isHead(head string) bool {
	known := s.head.Load()
	if known == nil {
		s.head.CompareAndSwap(nil, &head)
		known = s.head.Load()
	}
	return *known == head
}

// Key returns the entry's key in the backend.
func (e *Entry) Key() string { return e.packed[:e.keyLen] }

// Size returns the length of the stored form in bytes; that of nil is 0.
func (e *Entry) Size() int64 {
	if e == nil {
		return 0
	}
	return int64(e.payload.length)
}

// Revision returns the revision of the object's last write. For the entry of a Deleted event it is the revision of the
// change.
func (e *Entry) Revision() int64 { return e.revision }

// Stale reports whether the value would be stored with other bytes today.
func (e *Entry) Stale() bool { return e.stale }

// Err returns why the value could not be decoded, or nil. The error wraps ErrCorrupt and names the key.
func (e *Entry) Err() error {
	if e.rare == nil {
		return nil
	}
	return e.rare.err
}

func (e *Entry) corrupt() bool { return e != nil && e.Err() != nil }

// Rendition returns a form of the object. The first caller renders it, and concurrent callers wait. The entry keeps the
// form as long as the budget for renditions allows; then further calls don't allocate. It fails for a corrupt value,
// and where the codec fails to render; the next call tries again.
func (e *Entry) Rendition(wanted verb.Form) (verb.Rendition, error) {
	if wanted == e.shared.stored {
		if err := e.Err(); err != nil {
			return verb.Rendition{}, err
		}
		e.check()
		return e.storedAs(e.payload.take(e.shared)), nil
	}
	if f := e.forms.Load().find(wanted); f != nil {
		return f.get()
	}
	return e.render(wanted)
}

// Rendered reports whether the entry has a form, so that Rendition would neither render nor expand nor fail. This may
// be over by the next call, where the budget for renditions is used up, or the stored form is compressed.
func (e *Entry) Rendered(wanted verb.Form) bool {
	if wanted == e.shared.stored {
		return e.Err() == nil && !e.payload.isCold()
	}
	f := e.forms.Load().find(wanted)
	return f != nil && f.done.Load() && f.err == nil
}

// stored returns the stored form to those who make something else of it.
func (e *Entry) stored() verb.Rendition { return e.storedAs(e.payload.peek(e.shared)) }

func (e *Entry) storedAs(payload []byte) verb.Rendition {
	r := verb.Rendition{Payload: payload, VersionAt: e.versionAt, VersionLen: e.versionLen}
	head := e.shared.head.Load()
	if e.rare != nil {
		r.Holes = e.rare.holes
		if e.rare.head != nil {
			head = e.rare.head
		}
	}
	if head != nil {
		r.Head = *head
	}
	return r
}

// Labels returns the entry's labels. It doesn't allocate.
func (e *Entry) Labels() labels.Labels { return LabelSet{e} }

// Field returns the value at index i of Record.Fields, "" if there is none.
func (e *Entry) Field(i int) string {
	rest := e.packed[e.keyLen:e.labelsAt]
	n, rest := cutNumber(rest)
	if i < 0 || uint64(i) >= n {
		return ""
	}
	for ; ; i-- {
		var length, offset uint64
		length, rest = cutNumber(rest)
		inKey := length&1 == 1
		length >>= 1
		var value string
		if inKey {
			offset, rest = cutNumber(rest)
			value = e.packed[offset : offset+length]
		} else {
			value, rest = rest[:length], rest[length:]
		}
		if i == 0 {
			return value
		}
	}
}

// LabelSet implements labels.Labels over an entry's packed labels. It is the size of a pointer, so that it becomes an
// interface without allocating.
type LabelSet struct{ e *Entry }

// Has reports whether the entry has the label.
func (l LabelSet) Has(label string) bool {
	_, found := l.Lookup(label)
	return found
}

// Get returns the label's value, "" if the entry doesn't have the label.
func (l LabelSet) Get(label string) string {
	value, _ := l.Lookup(label)
	return value
}

// Lookup returns the label's value and whether the entry has the label.
func (l LabelSet) Lookup(label string) (value string, exists bool) {
	for rest := l.e.packed[l.e.labelsAt:]; rest != ""; {
		var name string
		name, rest = cutString(rest)
		value, rest = cutString(rest)
		if name >= label {
			if name == label {
				return value, true
			}
			break
		}
	}
	return "", false
}

// All yields names and values in the order of the names.
func (l LabelSet) All(yield func(name, value string) bool) {
	for rest := l.e.packed[l.e.labelsAt:]; rest != ""; {
		var name, value string
		name, rest = cutString(rest)
		value, rest = cutString(rest)
		if !yield(name, value) {
			return
		}
	}
}

func appendField(packed []byte, key, field string) []byte {
	if at := strings.LastIndex(key, field); at >= 0 && len(field) > 2 {
		packed = binary.AppendUvarint(packed, uint64(len(field))<<1|1)
		return binary.AppendUvarint(packed, uint64(at))
	}
	packed = binary.AppendUvarint(packed, uint64(len(field))<<1)
	return append(packed, field...)
}

func appendLabels(packed []byte, all map[string]string) []byte {
	names := make([]string, 0, 16)
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		packed = binary.AppendUvarint(packed, uint64(len(name)))
		packed = append(packed, name...)
		packed = binary.AppendUvarint(packed, uint64(len(all[name])))
		packed = append(packed, all[name]...)
	}
	return packed
}

// cutNumber reads an unsigned varint that binary.AppendUvarint wrote.
func cutNumber(s string) (uint64, string) {
	var n uint64
	for i := 0; i < len(s); i++ {
		n |= uint64(s[i]&0x7f) << (7 * i)
		if s[i] < 0x80 {
			return n, s[i+1:]
		}
	}
	return n, ""
}

func cutString(s string) (string, string) {
	n, s := cutNumber(s)
	return s[:n], s[n:]
}
