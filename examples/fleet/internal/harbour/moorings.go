package harbour

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/registry"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"

	fleetv1 "example.com/fleet/apis/fleet/v1"
)

// history is the number of changes that are kept for watches that begin in the past.
const history = 1000

// Moorings is a wiring.MooringProvider that keeps its objects in memory. Its zero value is empty; it is safe for
// concurrent use. Objects that it holds are never changed, only replaced; callers get and give copies.
type Moorings struct {
	mu       sync.Mutex // guards all
	objects  map[string]*fleetv1.Mooring
	revision int64
	// changes are the latest, in the order of their revisions, which have no gaps.
	changes []change
	// changed is closed at the next change.
	changed chan struct{}
}

// change is an event and its revision.
type change struct {
	registry.WatchEvent[*fleetv1.Mooring]
	revision int64
}

var moorings = fleetv1.SchemeGroupVersion.WithResource("moorings").GroupResource()

func keyOf(namespace, name string) string { return namespace + "/" + name }

// commit replaces old by next, of which one may be nil, and wakes watches. The caller holds the lock.
func (m *Moorings) commit(old, next *fleetv1.Mooring) {
	if m.objects == nil {
		m.objects = map[string]*fleetv1.Mooring{}
	}
	m.revision++
	c := change{revision: m.revision}
	switch {
	case next == nil:
		delete(m.objects, keyOf(old.Namespace, old.Name))
		next = old.DeepCopy()
		c.Type = api.Deleted
	case old == nil:
		c.Type = api.Added
	default:
		c.Type = api.Modified
	}
	next.ResourceVersion = strconv.FormatInt(m.revision, 10)
	if c.Type != api.Deleted {
		m.objects[keyOf(next.Namespace, next.Name)] = next
	}
	c.Object, c.Old = next, old
	m.changes = append(m.changes, c)
	m.changes = m.changes[max(0, len(m.changes)-history):]
	if m.changed != nil {
		close(m.changed)
		m.changed = nil
	}
}

// Create implements wiring.MooringProvider. It sets UIDs, times and revisions, which storage sets for other kinds.
func (m *Moorings) Create(_ context.Context, obj *fleetv1.Mooring, dryRun bool) (*fleetv1.Mooring, error) {
	obj.UID, obj.CreationTimestamp = uuid.NewUUID(), metav1.Now().Rfc3339Copy()
	obj.ResourceVersion, obj.Generation = "", 0
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.objects[keyOf(obj.Namespace, obj.Name)] != nil {
		return nil, apierrors.NewAlreadyExists(moorings, obj.Name)
	}
	if !dryRun {
		m.commit(nil, obj)
	}
	return obj.DeepCopy(), nil
}

// Get implements wiring.MooringProvider.
func (m *Moorings) Get(_ context.Context, namespace, name string) (*fleetv1.Mooring, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	obj := m.objects[keyOf(namespace, name)]
	if obj == nil {
		return nil, apierrors.NewNotFound(moorings, name)
	}
	return obj.DeepCopy(), nil
}

// List implements wiring.MooringProvider. The runtime selects and sorts.
func (m *Moorings) List(_ context.Context, _ string, _ api.Selection) (*registry.List[*fleetv1.Mooring], error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := &registry.List[*fleetv1.Mooring]{ResourceVersion: strconv.FormatInt(m.revision, 10)}
	for _, obj := range m.objects {
		list.Items = append(list.Items, obj.DeepCopy())
	}
	return list, nil
}

// Update implements wiring.MooringProvider.
func (m *Moorings) Update(_ context.Context, obj, old *fleetv1.Mooring, dryRun bool) (*fleetv1.Mooring, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, err := m.unchanged(old)
	if err != nil {
		return nil, err
	}
	if !dryRun {
		m.commit(now, obj)
	}
	return obj.DeepCopy(), nil
}

