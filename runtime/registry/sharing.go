package registry

import (
	"context"
	"fmt"
	"slices"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// sharing are the definitions that share a store, and the store.
type sharing[T api.Object] struct {
	stored *Definition[T]
	info   *verb.Info // of stored
	// also are those of other groups.
	also []*Definition[T]
	// versions and store are nil while no handle is open; handles is how many are.
	versions *codec.Versions[T]
	store    *store.Store[T]
	handles  int
}

// acquire opens the store, unless another resource has opened it.
func (s *sharing[T]) acquire(ctx context.Context, config Config) error {
	if s.handles == 0 {
		if err := s.open(ctx, config); err != nil {
			return err
		}
	}
	s.handles++
	return nil
}

func (s *sharing[T]) open(ctx context.Context, config Config) (err error) {
	if s.versions, err = s.bind(); err != nil {
		return wrongDefinition(s.info, err)
	}
	record := s.record(config)
	if err = record.Check(ctx, s.versions.Keys()); err == nil {
		s.store, err = s.newStore(config, record)
	}
	if err != nil {
		return fmt.Errorf("opening %s: %w", s.info.GroupResource(), err)
	}
	return nil
}

// release closes the store with its last handle.
func (s *sharing[T]) release() error {
	if s.handles--; s.handles > 0 {
		return nil
	}
	return s.store.Close()
}

// record returns the record of the versions in which objects may be stored.
func (s *sharing[T]) record(config Config) *store.StoredVersions {
	return store.NewStoredVersions(config.Backend, config.Prefix, s.info.GroupResource(), s.stored.Storage)
}

func (s *sharing[T]) newStore(config Config, record *store.StoredVersions) (*store.Store[T], error) {
	all := s.versions
	var fields []api.SelectableField[T]
	for _, f := range s.fields() {
		fields = append(fields, f.SelectableField)
	}
	form := verb.Form{Version: s.stored.Storage, Shape: verb.Whole, Encoding: all.StoredIn(config.Encoding)}
	encode := all.EncodeStored
	if form.Encoding == verb.Protobuf {
		encode = all.EncodeMessage
	}
	return store.New(store.Config[T]{
		Reading: store.Reading{
			Backend: config.Backend, KeyPrefix: config.Prefix, ResourcePrefix: s.info.StoragePrefix + "/",
			Resource: s.info.GroupResource(), Namespaced: s.stored.Scope == api.Namespaced,
			Stored: form, Bookmark: all.Bookmark,
			RenderAll: store.RenderAll{For: all.ConvertsTogether, Render: all.RenderAll},
		},
		New: s.stored.New, Encode: encode,
		Decode:      func(ctx context.Context, data []byte) (T, error) { return all.Within(ctx).Decode(data) },
		Transformer: config.Transformer, BeforeWrite: record.BeforeWrite,
		Fields: fields, Head: all.Storage.HeadIn(form.Encoding), ItemHeads: all.Storage.Info.Untyped,
		Render:       all.Render,
		DisableCache: config.DisableCache, CheckCache: config.CheckCache, CompressCache: config.CompressCache,
		Window: config.Window, Log: config.Log, Verify: config.Verify,
	})
}

// bind refuses contradictions in the definitions, and binds their versions.
func (s *sharing[T]) bind() (*codec.Versions[T], error) {
	var others []codec.Kind[T]
	for _, d := range append([]*Definition[T]{s.stored}, s.also...) {
		if err := d.check(); err != nil {
			return nil, err
		}
		if d != s.stored {
			others = append(others, d.kind())
		}
	}
	for _, d := range s.also {
		if err := s.checkSame(d); err != nil {
			return nil, fmt.Errorf("%s.%s, which is the same: %w", d.Names.Plural, d.Group, err)
		}
	}
	return s.stored.kind().Bind(s.stored.Storage, others...)
}

// checkSame refuses a definition of another group that contradicts the stored one.
func (s *sharing[T]) checkSame(d *Definition[T]) error {
	of := s.stored
	if d.Scope != of.Scope || d.Storage != of.Storage || d.StoragePrefix != s.info.StoragePrefix {
		return fmt.Errorf("its Scope, Storage and StoragePrefix are %q, %q and %q instead of %q, %q and %q", d.Scope,
			d.Storage, d.StoragePrefix, of.Scope, of.Storage, s.info.StoragePrefix)
	}
	given := map[string]bool{}
	for _, f := range d.SelectableFields {
		if f.Of != "" && (s.place(f.Of) < 0 || given[f.Of]) {
			return fmt.Errorf("selectable field %q: there is no other field %q", f.Path, f.Of)
		}
		given[f.Of] = true
	}
	return nil
}

func (d *Definition[T]) kind() codec.Kind[T] {
	return codec.Kind[T]{Group: d.Group, Kind: d.Names.Kind, New: d.New, Versions: d.Versions}
}

// ownField is a selectable field with the definition that has its value.
type ownField[T api.Object] struct {
	owner *Definition[T]
	api.SelectableField[T]
}

// fields are the selectable fields of all definitions: those of stored, and those that only other groups have.
func (s *sharing[T]) fields() (all []ownField[T]) {
	for _, d := range append([]*Definition[T]{s.stored}, s.also...) {
		for _, f := range d.SelectableFields {
			if f.Of == "" {
				all = append(all, ownField[T]{d, f})
			}
		}
	}
	return all
}

// place returns the place of a field of stored in fields, or -1.
func (s *sharing[T]) place(path string) int {
	return slices.IndexFunc(s.stored.SelectableFields, func(f api.SelectableField[T]) bool { return f.Path == path })
}

// view returns the store as the resource of a definition: with its name, and its names of the fields.
func (s *sharing[T]) view(d *Definition[T], name schema.GroupResource) *store.Store[T] {
	if len(s.also) == 0 {
		return s.store
	}
	all := s.fields()
	names := make([]string, len(all))
	for i, f := range all {
		if f.owner == d {
			names[i] = f.Path
		}
	}
	for _, f := range d.SelectableFields {
		if f.Of != "" {
			names[s.place(f.Of)] = f.Path
		}
	}
	return s.store.View(name, names)
}
