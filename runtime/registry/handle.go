package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/typedclient"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/subresource"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// New returns the definition as a Resource that a server can open; it erases T. Open fails where the definition
// contradicts itself, for example by a storage version that isn't served.
func New[T api.Object](definition Definition[T]) Resource {
	d, info := describe(definition)
	return &resource[T]{definition: d, info: info}
}

func describe[T api.Object](d Definition[T]) (*Definition[T], *verb.Info) {
	if d.Names.ListKind == "" {
		d.Names.ListKind = d.Names.Kind + "List"
	}
	if d.Names.Singular == "" {
		d.Names.Singular = strings.ToLower(d.Names.Kind)
	}
	info := &verb.Info{Group: d.Group, Names: d.Names, Scope: d.Scope, Storage: d.Storage, Verbs: d.Verbs}
	if info.StoragePrefix = d.StoragePrefix; info.StoragePrefix == "" {
		info.StoragePrefix = strings.TrimPrefix(d.Group+"/"+d.Names.Plural, "/")
	}
	for _, v := range d.Versions {
		vi := v.Info
		if len(vi.Columns) > 0 || info.Has("get") || info.Has("list") {
			vi.Columns = rendition.Columns(vi.Columns) // what is only created has no Table otherwise
		}
		vi.Protobuf = v.HasProtobuf()
		vi.SelectableFields = nil
		for _, f := range d.SelectableFields {
			if f.In(vi.Name) {
				vi.SelectableFields = append(vi.SelectableFields, f.Path)
			}
		}
		info.Versions = append(info.Versions, vi)
	}
	for i := range d.Subresources {
		info.Subresources = append(info.Subresources, d.Subresources[i].info())
	}
	for _, e := range d.Extensions {
		info.Extensions = append(info.Extensions, e.Info(d.Group))
	}
	for _, f := range d.SelectableFields {
		info.SelectableFields = append(info.SelectableFields, f.Path)
	}
	return &d, info
}

func wrongDefinition(info *verb.Info, err error) error {
	return fmt.Errorf("the definition of %s: %w", info.GroupResource(), err)
}

// resource is a Definition as a Resource. Its Info has all columns of each version, the name first.
type resource[T api.Object] struct {
	definition *Definition[T]
	info       *verb.Info
}

func (r *resource[T]) Info() *verb.Info { return r.info }

func (r *resource[T]) Open(ctx context.Context, config Config) (verb.Handle, error) {
	d := r.definition
	shared, err := r.sharing(config)
	if err == nil {
		err = shared.acquire(ctx, config)
	}
	if err != nil {
		return nil, err
	}
	k := newKind(d, r.info, shared.versions, config)
	store := shared.view(d, r.info.GroupResource())
	end := &storageEnd[T]{
		kind: k, store: store, ignorePropagation: config.IgnorePropagation, afterWrite: config.AfterWrite,
		life: config.TimeToLive,
	}
	k.end, k.initialize = end, end.initialize
	h := &handle[T]{kind: k, store: store, storage: end, shared: shared}
	if k.extensions, err = subresource.Open(d.Extensions, h.host()); err != nil {
		return nil, errors.Join(wrongDefinition(r.info, err), shared.release())
	}
	return h, nil
}

// migratable is a Resource that New made.
type migratable interface {
	migrate(ctx context.Context, config Config, opts store.MigrateOptions) (store.Migration, error)
}

// Migrate rewrites every stale object of a resource, which is one that a write of today would store differently, and
// removes the versions that are no longer stored from the record of versions. It may run beside servers: each write is
// a compare-and-swap of the same object, without hooks; generation and time to live stay. Migrate counts corrupt
// objects and leaves them alone. It may end at any time, with ctx or an error, and run again.
//
// Migrate removes a version from the record if it found no object in it. A server that still writes that version
// records it again with its first write after a minute, so migrate once all servers have the new storage version.
func Migrate(
	ctx context.Context, resource Resource, config Config, opts store.MigrateOptions,
) (store.Migration, error) {
	m, ok := resource.(migratable)
	if !ok {
		return store.Migration{}, fmt.Errorf("%s was not made by registry.New: it can't be migrated",
			resource.Info().GroupResource())
	}
	return m.migrate(ctx, config, opts)
}

