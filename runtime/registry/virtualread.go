package registry

import (
	"cmp"
	"context"
	"slices"

	"apigen.dev/runtime/api"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
)

// Get implements View. A resourceVersion asks for no more than what the provider has now.
func (h *virtualHandle[T]) Get(ctx context.Context, namespace, name, _ string, form api.Form) (api.Rendition, error) {
	obj, err := h.object(ctx, namespace, name)
	if err != nil {
		return api.Rendition{}, err
	}
	return h.render(obj, form)
}

// fieldsOf has the values of an object's fields in the places of a selector.
type fieldsOf[T api.Object] struct {
	obj        T
	selectable []SelectableField[T]
}

// Field implements fielded.
func (f fieldsOf[T]) Field(i int) string {
	switch {
	case i == nameField:
		return f.obj.GetName()
	case i == namespaceField:
		return f.obj.GetNamespace()
	case i-firstSelectable < len(f.selectable):
		return f.selectable[i-firstSelectable].Value(f.obj)
	}
	return ""
}

// selects tells whether a selector takes an object of a namespace, "" for all.
func (h *virtualHandle[T]) selects(s *selector, namespace string, obj T) bool {
	if namespace != "" && obj.GetNamespace() != namespace {
		return false
	}
	return s.matches(labels.Set(obj.GetLabels()), fieldsOf[T]{obj, h.definition.SelectableFields})
}

// keyOf orders objects, and is where a page goes on.
func keyOf(obj api.Object) string {
	if obj.GetNamespace() == "" {
		return "/" + obj.GetName()
	}
	return "/" + obj.GetNamespace() + "/" + obj.GetName()
}

// List implements View. A page goes on behind the name of its last object, at whatever the provider has by then.
func (h *virtualHandle[T]) List(ctx context.Context, namespace string, opts ListOptions, form api.Form) (*Page, error) {
	if h.provider.List == nil {
		return nil, h.unsupported("list")
	}
	if err := validateList(opts); err != nil {
		return nil, err
	}
	sel, err := newSelector(opts.Selection, h.info.SelectableFields)
	if err != nil {
		return nil, err
	}
	from := ""
	if opts.Continue != "" {
		if from, _, err = decodeToken(opts.Continue, "/"); err != nil {
			return nil, err
		}
	}
	list, err := h.provider.List(ctx, namespace, opts.Selection)
	if err != nil {
		return nil, h.status(err, "list", "")
	}
	if list == nil {
		list = new(List[T])
	}
	items := slices.DeleteFunc(slices.Clone(list.Items), func(obj T) bool {
		return keyOf(obj) < from || !h.selects(&sel, namespace, obj)
	})
	slices.SortStableFunc(items, func(a, b T) int { return cmp.Compare(keyOf(a), keyOf(b)) })
	return h.page(items, list.ResourceVersion, int(opts.Limit), sel.empty(), form)
}

// page renders the first of items, at most limit where that is not 0.
func (h *virtualHandle[T]) page(items []T, version string, limit int, all bool, form api.Form) (*Page, error) {
	page := &Page{ResourceVersion: version, Close: func() {}}
	if limit > 0 && len(items) > limit {
		left := int64(len(items) - limit)
		if all {
			page.Remaining = &left
		}
		var err error
		if page.Continue, err = encodeToken("/", keyOf(items[limit]), -1); err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		items = items[:limit]
	}
	renditions := make([]api.Rendition, len(items))
	for i, obj := range items {
		var err error
		if renditions[i], err = h.render(obj, form); err != nil {
			return nil, err
		}
	}
	page.Len, page.Items = len(renditions), slices.Values(renditions)
	return page, nil
}

// Watch implements View.
func (h *virtualHandle[T]) Watch(ctx context.Context, namespace string, opts WatchOptions, form api.Form) (Watch, error) {
	if h.provider.Watch == nil {
		return nil, h.unsupported("watch")
	}
	sel, err := newSelector(opts.Selection, h.info.SelectableFields)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	source, err := h.provider.Watch(ctx, namespace, opts)
	if err != nil {
		cancel()
		return nil, h.status(err, "watch", "")
	}
	w := &virtualWatch[T]{h: h, source: source, namespace: namespace, sel: sel, form: form, ctx: ctx, cancel: cancel, known: map[string]bool{}}
	w.unbind = context.AfterFunc(h.closed, cancel)
	return w, nil
}

// virtualWatch renders and selects the events of a provider.
type virtualWatch[T api.Object] struct {
	h         *virtualHandle[T]
	source    ObjectWatch[T]
	namespace string
	sel       selector
	form      api.Form
	ctx       context.Context
	cancel    context.CancelFunc
	unbind    func() bool // from the handle
	// known are the keys of what the client has, where only some objects are selected.
	known  map[string]bool
	events []Event
}

// Next implements Watch.
func (w *virtualWatch[T]) Next(ctx context.Context) ([]Event, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.ctx, cancel)()
	w.events = w.events[:0]
	for len(w.events) == 0 {
		events, err := w.source.Next(ctx)
		for _, event := range events {
			if err := w.add(event); err != nil {
				return w.events, err
			}
		}
		if err != nil {
			if w.ctx.Err() != nil {
				err = w.ctx.Err()
			}
			if ctx.Err() != nil {
				return w.events, ctx.Err()
			}
			return w.events, w.h.status(err, "watch", "")
		}
	}
	return w.events, nil
}

// add renders an event as the client's selector lets it appear.
func (w *virtualWatch[T]) add(event WatchEvent[T]) error {
	if event.Type != Bookmark {
		selected := w.h.selects(&w.sel, w.namespace, event.Object)
		if !w.sel.empty() {
			event.Type = w.appears(event.Type, keyOf(event.Object), selected)
			selected = event.Type != ""
		}
		if !selected {
			return nil
		}
	}
	rendition, err := w.h.render(event.Object, w.form)
	if err != nil {
		return err
	}
	w.events = append(w.events, Event{Type: event.Type, Object: rendition})
	return nil
}

// appears is the type of an event for a client that sees the selected objects only; "" for none.
func (w *virtualWatch[T]) appears(event EventType, key string, selected bool) EventType {
	had := w.known[key]
	if event == Deleted || !selected {
		delete(w.known, key)
		if had || event == Deleted && selected {
			return Deleted
		}
		return ""
	}
	w.known[key] = true
	if had {
		return Modified
	}
	return Added
}

// Close implements Watch.
func (w *virtualWatch[T]) Close() {
	w.unbind()
	w.cancel()
	w.source.Close()
}
