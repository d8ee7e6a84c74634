package store

import (
	"unsafe"

	"apigen.dev/runtime/internal/state/cache"
	"apigen.dev/runtime/internal/verb"
)

const (
	// holdStep is what a page asks for at once when it takes more than was promised.
	holdStep = 1 << 20
	// recordBytes is roughly what an object from the backend costs beside its value: its key, labels, and fields.
	recordBytes = 512
	itemBytes   = int64(unsafe.Sizeof(verb.Rendition{}))
)

// holding is what a list holds of the server's memory: what the cache doesn't have already. A list asks for what it
// will probably take before it begins, and goes on to ask while it takes more.
type holding struct {
	memory          verb.Memory // nil allows everything
	promised, taken int64
	refused         error
}

// promise asks for bytes before the list takes them.
func (h *holding) promise(bytes int64) error {
	if h.memory == nil || bytes == 0 {
		return nil
	}
	if err := h.memory.Expect(bytes); err != nil {
		return err
	}
	h.promised += bytes
	return nil
}

// take says that the list has taken bytes, and asks for more if that wasn't promised. After a refusal, the list ends
// with the error in refused.
func (h *holding) take(bytes int64) {
	if h.taken += bytes; h.taken <= h.promised || h.refused != nil {
		return
	}
	step := max(holdStep, h.taken-h.promised)
	if h.refused = h.memory.Hold(step); h.refused == nil {
		h.promised += step
	}
}

// takesWhole is what an object costs a list that keeps it to render it later: it and its rendition.
func takesWhole(o object) int64 {
	switch o := o.(type) {
	case *cache.Entry:
		return itemBytes + o.Size()
	case *record:
		return itemBytes + recordBytes + 2*int64(len(o.Record.Rendition.Payload))
	}
	return itemBytes
}

// isFresh reports whether an object isn't yet in memory in a form.
func isFresh(o object, form verb.Form) bool {
	e, cached := o.(*cache.Entry)
	return !cached || !e.Rendered(form)
}
