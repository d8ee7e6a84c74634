package store

import (
	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/state/cache"
)

// RenderAll renders many objects, where another program takes part in that: few calls are then better than many.
type RenderAll struct {
	// For reports whether it renders a form.
	For func(form api.Form) bool
	// Render renders objects from their stored form. Each has its rendition or its error.
	Render func(stored []api.Rendition, form api.Form) ([]api.Rendition, []error)
}

// rendersTogether reports whether the objects of a list are rendered together in a form.
func (s *shared) rendersTogether(form api.Form) bool {
	return s.renderAll.For != nil && form != s.stored && s.renderAll.For(form)
}

// renderTogether renders objects in a form: all that the cache doesn't have in that form together.
func (s *shared) renderTogether(objects []object, form api.Form) ([]api.Rendition, []error) {
	out, errs := make([]api.Rendition, len(objects)), make([]error, len(objects))
	var places []int
	var stored []api.Rendition
	for i, o := range objects {
		if e, ok := o.(*cache.Entry); ok && e.Rendered(form) {
			out[i], errs[i] = e.Rendition(form)
			continue
		}
		r, err := o.Rendition(s.stored)
		if errs[i] = err; err == nil {
			places, stored = append(places, i), append(stored, r)
		}
	}
	if len(places) == 0 {
		return out, errs
	}
	rendered, failed := s.renderAll.Render(stored, form)
	for n, i := range places {
		out[i], errs[i] = rendered[n], failed[n]
		if e, ok := objects[i].(*cache.Entry); ok && errs[i] == nil {
			e.Keep(out[i], form)
		}
	}
	return out, errs
}
