package registry

import (
	"context"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/rendition"
)

// renderer makes the answer of a stored form, at a revision; 0 is none.
type renderer func(data []byte, revision int64, form api.Form) (api.Rendition, error)

// renderedAhead is the answer to a write that is about to be made. It is made before, since a client that is told of a
// failure must be able to trust that nothing was done; and it is the one that is sent, but for its revision. The zero
// value is one that can't fail, and is made after the write.
type renderedAhead struct {
	answer   api.Rendition
	revision int64
	made     bool
}

const (
	// unwritten stands for the revision of what isn't written yet, in forms where one is replaced more easily than
	// inserted.
	unwritten = 1 << 62
	// anyRevision is that of an answer which tells none.
	anyRevision = -1
)

// renderAhead is the step that makes the answer before the write.
func (k *kind[T]) renderAhead(_ context.Context, a *attempt[T]) error { return k.end.renderAhead(a) }

// renderAheadOf makes the answer to what is going to be stored in the place of a state at revision, 0 for none.
func renderAheadOf(render renderer, data []byte, revision int64, form api.Form) (renderedAhead, error) {
	if revision == 0 && !rendition.IsPlainJSON(form) {
		revision = unwritten
	}
	r, err := render(data, revision, form)
	return renderedAhead{answer: r, revision: revision, made: err == nil}, err
}

// at is the answer once the write has got its revision; 0 is none, of a dry run.
func (f *renderedAhead) at(render renderer, data []byte, revision int64, form api.Form) (api.Rendition, error) {
	switch {
	case f.made && (f.revision == revision || f.revision == anyRevision):
		return f.answer, nil
	case f.made && revision > 0:
		if r, ok := rendition.StampForm(f.answer, form, f.revision, revision); ok {
			return r, nil
		}
	}
	return render(data, revision, form)
}
