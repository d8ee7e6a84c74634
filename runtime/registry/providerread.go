package registry

import (
	"cmp"
	"context"
	"slices"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/store"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
)

// Get implements View. A resourceVersion asks for no more than what the provider has now.
func (h *providerHandle[T]) Get(ctx context.Context, namespace, name, _ string, form api.Form) (api.Rendition, error) {
	obj, err := h.provided.get(ctx, namespace, name)
	if err != nil {
		return api.Rendition{}, err
	}
	return h.provided.render(obj, form)
}

// fieldsOf has the values of an object's fields in the places of a selector.
type fieldsOf[T api.Object] struct {
	obj        T
	selectable []api.SelectableField[T]
}

// Field implements fielded.
func (f fieldsOf[T]) Field(i int) string {
	switch {
	case i == store.NameField:
		return f.obj.GetName()
	case i == store.NamespaceField:
		return f.obj.GetNamespace()
	case i-store.FirstSelectable < len(f.selectable):
		return f.selectable[i-store.FirstSelectable].Value(f.obj)
	}
	return ""
}

// selects tells whether a selector takes an object of a namespace, "" for all.
func (h *providerHandle[T]) selects(s *store.Selector, namespace string, obj T) bool {
	if namespace != "" && obj.GetNamespace() != namespace {
		return false
	}
	return s.Matches(labels.Set(obj.GetLabels()), fieldsOf[T]{obj, h.definition.SelectableFields})
}

// keyOf orders objects, and is where a page goes on.
func keyOf(obj api.Object) string {
	if obj.GetNamespace() == "" {
		return "/" + obj.GetName()
	}
	return "/" + obj.GetNamespace() + "/" + obj.GetName()
}

// List implements View. A page goes on behind the name of its last object, at whatever the provider has by then.
func (h *providerHandle[T]) List(
	ctx context.Context, namespace string, opts api.ListOptions, form api.Form,
) (*api.Page, error) {
	items, list, err := h.items(ctx, namespace, opts)
	if err != nil {
		return nil, err
	}
	return h.page(items, list.ResourceVersion, int(opts.Limit), opts.Labels == nil && opts.Fields == nil, form)
}

// items are the objects that options select, sorted, from where they go on.
func (h *providerHandle[T]) items(ctx context.Context, namespace string, opts api.ListOptions) ([]T, *List[T], error) {
	if err := h.checkVerb("list"); err != nil {
		return nil, nil, err
	}
	if err := store.ValidateListOptions(opts); err != nil {
		return nil, nil, err
	}
	sel, err := store.NewSelector(opts.Selection, h.info.SelectableFields)
	if err != nil {
		return nil, nil, err
	}
	from := ""
	if opts.Continue != "" {
		if from, _, err = store.DecodeToken(opts.Continue, "/"); err != nil {
			return nil, nil, err
		}
	}
	list, err := h.provided.provider.List(ctx, namespace, opts.Selection)
	if err != nil {
		return nil, nil, h.provided.status(err, "list", "")
	}
	if list == nil {
		list = new(List[T])
	}
	items := slices.DeleteFunc(slices.Clone(list.Items), func(obj T) bool {
		return keyOf(obj) < from || !h.selects(&sel, namespace, obj)
	})
	slices.SortStableFunc(items, func(a, b T) int { return cmp.Compare(keyOf(a), keyOf(b)) })
	return items, list, nil
}

// page renders the first of items, at most limit where that is not 0.
func (h *providerHandle[T]) page(items []T, version string, limit int, all bool, form api.Form) (*api.Page, error) {
	rest := items[:0]
	if limit > 0 && len(items) > limit {
		items, rest = items[:limit], items[limit:]
	}
	renditions := make([]api.Rendition, len(items))
	for i, obj := range items {
		var err error
		if renditions[i], err = h.provided.render(obj, form); err != nil {
			return nil, err
		}
	}
	page := pageOf(renditions, version)
	if len(rest) == 0 {
		return page, nil
	}
	if left := int64(len(rest)); all {
		page.Remaining = &left
	}
	var err error
	if page.Continue, err = store.EncodeToken("/", keyOf(rest[0]), -1); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return page, nil
}

// pageOf is a page without more behind it, that borrows nothing.
func pageOf(renditions []api.Rendition, version string) *api.Page {
	return &api.Page{ResourceVersion: version, Len: len(renditions), Items: slices.Values(renditions), Close: func() {}}
}

