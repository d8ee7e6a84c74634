package registry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/cache"
	"apigen.dev/runtime/storage"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// StoreConfig is what NewStore needs. Backend, ResourcePrefix, New, Encode and Decode must be set.
type StoreConfig[T api.Object] struct {
	Backend storage.Backend
	// KeyPrefix is that of all resources, "/registry/"; ResourcePrefix that of this one's keys, "pods/".
	KeyPrefix, ResourcePrefix string
	// Resource is how errors call the resource.
	Resource schema.GroupResource
	// Namespaced: keys are <ResourcePrefix><namespace>/<name>.
	Namespaced bool

	// New returns an empty object.
	New func() T
	// Encode returns an object as JSON. It is called with objects that belong to the store; before a write they have
	// neither resourceVersion nor selfLink.
	Encode func(T) ([]byte, error)
	// Decode reads what Encode, or an older one, wrote.
	Decode func([]byte) (T, error)
	// Translate makes JSON, as Decode reads it, of a value in Kubernetes protobuf, as kube-apiserver stores its own kinds; such
	// a value is stale. nil: Decode is given all values as they are.
	Translate func(protobuf []byte) ([]byte, error)
	// Transformer is what values pass on their way to the backend and back; nil stores them as Encode writes them.
	Transformer Transformer
	// BeforeWrite is called before a value is written; its error ends the write, of which nothing was sent. nil: nothing.
	BeforeWrite func(ctx context.Context) error

	// Fields are those by which lists and watches may select beyond metadata.name and metadata.namespace.
	Fields []SelectableField[T]
	// Form is what renditions of the stored form are asked by, and Head their constant beginning behind the brace.
	Form api.Form
	Head string
	// Render makes other forms of a rendition of the stored one; nil: there are none.
	Render func(stored api.Rendition, form api.Form) (api.Rendition, error)
	// Bookmark makes the object of a bookmark event; nil: one with nothing but metadata.
	Bookmark func(revision int64, initialEnd bool, form api.Form) (api.Rendition, error)

	// DisableCache makes all reads go to the backend.
	DisableCache bool
	// CheckCache, Window, Log and Verify are Config's.
	CheckCache time.Duration
	Window     cache.Window
	Log        *slog.Logger
	Verify     bool
	// Patience is how long a read waits for a revision of the future; 0 is 3 s.
	Patience time.Duration
	// BookmarkEvery is how often a watch that wants bookmarks gets one; 0 is a minute.
	BookmarkEvery time.Duration
}

// Store is the typed store of one resource over a backend, with the cache in front of it or without. Keys begin with
// StoreConfig.ResourcePrefix. Errors are API statuses (apierrors.APIStatus) that wrap their cause.
//
// All methods are safe for concurrent use. Objects that it returns belong to the caller; those that it is given must
// not be changed while the method runs.
type Store[T api.Object] struct {
	reader
	config StoreConfig[T]
	// unfollow ends what followTransformer began; nil where there is nothing to follow.
	unfollow func()
}

// NewStore opens a store. It owns a goroutine, the cache's, until it is closed.
func NewStore[T api.Object](config StoreConfig[T]) (*Store[T], error) {
	prefix := strings.TrimSuffix(config.KeyPrefix, "/") + "/" + strings.Trim(config.ResourcePrefix, "/") + "/"
	switch {
	case config.Backend == nil:
		return nil, errors.New("the store has no Backend")
	case config.New == nil || config.Encode == nil || config.Decode == nil:
		return nil, errors.New("the store needs New, Encode and Decode")
	case strings.Trim(config.ResourcePrefix, "/") == "":
		return nil, errors.New("the store has no ResourcePrefix: it would cover the keys of other resources")
	}
	s := &Store[T]{config: config}
	s.backend, s.stored, s.prefix, s.gr, s.namespaced = config.Backend, config.Form, prefix, config.Resource, config.Namespaced
	s.bookmark, s.patience, s.bookmarks = config.Bookmark, config.Patience, config.BookmarkEvery
	for _, f := range config.Fields {
		s.selectable = append(s.selectable, f.Path)
	}
	if s.patience == 0 {
		s.patience = 3 * time.Second
	}
	if s.bookmarks == 0 {
		s.bookmarks = time.Minute
	}
	if s.bookmark == nil {
		s.bookmark = s.plainBookmark
	}
	s.codec = &storeCodec[T]{config: &s.config}
	s.closed, s.stop = context.WithCancel(context.Background())
	if !config.DisableCache {
		s.runCache()
		s.followTransformer()
	}
	return s, nil
}

func (s *Store[T]) runCache() {
	indexed := make([]int, len(s.selectable))
	for i := range indexed {
		indexed[i] = firstSelectable + i
	}
	s.cache = cache.New(cache.Config{
		Backend: s.backend, Prefix: s.prefix, Codec: s.codec, Stored: s.stored, Name: s.gr.String(),
		Wait: s.config.Patience, Indexed: indexed, Window: s.config.Window,
		Check: s.config.CheckCache, Logger: s.config.Log, Verify: s.config.Verify,
	})
	s.spawn(func() {
		// It ends with its context and only then: whatever else goes wrong, it tries again.
		_ = s.cache.Run(s.closed)
	})
}

// Close ends all watches and waits for the store's goroutines. The backend stays open.
func (s *Store[T]) Close() error {
	if s.unfollow != nil {
		s.unfollow()
	}
	s.shut()
	return nil
}

