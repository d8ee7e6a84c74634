package codec

import (
	"context"
	"maps"
	"slices"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/verb"
)

// Remote reports whether another program converts objects from the storage version to this one: a conversion may fail,
// and takes as long as the other program does.
func (v *Served[T]) Remote() bool { return v.remote != nil }

// Within returns the versions, whose conversions by another program end with ctx. Where no other program converts, it
// returns a itself.
func (a *Versions[T]) Within(ctx context.Context) *Versions[T] {
	if !a.remote {
		return a
	}
	bound := &Versions[T]{NewHub: a.NewHub, Served: slices.Clone(a.Served), remote: true}
	for i := range bound.Served {
		if v := &bound.Served[i]; v.remote != nil {
			v.binding = v.remote.within(ctx)
		}
	}
	bound.Storage = bound.ByKey(a.Storage.Key)
	return bound
}

// ConvertsTogether reports whether RenderAll of a form asks less of another program than as many calls of Render.
func (a *Versions[T]) ConvertsTogether(form verb.Form) bool {
	v := a.ByKey(form.Version)
	return v != nil && v.Remote()
}

// RenderAll renders a form of many objects as Render does. Each object has its rendition or its error. The conversion
// by another program ends with ctx.
func (a *Versions[T]) RenderAll(
	ctx context.Context, stored []verb.Rendition, form verb.Form,
) ([]verb.Rendition, []error) {
	out, errs := make([]verb.Rendition, len(stored)), make([]error, len(stored))
	v := a.ByKey(form.Version)
	if v == nil || !v.Remote() {
		for i := range stored {
			out[i], errs[i] = a.Render(stored[i], form)
		}
		return out, errs
	}
	var all []separated[T]
	for i := range stored {
		one, err := a.separate(stored[i], form)
		if errs[i] = err; err == nil {
			one.at = i
			all = append(all, one)
		}
	}
	hubs := make([]T, len(all))
	for i := range all {
		hubs[i] = all[i].hub
	}
	codecs, failed := v.remote.converted(ctx, hubs)
	for i := range all {
		at := all[i].at
		if errs[at] = failed[i]; errs[at] != nil {
			continue
		}
		as := *v
		as.codec = codecs[i]
		var ok bool
		if out[at], ok, errs[at] = as.assemble(all[i], form); !ok {
			out[at], errs[at] = a.Render(stored[at], form)
		}
	}
	return out, errs
}

// separated is a stored object, whose managedFields are cut out where they need no conversion.
type separated[T api.Object] struct {
	at      int
	hub     T
	managed []byte
	cut     bool
}

func (a *Versions[T]) separate(stored verb.Rendition, form verb.Form) (one separated[T], err error) {
	data := rendition.Whole(stored)
	if form.Encoding == verb.JSON && form.Shape < verb.Row {
		if without, managed, ok := rendition.CutManagedFields(stored); ok {
			data, one.managed, one.cut = without, managed, true
		}
	}
	one.hub, err = a.Decode(data)
	return one, err
}

// assemble renders a form of an object, and reports whether it could put the managedFields back.
func (v *Served[T]) assemble(one separated[T], form verb.Form) (r verb.Rendition, ok bool, err error) {
	if !one.cut {
		r, err = v.render(one.hub, form)
		return r, true, err
	}
	data, err := v.Encode(one.hub)
	if err != nil {
		return r, true, err
	}
	object, err := rendition.New(data, v.Head)
	if err != nil {
		return r, true, err
	}
	if object, ok = rendition.InsertManagedFields(object, one.managed); ok {
		r, err = v.shape(one.hub, object, form)
	}
	return r, ok, err
}

func (m *mapped) within(ctx context.Context) binding[object] {
	if m.Within == nil {
		return bindingOfMap(m)
	}
	return bindingOfMap(&mapped{m.Within(ctx)})
}

func (m *mapped) converted(ctx context.Context, hubs []object) ([]core[object], []error) {
	in := make([]map[string]any, len(hubs))
	for i, hub := range hubs {
		in[i] = hub.DeepCopy().Object
	}
	out, errs := m.FromHubAll(ctx, in)
	codecs := make([]core[object], len(hubs))
	for i := range hubs {
		one := *m
		one.FromHub = func(map[string]any) (map[string]any, error) { return maps.Clone(out[i]), errs[i] }
		codecs[i] = &one
	}
	return codecs, errs
}
