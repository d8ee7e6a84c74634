package registry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/ownership"
	"apigen.dev/runtime/rendition"
	"apigen.dev/runtime/store"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// New erases T: it returns the definition as a Resource that a server can open. A definition that contradicts itself
// (a storage version that isn't served, say) fails at Open.
func New[T api.Object](definition Definition[T]) Resource {
	d, info := describe(definition)
	return &resource[T]{definition: d, info: info}
}

// describe completes a definition, and tells what is known of it.
func describe[T api.Object](d Definition[T]) (*Definition[T], *api.Info) {
	if d.Names.ListKind == "" {
		d.Names.ListKind = d.Names.Kind + "List"
	}
	if d.Names.Singular == "" {
		d.Names.Singular = strings.ToLower(d.Names.Kind)
	}
	info := &api.Info{Group: d.Group, Names: d.Names, Scope: d.Scope, Storage: d.Storage}
	if info.StoragePrefix = d.StoragePrefix; info.StoragePrefix == "" {
		info.StoragePrefix = strings.TrimPrefix(d.Group+"/"+d.Names.Plural, "/")
	}
	for _, v := range d.Versions {
		vi := v.Info
		vi.Columns = rendition.Columns(vi.Columns)
		vi.Protobuf = v.HasProtobuf()
		info.Versions = append(info.Versions, vi)
	}
	for _, s := range d.Subresources {
		info.Subresources = append(info.Subresources, s.Name)
	}
	info.Extensions = extensionInfos(&d)
	for _, f := range d.SelectableFields {
		info.SelectableFields = append(info.SelectableFields, f.Path)
	}
	return &d, info
}

// resource is a Definition as a Resource. Its Info has the columns of each version complete, name first.
type resource[T api.Object] struct {
	definition *Definition[T]
	info       *api.Info
}

func (r *resource[T]) Info() *api.Info { return r.info }

// Open implements Resource.
func (r *resource[T]) Open(ctx context.Context, config Config) (Handle, error) {
	d := r.definition
	all, err := checkDefinition(d)
	if err != nil {
		return nil, fmt.Errorf("the definition of %s: %w", r.info.GroupResource(), err)
	}
	stored := store.NewStoredVersions(config.Backend, config.Prefix, r.info.GroupResource(), d.Storage)
	if err := stored.Check(ctx, all.Names()); err != nil {
		return nil, fmt.Errorf("opening %s: %w", r.info.GroupResource(), err)
	}
	store, err := r.store(config, all, stored)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", r.info.GroupResource(), err)
	}
	kind := schema.GroupKind{Group: d.Group, Kind: d.Names.Kind}
	h := &handle[T]{definition: d, info: r.info, versions: all, store: store, kind: kind, ignorePropagation: config.IgnorePropagation}
	if h.log = config.Log; h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	h.owners = sync.OnceValues(func() (*owners[T], error) { return newOwners(d, all, config.Schemas) })
	h.schemas = config.Schemas
	if h.extensions, err = openExtensions(d, h.host()); err != nil {
		return nil, errors.Join(fmt.Errorf("the definition of %s: %w", r.info.GroupResource(), err), store.Close())
	}
	return h, nil
}

func (r *resource[T]) store(config Config, all *codec.Versions[T], stored *store.StoredVersions) (*store.Store[T], error) {
	d := r.definition
	return store.New(store.Config[T]{
		Backend: config.Backend, DisableCache: config.DisableCache, Transformer: config.Transformer, BeforeWrite: stored.BeforeWrite,
		CheckCache: config.CheckCache, Window: config.Window, Log: config.Log, Verify: config.Verify,
		KeyPrefix: config.Prefix, ResourcePrefix: r.info.StoragePrefix + "/",
		Resource: r.info.GroupResource(), Namespaced: d.Scope == api.Namespaced,
		New: d.New, Encode: all.Encode, Decode: all.Decode, Translate: all.Translate, Fields: d.SelectableFields,
		Form: api.Form{Version: d.Storage, Shape: api.Whole}, Head: all.Storage.Head,
		Render: all.Render, Bookmark: all.Bookmark,
	})
}

// checkDefinition finds contradictions, and binds the versions.
func checkDefinition[T api.Object](d *Definition[T]) (*codec.Versions[T], error) {
	switch {
	case d.New == nil:
		return nil, fmt.Errorf("New is not set")
	case d.Names.Kind == "" || d.Names.Plural == "":
		return nil, fmt.Errorf("Names has no Kind or no Plural")
	case d.Scope != api.Namespaced && d.Scope != api.Cluster:
		return nil, fmt.Errorf("the Scope %q is neither %s nor %s", d.Scope, api.Namespaced, api.Cluster)
	case d.StoragePrefix != store.CleanPrefix(d.StoragePrefix):
		return nil, fmt.Errorf("the StoragePrefix is %q: write %q", d.StoragePrefix, store.CleanPrefix(d.StoragePrefix))
	}
	seen := map[string]bool{"": true}
	for _, s := range d.Subresources {
		if seen[s.Name] || s.Copy == nil || s.Reset == nil {
			return nil, fmt.Errorf("subresource %q: it needs a name of its own, Copy and Reset", s.Name)
		}
		seen[s.Name] = true
	}
	for _, f := range d.SelectableFields {
		if f.Path == "" || f.Value == nil {
			return nil, fmt.Errorf("selectable field %q: it needs Path and Value", f.Path)
		}
	}
	return codec.Bind(codec.Kind[T]{Group: d.Group, Kind: d.Names.Kind, New: d.New, Versions: d.Versions}, d.Storage)
}