// Watch implements View.
func (h *providerHandle[T]) Watch(
	ctx context.Context, namespace string, opts api.WatchOptions, form api.Form,
) (api.Watch, error) {
	if err := h.checkVerb("watch"); err != nil {
		return nil, err
	}
	sel, err := store.NewSelector(opts.Selection, h.info.SelectableFields)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	source, err := h.provided.provider.Watch(ctx, namespace, opts)
	if err != nil {
		cancel()
		return nil, h.provided.status(err, "watch", "")
	}
	w := &providerWatch[T]{h: h, source: source, namespace: namespace, sel: sel, form: form, ctx: ctx, cancel: cancel, known: map[string]bool{},
		resumed: opts.ResourceVersion != "" && opts.ResourceVersion != "0"}
	w.unbind = context.AfterFunc(h.closed, cancel)
	return w, nil
}

// providerWatch renders and selects the events of a provider.
type providerWatch[T api.Object] struct {
	h         *providerHandle[T]
	source    ObjectWatch[T]
	namespace string
	sel       store.Selector
	form      api.Form
	ctx       context.Context
	cancel    context.CancelFunc
	unbind    func() bool // from the handle
	// known tells, where only some objects are selected, of each that there was an event of whether the client has it.
	known map[string]bool
	// resumed: the client may have objects that this watch didn't tell.
	resumed bool
	events  []api.Event
}

// Next implements Watch.
func (w *providerWatch[T]) Next(ctx context.Context) ([]api.Event, error) {
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
			return w.events, w.h.provided.status(err, "watch", "")
		}
	}
	return w.events, nil
}

// add renders an event as the client's selector lets it appear.
func (w *providerWatch[T]) add(event WatchEvent[T]) error {
	if event.Type != api.Bookmark {
		selected := w.h.selects(&w.sel, w.namespace, event.Object)
		if !w.sel.Empty() {
			event.Type = w.appears(&event, selected)
			selected = event.Type != ""
		}
		if !selected {
			return nil
		}
	}
	rendition, err := w.h.provided.render(event.Object, w.form)
	if err != nil {
		return err
	}
	w.events = append(w.events, api.Event{Type: event.Type, Object: rendition})
	return nil
}

// appears is the type of an event for a client that sees the selected objects only; "" for none.
func (w *providerWatch[T]) appears(event *WatchEvent[T], selected bool) api.EventType {
	key := keyOf(event.Object)
	had := w.had(event, key)
	gone := event.Type == api.Deleted || !selected
	switch {
	case !gone:
		w.known[key] = true
	case w.resumed && event.Type != api.Deleted:
		w.known[key] = false
	default:
		delete(w.known, key)
	}
	switch {
	case gone && had:
		return api.Deleted
	case gone:
		return ""
	case had:
		return api.Modified
	}
	return api.Added
}

// had tells whether the client has the object of an event. Of a resumed watch's first event of an object nobody knows,
// but that what was deleted was had if it was selected to the last.
func (w *providerWatch[T]) had(event *WatchEvent[T], key string) bool {
	var none T
	if any(event.Old) != any(none) {
		return w.h.selects(&w.sel, w.namespace, event.Old)
	}
	if known, seen := w.known[key]; seen {
		return known
	}
	switch event.Type {
	case api.Modified:
		return w.resumed
	case api.Deleted:
		return w.resumed && w.h.selects(&w.sel, w.namespace, event.Object)
	}
	return false
}

// Close implements Watch.
func (w *providerWatch[T]) Close() {
	w.unbind()
	w.cancel()
	w.source.Close()
}

// DeleteCollection implements Write: a page of the list, one after the other, each shown as it was listed; what can't
// be shown stays. What goes meanwhile by itself isn't told.
func (h *providerHandle[T]) DeleteCollection(
	ctx context.Context, namespace string, opts api.DeleteOptions, list api.ListOptions,
) (*api.Page, error) {
	if err := h.checkVerb("deletecollection"); err != nil {
		return nil, err
	}
	if err := validateDeletion(opts); err != nil {
		return nil, err
	}
	items, all, err := h.items(ctx, namespace, list)
	if err != nil {
		return nil, err
	}
	if limit := int(list.Limit); limit > 0 && len(items) > limit {
		items = items[:limit]
	}
	var deleted []api.Rendition
	for _, obj := range items {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		shown, err := h.provided.render(obj, opts.Form)
		if err != nil {
			return nil, err
		}
		_, err = h.kind.delete(ctx, deletionOf[T](obj.GetNamespace(), obj.GetName(), opts, nil), newProviderState(obj))
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, err
		default:
			deleted = append(deleted, shown)
		}
	}
	return pageOf(deleted, all.ResourceVersion), nil
}