// Delete implements wiring.MooringProvider. It deletes only the object that the preconditions were checked on.
func (m *Moorings) Delete(
	_ context.Context, obj *fleetv1.Mooring, options *metav1.DeleteOptions,
) (*fleetv1.Mooring, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, err := m.unchanged(obj)
	if err != nil {
		return nil, err
	}
	if len(options.DryRun) == 0 {
		m.commit(now, nil)
	}
	return nil, nil
}

// unchanged returns the object under the name of old, or a conflict if it is no longer old. The caller holds the lock.
func (m *Moorings) unchanged(old *fleetv1.Mooring) (*fleetv1.Mooring, error) {
	now := m.objects[keyOf(old.Namespace, old.Name)]
	switch {
	case now == nil:
		return nil, apierrors.NewNotFound(moorings, old.Name)
	case now.ResourceVersion != old.ResourceVersion:
		return nil, apierrors.NewConflict(moorings, old.Name,
			errors.New("the mooring has been changed meanwhile; please try again"))
	}
	return now, nil
}

// Watch implements wiring.MooringProvider. The watch begins behind a revision, or with the current state.
func (m *Moorings) Watch(
	_ context.Context, _ string, options api.WatchOptions,
) (registry.ObjectWatch[*fleetv1.Mooring], error) {
	w := &mooringWatch{moorings: m}
	m.mu.Lock()
	defer m.mu.Unlock()
	initial := options.SendInitialEvents != nil && *options.SendInitialEvents
	if v := options.ResourceVersion; v != "" && v != "0" && !initial {
		var err error
		if w.seen, err = strconv.ParseInt(v, 10, 64); err != nil {
			return nil, apierrors.NewBadRequest("invalid resource version " + strconv.Quote(v))
		}
		// A future revision comes from an earlier process, whose moorings are gone.
		if w.seen > m.revision || w.seen < m.revision-int64(len(m.changes)) {
			return nil, apierrors.NewResourceExpired("too old resource version: " + v)
		}
		return w, nil
	}
	w.seen = m.revision
	if options.SendInitialEvents != nil && !initial {
		return w, nil
	}
	for _, obj := range m.objects {
		w.first = append(w.first, registry.WatchEvent[*fleetv1.Mooring]{Type: api.Added, Object: obj.DeepCopy()})
	}
	if initial && options.AllowBookmarks {
		end := &fleetv1.Mooring{}
		end.ResourceVersion = strconv.FormatInt(m.revision, 10)
		end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
		w.first = append(w.first, registry.WatchEvent[*fleetv1.Mooring]{Type: api.Bookmark, Object: end})
	}
	return w, nil
}

// mooringWatch is a cursor in the history.
type mooringWatch struct {
	moorings *Moorings
	first    []registry.WatchEvent[*fleetv1.Mooring] // the state, until it is told
	seen     int64
}

// Next implements registry.ObjectWatch.
func (w *mooringWatch) Next(ctx context.Context) ([]registry.WatchEvent[*fleetv1.Mooring], error) {
	if events := w.first; len(events) > 0 {
		w.first = nil
		return events, nil
	}
	for {
		events, changed, err := w.moorings.since(&w.seen)
		if err != nil || len(events) > 0 {
			return events, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		}
	}
}

// since returns the changes behind the cursor's revision, and a channel that is closed at the next change.
func (m *Moorings) since(seen *int64) ([]registry.WatchEvent[*fleetv1.Mooring], <-chan struct{}, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	behind := m.revision - *seen
	if behind > int64(len(m.changes)) {
		return nil, nil, apierrors.NewResourceExpired("too old resource version: " + strconv.FormatInt(*seen, 10))
	}
	var events []registry.WatchEvent[*fleetv1.Mooring]
	for _, c := range m.changes[len(m.changes)-int(behind):] {
		c.Object = c.Object.DeepCopy()
		events = append(events, c.WatchEvent)
	}
	*seen = m.revision
	if m.changed == nil {
		m.changed = make(chan struct{})
	}
	return events, m.changed, nil
}

// Close implements registry.ObjectWatch.
func (w *mooringWatch) Close() {}
