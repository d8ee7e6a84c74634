package registry

import (
	"context"

	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/verb"
)

// renderer renders the answer of a stored form at a revision, 0 for none.
type renderer func(data []byte, revision int64, form verb.Form) (verb.Rendition, error)

// renderedAhead is the answer to a write, rendered before the write: a client that gets an error must be able to trust
// that nothing was written. After the write it only gets the new revision. The zero value is an answer whose rendering
// can't fail, and which is rendered after the write.
type renderedAhead struct {
	answer   verb.Rendition
	revision int64
	made     bool
}

const (
	// unwritten stands for the revision of an object that isn't written yet, in forms in which a revision can be
	// replaced but not inserted.
	unwritten = 1 << 62
	// anyRevision is the revision of an answer that shows none.
	anyRevision = -1
)

// renderAhead is the step that renders the answer before the write.
func (k *kind[T]) renderAhead(_ context.Context, a *attempt[T]) error { return k.end.renderAhead(a) }

// renderAheadOf renders the answer of a stored form that replaces a state at revision, 0 for none.
func renderAheadOf(render renderer, data []byte, revision int64, form verb.Form) (renderedAhead, error) {
	if revision == 0 && !rendition.IsPlainJSON(form) {
		revision = unwritten
	}
	r, err := render(data, revision, form)
	return renderedAhead{answer: r, revision: revision, made: err == nil}, err
}

// at returns the answer at the revision of the write, 0 for a dry run that has none.
func (f *renderedAhead) at(render renderer, data []byte, revision int64, form verb.Form) (verb.Rendition, error) {
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