func (r *resource[T]) migrate(ctx context.Context, config Config, opts store.MigrateOptions) (store.Migration, error) {
	shared, err := r.sharing(config)
	if err != nil {
		return store.Migration{}, err
	}
	if shared.versions, err = shared.bind(); err != nil {
		return store.Migration{}, wrongDefinition(shared.info, err)
	}
	config.DisableCache = true
	record := shared.record(config)
	opened, err := shared.newStore(config, record)
	if err != nil {
		return store.Migration{}, fmt.Errorf("opening %s: %w", shared.info.GroupResource(), err)
	}
	done, err := opened.Migrate(ctx, record, opts)
	return done, errors.Join(err, opened.Close())
}

// check refuses contradictions in the definition.
func (d *Definition[T]) check() error {
	switch {
	case d.New == nil:
		return fmt.Errorf("New is not set")
	case d.Names.Kind == "" || d.Names.Plural == "":
		return fmt.Errorf("Names has no Kind or no Plural")
	case d.Scope != api.Namespaced && d.Scope != api.Cluster:
		return fmt.Errorf("the Scope %q is neither %s nor %s", d.Scope, api.Namespaced, api.Cluster)
	case d.StoragePrefix != store.CleanPrefix(d.StoragePrefix):
		return fmt.Errorf("the StoragePrefix is %q: write %q", d.StoragePrefix, store.CleanPrefix(d.StoragePrefix))
	}
	seen := map[string]bool{}
	for i := range d.Subresources {
		s := &d.Subresources[i]
		if err := s.check(d); err != nil {
			return fmt.Errorf("subresource %q: %w", s.Name, err)
		}
		if seen[s.Name] {
			return fmt.Errorf("subresource %q is declared twice", s.Name)
		}
		seen[s.Name] = true
	}
	for _, f := range d.SelectableFields {
		if f.Path == "" || f.Value == nil && f.Of == "" {
			return fmt.Errorf("selectable field %q: it needs Path and Value", f.Path)
		}
		for _, version := range f.Versions {
			if !slices.ContainsFunc(d.Versions, func(v codec.Version[T]) bool { return v.Info.Name == version }) {
				return fmt.Errorf("selectable field %q: version %q is not served", f.Path, version)
			}
		}
	}
	return nil
}

// handle is an open resource with storage. Its kind writes, its store reads.
type handle[T api.Object] struct {
	*kind[T]
	store   *store.Store[T]
	storage *storageEnd[T]
	shared  *sharing[T]
}

func (h *handle[T]) StoredForm() verb.Form                         { return h.store.Form() }
func (h *handle[T]) Ready() error                                  { return h.store.Ready() }
func (h *handle[T]) Close() error                                  { return h.shared.release() }
func (h *handle[T]) Measure(ctx context.Context) store.Measurement { return h.store.Measure(ctx) }

// AddObjects implements typedclient.Reached.
func (h *handle[T]) AddObjects(to *reach.Resources) error {
	return reach.Add[T](to, typedclient.Client[T]{Resource: h, Versions: h.versions, New: h.versions.NewHub,
		Form: h.StoredForm(), Stored: true, Change: h.change})
}

// change is an update by a function of this process, in place of a body. An error of the function is returned as it is.
func (h *handle[T]) change(
	ctx context.Context, namespace, name, subresource string, opts verb.WriteOptions, change func(obj T) error,
) (updated T, err error) {
	r, err := h.updateRequest("update", namespace, name, subresource, h.versions.Storage.GVK.Version, opts)
	if err != nil {
		return updated, err
	}
	var refused error
	propose := func(_ context.Context, _ *attempt[T], obj T) error { refused = change(obj); return refused }
	r.proposal = &changed[T]{change: propose}
	result, err := h.update(ctx, r)
	if refused != nil && errors.Is(err, refused) { // else it refused a state that was only a guess
		err = refused
	}
	if err != nil {
		return updated, err
	}
	return h.store.Object(result.Object)
}

func (h *handle[T]) Size() (objects, bytes int64, known bool) { return h.store.Size() }

func (h *handle[T]) Get(
	ctx context.Context, namespace, name, resourceVersion string, form verb.Form,
) (verb.Rendition, error) {
	key, err := h.storage.key(namespace, name)
	if err != nil {
		return verb.Rendition{}, err
	}
	return h.store.Get(ctx, key, store.GetOptions{ResourceVersion: resourceVersion}, form)
}