// Ready is nil while reads are served from memory, or where they never are; else the reason why not.
func (s *Store[T]) Ready() error { return s.ready() }

// CurrentRevision asks the backend for its current revision.
func (s *Store[T]) CurrentRevision(ctx context.Context) (int64, error) {
	revision, err := s.backend.Revision(ctx)
	return revision, s.status(err, "get", "")
}

// CompactRevision is the oldest revision that can be read, as the last read of an older one found; 0 where none did.
func (s *Store[T]) CompactRevision() int64 { return s.compacted.Load() }

// Stats are counts.
type Stats struct {
	Objects int64
}

// Stats asks the backend.
func (s *Store[T]) Stats(ctx context.Context) (Stats, error) {
	n, err := s.backend.Count(ctx, s.prefix)
	return Stats{Objects: n}, s.status(err, "list", "")
}

// Measurement is how a resource does at a moment.
type Measurement struct {
	// Objects that there are, by the cache's count or by the backend's where there is no cache; -1 is not known.
	Objects int64
	// Cache is the cache's; nil where there is none.
	Cache *cache.Stats
}

// Measured is a Handle that can be measured. Those of New can.
type Measured interface {
	Measure(ctx context.Context) Measurement
}

// Measure implements Measured.
func (s *Store[T]) Measure(ctx context.Context) Measurement {
	m := Measurement{Objects: -1}
	if s.cache == nil {
		if n, err := s.backend.Count(ctx, s.prefix); err == nil {
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

// RequestProgress makes the cache catch up with the backend, and waits for it.
func (s *Store[T]) RequestProgress(ctx context.Context) error {
	if s.cache == nil {
		return nil
	}
	_, err := s.cache.Consistent(ctx)
	return s.status(err, "watch", "")
}

// key checks a key, or the prefix of some, and makes it one of the backend.
func (s *Store[T]) key(key string) (string, error) {
	relative := strings.TrimPrefix(key, "/")
	for part := range strings.SplitSeq(strings.TrimSuffix(relative, "/"), "/") {
		if part == "" || part == "." || part == ".." {
			return "", fmt.Errorf("invalid key: %q", key)
		}
	}
	below, ok := strings.CutPrefix(relative+"/", strings.Trim(s.config.ResourcePrefix, "/")+"/")
	if !ok {
		return "", fmt.Errorf("invalid key: %q lacks resource prefix: %q", key, s.config.ResourcePrefix)
	}
	return s.prefix + strings.TrimSuffix(below, "/"), nil
}

// listPrefix is key for what is below a key.
func (s *Store[T]) listPrefix(prefix string) (string, error) {
	key, err := s.key(prefix)
	if err != nil || strings.HasSuffix(key, "/") {
		return key, err
	}
	return key + "/", nil
}

func (s *Store[T]) plainBookmark(revision int64, initialEnd bool, _ api.Form) (api.Rendition, error) {
	obj := s.config.New()
	obj.SetResourceVersion(strconv.FormatInt(revision, 10))
	if initialEnd {
		obj.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	data, err := s.config.Encode(obj)
	if err != nil {
		return api.Rendition{}, err
	}
	return newRendition(data, s.config.Head)
}

// storeCodec makes renditions of stored values: the cache.Codec of a Store.
type storeCodec[T api.Object] struct{ config *StoreConfig[T] }

// Decode implements cache.Codec. What it keeps is always what would be stored today, with the resourceVersion.
func (c *storeCodec[T]) Decode(key string, value []byte, revision int64) (cache.Record, error) {
	plain, stale, err := c.config.open(key, value)
	if err != nil {
		return cache.Record{}, err
	}
	obj, err := c.config.Decode(plain)
	if err != nil {
		return cache.Record{}, err
	}
	obj.SetResourceVersion(strconv.FormatInt(revision, 10))
	obj.SetSelfLink("")
	data, err := c.config.Encode(obj)
	if err != nil {
		return cache.Record{}, err
	}
	rendition, err := newRendition(data, c.config.Head)
	if err != nil {
		return cache.Record{}, err
	}
	return cache.Record{
		Rendition: rendition, Labels: obj.GetLabels(), Fields: c.fields(obj), Stale: stale || !isStoredAs(rendition, plain),
	}, nil
}

func (c *storeCodec[T]) fields(obj T) []string {
	values := make([]string, firstSelectable, firstSelectable+len(c.config.Fields))
	values[nameField], values[namespaceField] = obj.GetName(), obj.GetNamespace()
	for _, f := range c.config.Fields {
		values = append(values, f.Value(obj))
	}
	return values
}

// Render implements cache.Codec.
func (c *storeCodec[T]) Render(key string, stored api.Rendition, form api.Form) (api.Rendition, error) {
	if form == c.config.Form {
		return stored, nil
	}
	if c.config.Render == nil {
		return api.Rendition{}, fmt.Errorf("there is no form %v of %s", form, key)
	}
	return c.config.Render(stored, form)
}

// Join implements cache.Codec for forms in JSON.
func (c *storeCodec[T]) Join(list []byte, r *api.Rendition, form api.Form) []byte {
	list = append(list, ",{"...)
	if form.Shape != api.Whole {
		list = append(list, r.Head...)
	}
	return append(list, r.Payload...)
}

// Restamp implements cache.Codec.
func (c *storeCodec[T]) Restamp(r api.Rendition, revision int64) api.Rendition {
	return restamp(r, revision)
}