// handle is an open resource. What writes mean is in create.go, update.go, patch.go and delete.go; reads are the store's.
type handle[T api.Object] struct {
	definition *Definition[T]
	info       *api.Info
	versions   *codec.Versions[T]
	store      *store.Store[T]
	kind       schema.GroupKind
	// ignorePropagation is Config's.
	ignorePropagation bool
	// owners is made at the first write.
	owners     func() (*owners[T], error)
	schemas    *ownership.Schemas
	extensions map[string]*ExtensionHandle
	log        *slog.Logger
	// told is when it was last logged that owners could not be found out.
	told atomic.Int64
}

func (h *handle[T]) Info() *api.Info { return h.info }
func (h *handle[T]) Ready() error    { return h.store.Ready() }
func (h *handle[T]) Close() error    { return h.store.Close() }

// Measure implements Measured.
func (h *handle[T]) Measure(ctx context.Context) store.Measurement { return h.store.Measure(ctx) }

// Get implements View.
func (h *handle[T]) Get(ctx context.Context, namespace, name, resourceVersion string, form api.Form) (api.Rendition, error) {
	key, err := h.key(namespace, name)
	if err != nil {
		return api.Rendition{}, err
	}
	return h.store.Get(ctx, key, store.GetOptions{ResourceVersion: resourceVersion}, form)
}

// List implements View.
func (h *handle[T]) List(ctx context.Context, namespace string, opts api.ListOptions, form api.Form) (*api.Page, error) {
	prefix, err := h.prefix(namespace)
	if err != nil {
		return nil, err
	}
	return h.store.List(ctx, prefix, opts, form)
}

// Watch implements View.
func (h *handle[T]) Watch(ctx context.Context, namespace string, opts api.WatchOptions, form api.Form) (api.Watch, error) {
	prefix, err := h.prefix(namespace)
	if err != nil {
		return nil, err
	}
	return h.store.Watch(ctx, prefix, opts, form)
}

// key is that of one object.
func (h *handle[T]) key(namespace, name string) (string, error) {
	if name == "" {
		return "", apierrors.NewBadRequest("Name parameter required.")
	}
	if messages := content.IsPathSegmentName(name); len(messages) > 0 {
		return "", apierrors.NewBadRequest(fmt.Sprintf("Name parameter invalid: %q: %s", name, strings.Join(messages, ";")))
	}
	if h.info.Scope == api.Cluster {
		return h.store.Prefix() + name, nil
	}
	if namespace == "" {
		return "", apierrors.NewBadRequest("Namespace parameter required.")
	}
	prefix, err := h.prefix(namespace)
	return prefix + name, err
}

// prefix is that of the keys in a namespace; "" is all of them.
func (h *handle[T]) prefix(namespace string) (string, error) {
	if namespace == "" || h.info.Scope == api.Cluster {
		return h.store.Prefix(), nil
	}
	// Of other names that no namespace can have there is nothing; these would lead elsewhere.
	if namespace == "." || namespace == ".." || strings.Contains(namespace, "/") {
		return "", apierrors.NewBadRequest(fmt.Sprintf("Namespace parameter invalid: %q: it is no segment of a path", namespace))
	}
	return h.store.Prefix() + namespace + "/", nil
}

// answer is the rendition of a stored form at a revision; 0 is none.
func (h *handle[T]) answer(data []byte, revision int64, form api.Form) (api.Rendition, error) {
	r, err := rendition.New(data, h.versions.Storage.Head)
	if err != nil {
		return r, apierrors.NewInternalError(err)
	}
	if revision > 0 {
		r = rendition.Stamp(r, revision)
	}
	if form == h.store.Form() {
		return r, nil
	}
	if r, err = h.versions.Render(r, form); err != nil {
		return r, apierrors.NewInternalError(err)
	}
	return r, nil
}

// subresource finds one by its name; "" is nil, the object itself.
func (h *handle[T]) subresource(name string) (*Subresource[T], error) {
	for i := range h.definition.Subresources {
		if h.definition.Subresources[i].Name == name {
			return &h.definition.Subresources[i], nil
		}
	}
	if name == "" {
		return nil, nil
	}
	return nil, apierrors.NewGenericServerResponse(404, "", schema.GroupResource{}, "", "", 0, true)
}