func (h *handle[T]) List(
	ctx context.Context, namespace string, opts verb.ListOptions, form verb.Form,
) (*verb.Page, error) {
	prefix, err := h.prefix(namespace)
	if err != nil {
		return nil, err
	}
	return h.store.List(ctx, prefix, opts, form)
}

func (h *handle[T]) Watch(
	ctx context.Context, namespace string, opts api.WatchOptions, form verb.Form,
) (verb.Watch, error) {
	prefix, err := h.prefix(namespace)
	if err != nil {
		return nil, err
	}
	return h.store.Watch(ctx, prefix, opts, form)
}

// prefix returns the prefix of the keys in a namespace, "" for all namespaces.
func (h *handle[T]) prefix(namespace string) (string, error) {
	if namespace == "" || h.info.Scope == api.Cluster {
		return h.store.Prefix(), nil
	}
	if err := checkNamespace(namespace); err != nil {
		return "", err
	}
	return h.store.Prefix() + namespace + "/", nil
}

func (h *handle[T]) host() subresource.Host[T] {
	return subresource.Host[T]{
		Info: h.info, Object: h.object, Writer: hostWriter[T]{h}, Schemas: h.schemas, LogOwnership: h.logOwnership,
		Admission: h.admission,
	}
}

func (h *handle[T]) object(ctx context.Context, namespace, name, resourceVersion string) (none T, err error) {
	rendition, err := h.Get(ctx, namespace, name, resourceVersion, h.store.Form())
	if err != nil {
		return none, err
	}
	return h.store.Object(rendition)
}

type hostWriter[T api.Object] struct{ *handle[T] }

func (h hostWriter[T]) Act(
	ctx context.Context, t subresource.Target, opts verb.WriteOptions, do func(obj T) (verb.Rendition, error),
) (verb.Result, error) {
	r, err := h.updateRequest("update", t.Namespace, t.Name, "", t.Version, opts)
	if err != nil {
		return verb.Result{}, err
	}
	r.scope, r.admitted = h.scopes.action.named(t.Subresource), true
	r.proposal = &changed[T]{change: func(_ context.Context, a *attempt[T], obj T) error {
		answer, err := do(obj)
		a.ahead = renderedAhead{answer: answer, revision: anyRevision, made: err == nil}
		return err
	}}
	result, err := h.update(ctx, r)
	result.Created = true
	return result, err
}

func (h hostWriter[T]) Change(
	ctx context.Context, t subresource.Target, opts verb.WriteOptions, c subresource.Change[T],
) (verb.Result, error) {
	r, err := h.updateRequest("update", t.Namespace, t.Name, "", t.Version, opts)
	if err != nil {
		return verb.Result{}, err
	}
	r.scope, r.ownership, r.admitted = h.scopes.object.named(t.Subresource), merged, true
	r.proposal = &changed[T]{change: func(_ context.Context, a *attempt[T], obj T) error {
		warnings, err := c.Change(obj)
		a.addWarnings(warnings)
		return err
	}}
	r.render = func(data []byte, revision int64, form verb.Form) (verb.Rendition, error) {
		obj, err := h.store.Decode(data, revision)
		if err != nil {
			return verb.Rendition{}, err
		}
		return c.Show(obj, form)
	}
	return h.update(ctx, r)
}

func (h hostWriter[T]) Remove(
	ctx context.Context, t subresource.Target, opts verb.DeleteOptions, consent func(T, *verb.DeleteOptions) error,
) (verb.Deletion, error) {
	if _, err := h.ServedVersion(t.Version); err != nil {
		return verb.Deletion{}, internal(err)
	}
	opts.Form = h.store.Form() // nobody sees this answer
	r := h.deletionOf(t.Namespace, t.Name, opts, consent)
	r.admitted = true
	return h.delete(ctx, r, nil)
}

func (h hostWriter[T]) ServedVersion(name string) (schema.GroupVersion, error) {
	v, err := h.versions.Lookup(name)
	if err != nil {
		return schema.GroupVersion{}, err
	}
	return v.GVK.GroupVersion(), nil
}
