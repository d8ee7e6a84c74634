// Package store is the typed store of one resource over a backend, with the cache in front of it or without: optimistic
// writes, reads, pages and watches. Writes take objects and return stored forms; reads return renditions.
//
// It may know packages api, cache, rendition, storage, verb and wire.
package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"strings"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/state/cache"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Config is what New needs. Backend, ResourcePrefix, New, Encode and Decode must be set.
type Config[T api.Object] struct {
	Reading

	// New returns an empty object.
	New func() T
	// Encode encodes an object whole, in the encoding of Stored, which is JSON or protobuf. It may change the object,
	// which belongs to the store; before a write it has neither resourceVersion nor selfLink.
	Encode func(T) ([]byte, error)
	// Decode decodes what Encode, or that of another release or server, returned: in another version, with other
	// defaults or in another encoding. Such a value is stale. If another program converts it, Decode returns soon after
	// ctx ends.
	Decode func(ctx context.Context, data []byte) (T, error)
	// Transformer encrypts values at rest; nil stores them as Encode returns them.
	Transformer Transformer
	// BeforeWrite runs before each write; its error ends the write before anything is sent. It may be nil.
	BeforeWrite func(ctx context.Context) error

	// Fields are those by which lists and watches may select beyond metadata.name and metadata.namespace.
	Fields []api.SelectableField[T]
	// Head is the constant beginning of stored objects: in JSON after the brace.
	Head string
	// ItemHeads reports whether the items of lists have kind and apiVersion, as custom resources have.
	ItemHeads bool
	// Render renders other forms from the stored one; nil means that there are none.
	Render func(stored verb.Rendition, form verb.Form) (verb.Rendition, error)

	// DisableCache makes all reads go to the backend.
	DisableCache bool
	// CheckCache, Window, Log and Verify are Config's of package cache, and CompressCache is its Cold.
	CheckCache    time.Duration
	CompressCache time.Duration
	Window        cache.Window
	Log           *slog.Logger
	Verify        bool
}

// Reading is the part of Config that doesn't know the Go type: reads need it.
type Reading struct {
	Backend storage.Backend
	// KeyPrefix is that of all resources, "/registry/". ResourcePrefix is that of this resource's keys below it,
	// "pods/"; it must end in a slash, and may begin with one.
	KeyPrefix, ResourcePrefix string
	// Resource names the resource in errors.
	Resource schema.GroupResource
	// Namespaced reports whether keys are <ResourcePrefix><namespace>/<name>, else <ResourcePrefix><name>.
	Namespaced bool
	// Stored is the form of stored objects.
	Stored verb.Form
	// RenderAll renders the objects of lists in some forms; its zero value leaves all to Render.
	RenderAll RenderAll
	// Bookmark renders the object of a bookmark; nil renders an object with only metadata.
	Bookmark func(revision int64, initialEnd bool, form verb.Form) (verb.Rendition, error)
	// Patience is how long a read waits for a revision of the future, and BookmarkEvery how often a watch sends a
	// bookmark. Servers leave 0, which means 3 s and a minute; tests of the contract are quicker.
	Patience, BookmarkEvery time.Duration
}

// Store is the typed store of one resource over a backend, with the cache in front of it or without. Keys begin with
// Config.ResourcePrefix. Errors are API statuses (apierrors.APIStatus) that wrap their cause.
//
// All methods are safe for concurrent use. Objects that a method returns belong to the caller, which must not change
// its arguments while a method runs.
type Store[T api.Object] struct {
	reader
	config Config[T]
	// root is the prefix of keys, between slashes.
	root string
	// unfollow ends OnChange of the transformer; nil if the transformer doesn't change.
	unfollow func()
}

// New opens a store, which owns the goroutine of the cache until it is closed.
func New[T api.Object](config Config[T]) (*Store[T], error) {
	switch {
	case config.Backend == nil:
		return nil, errors.New("the store has no Backend")
	case config.New == nil || config.Encode == nil || config.Decode == nil:
		return nil, errors.New("the store needs New, Encode and Decode")
	}
	if err := checkResourcePrefix(config.ResourcePrefix); err != nil {
		return nil, err
	}
	root := "/" + strings.TrimPrefix(config.ResourcePrefix, "/")
	s := &Store[T]{config: config, root: root, reader: reader{gr: config.Resource, shared: &shared{
		Reading: config.Reading, prefix: strings.TrimSuffix(config.KeyPrefix, "/") + root,
	}}}
	for _, f := range config.Fields {
		s.selectable = append(s.selectable, f.Path)
	}
	s.Patience, s.BookmarkEvery = cmp.Or(s.Patience, 3*time.Second), cmp.Or(s.BookmarkEvery, time.Minute)
	if s.Bookmark == nil {
		s.Bookmark = s.plainBookmark
	}
	s.codec = &cacheCodec[T]{config: &s.config}
	s.closed, s.stop = context.WithCancel(context.Background())
	if !config.DisableCache {
		s.runCache()
		if changing, ok := config.Transformer.(Changing); ok {
			s.unfollow = changing.OnChange(func() { s.spawn(s.reread) }) // corrupt objects may be readable now
		}
	}
	return s, nil
}

func (s *Store[T]) runCache() {
	indexed := make([]int, len(s.selectable))
	for i := range indexed {
		indexed[i] = FirstSelectable + i
	}
	s.cache = cache.New(cache.Config{
		Backend: s.Backend, Prefix: s.prefix, Codec: s.codec, Stored: s.Stored, Name: s.gr.String(),
		Wait: s.config.Patience, Indexed: indexed, Window: s.config.Window,
		Check: s.config.CheckCache, Cold: s.config.CompressCache, Logger: s.config.Log, Verify: s.config.Verify,
	})
	s.spawn(func() {
		// Run ends only with its context: it tries again after all other errors.
		_ = s.cache.Run(s.closed)
	})
}

