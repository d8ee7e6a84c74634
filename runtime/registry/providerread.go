package registry

import (
	"cmp"
	"context"
	"slices"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Get implements View. It ignores the resourceVersion: the provider returns its newest state.
func (h *providerHandle[T]) Get(
	ctx context.Context, namespace, name, _ string, form verb.Form,
) (verb.Rendition, error) {
	obj, err := h.provided.get(ctx, namespace, name)
	if err != nil {
		return verb.Rendition{}, err
	}
	return h.provided.render(obj, form)
}

// selects reports whether a selector selects an object, and the object is in a namespace, "" for all.
func (h *providerHandle[T]) selects(s *store.Selector, namespace string, obj T) bool {
	return (namespace == "" || obj.GetNamespace() == namespace) && store.Selects(s, obj, h.definition.SelectableFields)
}

// keyOf returns the key by which objects are sorted and pages continue.
func keyOf(obj api.Object) string {
	if obj.GetNamespace() == "" {
		return "/" + obj.GetName()
	}
	return "/" + obj.GetNamespace() + "/" + obj.GetName()
}

// List implements View. The next page continues after the last object, at the provider's newest state.
func (h *providerHandle[T]) List(
	ctx context.Context, namespace string, opts verb.ListOptions, form verb.Form,
) (*verb.Page, error) {
	items, list, err := h.items(ctx, namespace, opts)
	if err != nil {
		return nil, err
	}
	return h.page(items, list.ResourceVersion, int(opts.Limit), opts.Labels == nil && opts.Fields == nil, form)
}

// items returns the sorted objects that options select, from their continue token on.
func (h *providerHandle[T]) items(ctx context.Context, namespace string, opts verb.ListOptions) ([]T, *List[T], error) {
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
func (h *providerHandle[T]) page(items []T, version string, limit int, all bool, form verb.Form) (*verb.Page, error) {
	rest := items[:0]
	if limit > 0 && len(items) > limit {
		items, rest = items[:limit], items[limit:]
	}
	renditions := make([]verb.Rendition, len(items))
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

// pageOf returns a page of renditions that nothing follows.
func pageOf(renditions []verb.Rendition, version string) *verb.Page {
	return &verb.Page{ResourceVersion: version, Len: len(renditions), Items: slices.Values(renditions),
		Close: func() {}}
}

func (h *providerHandle[T]) Watch(
	ctx context.Context, namespace string, opts api.WatchOptions, form verb.Form,
) (verb.Watch, error) {
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
	w := &providerWatch[T]{h: h, source: source, namespace: namespace, sel: sel, form: form, ctx: ctx, cancel: cancel,
		known:   map[string]bool{},
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
	form      verb.Form
	ctx       context.Context
	cancel    context.CancelFunc
	unbind    func() bool // from the handle
	// known tells of each object of which there was an event whether the client has it, if there is a selector.
	known map[string]bool
	// resumed reports whether the client may have objects of which this watch sent no event.
	resumed bool
	events  []verb.Event
}

func (w *providerWatch[T]) Next(ctx context.Context) ([]verb.Event, error) {
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

// add renders an event as the client sees it through its selector.
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
	w.events = append(w.events, verb.Event{Type: event.Type, Object: rendition})
	return nil
}

// appears returns the type of an event for a client that sees only selected objects, or "" if it sees no event.
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

// had reports whether the client has the object of an event. At the first event of an object in a resumed watch, it
// assumes so: except for an object that was deleted and that the selector doesn't select.
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

func (w *providerWatch[T]) Close() {
	w.unbind()
	w.cancel()
	w.source.Close()
}

// DeleteCollection implements Write. It deletes the objects of a page one after the other, and the answer shows each
// as it was listed. It doesn't delete an object that it can't render. The answer lacks objects that another request
// deletes meanwhile.
func (h *providerHandle[T]) DeleteCollection(
	ctx context.Context, namespace string, opts verb.DeleteOptions, list verb.ListOptions,
) (*verb.Page, error) {
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
	var deleted []verb.Rendition
	for _, obj := range items {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		shown, err := h.provided.render(obj, opts.Form)
		if err != nil {
			return nil, err
		}
		r := h.deletionOf(obj.GetNamespace(), obj.GetName(), opts, nil)
		r.deletion.collection = true
		_, err = h.kind.delete(ctx, r, newProviderState(obj))
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
