package registry

import (
	"apigen.dev/runtime/api"
	"apigen.dev/runtime/rendition"
)

// answering makes the answer of a stored form, at a revision; 0 is none.
type answering func(data []byte, revision int64, form api.Form) (api.Rendition, error)

// foreseen is the answer to a write that is about to be made. It is made before, since a client that is told of a failure
// must be able to trust that nothing was done; and it is the one that is sent, but for its revision. The zero value is one
// that can't fail, and is made once it is wanted.
type foreseen struct {
	answer   api.Rendition
	revision int64
	made     bool
}

// unwritten stands for the revision of what isn't written yet, in forms where one is replaced more easily than inserted.
const unwritten = 1 << 62

// foresee makes the answer to what is going to be stored in the place of a state at revision, 0 for none.
func (h *handle[T]) foresee(answer answering, data []byte, revision int64, form api.Form) (foreseen, error) {
	if revision == 0 && !rendition.IsPlainJSON(form) {
		revision = unwritten
	}
	r, err := answer(data, revision, form)
	return foreseen{answer: r, revision: revision, made: err == nil}, err
}

// foreseeObject is foresee where the answer is the object.
func (h *handle[T]) foreseeObject(data []byte, revision int64, form api.Form) (foreseen, error) {
	if form == h.store.Form() {
		return foreseen{}, nil
	}
	return h.foresee(h.answer, data, revision, form)
}

// at is the answer once the write has got its revision; 0 is none, of a dry run.
func (f *foreseen) at(answer answering, data []byte, revision int64, form api.Form) (api.Rendition, error) {
	switch {
	case f.made && f.revision == revision:
		return f.answer, nil
	case f.made && revision > 0:
		if r, ok := rendition.StampForm(f.answer, form, f.revision, revision); ok {
			return r, nil
		}
	}
	return answer(data, revision, form)
}