// View returns the store as another group's resource: its errors name that resource, and selectors name the fields as
// they are called there. fields has a path for each of Config.Fields, "" for one that can't be selected by. Whoever
// made the store closes it, and not its views.
func (s *Store[T]) View(resource schema.GroupResource, fields []string) *Store[T] {
	view := *s
	view.gr, view.selectable = resource, fields
	return &view
}

// Close ends all watches and waits for the store's goroutines. The backend stays open.
func (s *Store[T]) Close() error {
	if s.unfollow != nil {
		s.unfollow()
	}
	s.mu.Lock()
	s.stop()
	s.mu.Unlock()
	s.goroutines.Wait()
	return nil
}

// Ready returns nil if the cache serves reads or there is no cache, else the reason why it doesn't.
func (s *Store[T]) Ready() error {
	if s.cache == nil {
		return nil
	}
	return s.cache.Ready()
}

// CurrentRevision reads the current revision from the backend. The contract of stores has it, as k8s.io/apiserver's
// storage.Interface does; servers don't call it.
func (s *Store[T]) CurrentRevision(ctx context.Context) (int64, error) {
	revision, err := s.Backend.Revision(ctx)
	return revision, s.Status(err, "get", "")
}

// CompactRevision returns the oldest revision that can be read, as the last read of an older one found; 0 if no read
// found one. The contract of stores has it; servers don't call it.
func (s *Store[T]) CompactRevision() int64 { return s.compacted.Load() }

// RequestProgress waits until the cache has the current revision of the backend.
func (s *Store[T]) RequestProgress(ctx context.Context) error {
	if s.cache == nil {
		return nil
	}
	_, err := s.cache.Consistent(ctx)
	return s.Status(err, "watch", "")
}

// Resource names the resource in errors.
func (s *Store[T]) Resource() schema.GroupResource { return s.gr }

// Form returns the form of stored objects: reads in it cost least, and Object decodes it.
func (s *Store[T]) Form() verb.Form { return s.Stored }

// Stats are counts of a store.
type Stats struct {
	Objects int64
}

// Stats reads the counts from the backend.
func (s *Store[T]) Stats(ctx context.Context) (Stats, error) {
	n, err := s.Backend.Count(ctx, s.prefix)
	return Stats{Objects: n}, s.Status(err, "list", "")
}

// Measurement is the state of a resource for metrics.
type Measurement struct {
	// Objects is the number of objects, counted by the cache, or by the backend if there is none; -1 is unknown.
	Objects int64
	// Cache has the statistics of the cache; nil if there is none.
	Cache *cache.Stats
}

// Measure returns the state of the resource for metrics.
func (s *Store[T]) Measure(ctx context.Context) Measurement {
	m := Measurement{Objects: -1}
	if s.cache == nil {
		if n, err := s.Backend.Count(ctx, s.prefix); err == nil {
			m.Objects = n
		}
		return m
	}
	stats := s.cache.Stats()
	m.Cache = &stats
	if _, err := s.cache.Current(); err == nil {
		m.Objects = stats.Entries
	}
	return m
}

// Size returns the number of objects, and the sum of their sizes as they are stored. It returns false if there is no
// cache, or none yet. It costs nothing.
func (s *Store[T]) Size() (objects, bytes int64, known bool) {
	if s.cache == nil {
		return 0, 0, false
	}
	return s.cache.Size()
}

// Prefix returns the prefix of all keys: "/pods/".
func (s *Store[T]) Prefix() string { return s.root }

// key checks a key, or a prefix of keys, and returns it as the backend has it. Every read and write calls it, so it
// checks only what follows the resource's prefix, whose own segments New has checked.
func (s *Store[T]) key(key string) (string, error) {
	relative := strings.TrimPrefix(key, "/")
	own := s.root[1:]
	below, ok := strings.CutPrefix(relative, own)
	if !ok && relative == own[:len(own)-1] {
		below, ok = "", true
	}
	switch {
	case ok && (below == "" || hasSegments(below)):
		return s.prefix + below, nil
	case !ok && hasSegments(relative):
		return "", fmt.Errorf("invalid key: %q lacks resource prefix: %q", key, s.config.ResourcePrefix)
	}
	return "", fmt.Errorf("invalid key: %q", key)
}

// hasSegments reports whether a path, which may end in a slash, has neither empty segments nor dots as segments.
func hasSegments(path string) bool {
	path = strings.TrimSuffix(path, "/")
	for {
		end := strings.IndexByte(path, '/')
		segment := path
		if end >= 0 {
			segment = path[:end]
		}
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
		if end < 0 {
			return true
		}
		path = path[end+1:]
	}
}

func nameOf(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }

// checkResourcePrefix refuses a prefix that isn't a canonical path with a slash at its end. Without the slash, "pods"
// would be a prefix of "podtemplates/", too.
func checkResourcePrefix(prefix string) error {
	switch clean := CleanPrefix(prefix); {
	case clean == "":
		return fmt.Errorf("the store's ResourcePrefix is %q: it would cover keys of other resources; write one like %q",
			prefix, "pods/")
	case strings.TrimPrefix(prefix, "/") != clean+"/":
		return fmt.Errorf("the store's ResourcePrefix is %q: write %q", prefix, clean+"/")
	}
	return nil
}

// CleanPrefix returns a prefix of keys without dots and empty segments, and without slashes at both ends.
func CleanPrefix(prefix string) string { return strings.TrimPrefix(path.Clean("/"+prefix), "/") }
