package ownership

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

const (
	// maxUpdaters bounds the entries for updates in an object's managedFields. Further entries are merged, oldest
	// first, into entries of the manager ancient.
	maxUpdaters = 10
	ancient     = "ancient-changes"
	// beforeApply manages the fields that an object without managedFields had before its first apply.
	beforeApply = "before-first-apply"
	fieldsType  = "FieldsV1"
)

// identity identifies an entry of managedFields. It has no version where a manager applies: such a manager has one set,
// whatever its version.
type identity struct {
	Manager     string                            `json:"manager,omitempty"`
	Operation   metav1.ManagedFieldsOperationType `json:"operation,omitempty"`
	APIVersion  string                            `json:"apiVersion,omitempty"`
	Subresource string                            `json:"subresource,omitempty"`
}

func identityOf(manager string, operation metav1.ManagedFieldsOperationType, m *Manager) identity {
	id := identity{Manager: manager, Operation: operation, Subresource: m.Subresource}
	if manager == "" {
		id.Manager = "unknown"
	}
	if operation == metav1.ManagedFieldsOperationUpdate {
		id.APIVersion = string(m.Version)
	}
	return id
}

// key returns the identity as a key of fieldpath.ManagedFields. Conflicts are sorted by this key.
func (id identity) key() string {
	key, _ := json.Marshal(id) // it can always be encoded
	return string(key)
}

func identityIn(key string) (id identity, err error) {
	err = json.Unmarshal([]byte(key), &id)
	return id, err
}

// managers are the decoded managedFields of one object, by the key of their identity.
type managers struct {
	sets   *Sets
	fields fieldpath.ManagedFields
	known  map[string]decodedEntry
}

// decodedEntry is an entry of managedFields as it was decoded, and the time of its last change.
type decodedEntry struct {
	id   identity
	time *metav1.Time
	// raw is the encoded form of set. An unchanged set isn't encoded again.
	raw *metav1.FieldsV1
	set *fieldpath.Set
}

func newManagers(sets *Sets, n int) *managers {
	return &managers{sets: sets, fields: make(fieldpath.ManagedFields, n), known: make(map[string]decodedEntry, n)}
}

func (s *Sets) managers(entries []metav1.ManagedFieldsEntry) (*managers, error) {
	all := newManagers(s, len(entries)+1)
	for i := range entries {
		e := &entries[i]
		switch {
		case e.Operation != metav1.ManagedFieldsOperationApply && e.Operation != metav1.ManagedFieldsOperationUpdate:
			return nil, errors.New("operation must be `Apply` or `Update`")
		case e.APIVersion == "":
			return nil, errors.New("apiVersion must not be empty")
		case e.FieldsType == "":
			return nil, fmt.Errorf("missing fieldsType in managed fields entry %d", i)
		case e.FieldsType != fieldsType:
			return nil, fmt.Errorf("invalid fieldsType %q in managed fields entry %d", e.FieldsType, i)
		}
		decoded, err := s.decode(e.FieldsV1)
		if err != nil {
			return nil, fmt.Errorf("error decoding the fields of managed fields entry %d: %w", i, err)
		}
		applied := e.Operation == metav1.ManagedFieldsOperationApply
		id := identity{Manager: e.Manager, Operation: e.Operation, APIVersion: e.APIVersion, Subresource: e.Subresource}
		if applied {
			id.APIVersion = ""
		}
		name := id.key()
		all.fields[name] = fieldpath.NewVersionedSet(decoded.set, fieldpath.APIVersion(e.APIVersion), applied)
		raw := e.FieldsV1
		if decoded.canonical != nil {
			raw = decoded.canonical.DeepCopy() // whoever has an object may change it
		}
		all.known[name] = decodedEntry{id: id, time: e.Time, raw: raw, set: decoded.set}
	}
	return all, nil
}

func (all *managers) drop(name string) { delete(all.fields, name) }

// set sets the fields of a manager that has changed them at a time.
func (all *managers) set(id identity, set fieldpath.VersionedSet, at *metav1.Time) {
	name := id.key()
	e := all.known[name]
	e.id, e.time = id, at
	all.fields[name], all.known[name] = set, e
}

// reduce leaves a manager some of its fields. A manager without fields is dropped.
func (all *managers) reduce(name string, managed fieldpath.VersionedSet, left *fieldpath.Set) {
	if left.Empty() {
		all.drop(name)
		return
	}
	all.fields[name] = fieldpath.NewVersionedSet(left, managed.APIVersion(), managed.Applied())
}

// entries encodes managedFields: those of applies first, then by time, manager, version and subresource. Managers
// without fields have none.
func (all *managers) entries() ([]metav1.ManagedFieldsEntry, error) {
	maps.DeleteFunc(all.fields, func(_ string, managed fieldpath.VersionedSet) bool { return managed.Set().Empty() })
	if len(all.fields) == 0 {
		return nil, nil
	}
	entries := make([]metav1.ManagedFieldsEntry, 0, len(all.fields))
	for name, managed := range all.fields {
		entry, err := all.entry(name, managed)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	slices.SortFunc(entries, func(a, b metav1.ManagedFieldsEntry) int {
		return cmp.Or(
			cmp.Compare(a.Operation, b.Operation), cmp.Compare(seconds(a.Time), seconds(b.Time)),
			cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.APIVersion, b.APIVersion),
			cmp.Compare(a.Subresource, b.Subresource),
		)
	})
	return entries, nil
}

func (all *managers) entry(name string, managed fieldpath.VersionedSet) (e metav1.ManagedFieldsEntry, err error) {
	known, ok := all.known[name]
	if !ok {
		if known.id, err = identityIn(name); err != nil {
			return e, err
		}
	}
	id := known.id
	e = metav1.ManagedFieldsEntry{
		Manager: id.Manager, Operation: id.Operation, Subresource: id.Subresource,
		APIVersion: string(managed.APIVersion()), FieldsType: fieldsType, Time: known.time,
	}
	if managed.Applied() {
		e.Operation = metav1.ManagedFieldsOperationApply
	}
	if set := known.set; set != nil && known.raw != nil && (set == managed.Set() || set.Equals(managed.Set())) {
		e.FieldsV1 = known.raw
		return e, nil
	}
	e.FieldsV1, err = all.sets.encode(managed.Set())
	return e, err
}

func seconds(t *metav1.Time) int64 {
	if t == nil {
		return 0
	}
	return t.Unix()
}

// capUpdaters merges the oldest entries for updates, each with others of its version, until at most maxUpdaters are
// left. Old entries stay where no two of them have the same version.
func (all *managers) capUpdaters() error {
	var updaters []string
	for name, managed := range all.fields {
		if !managed.Applied() {
			updaters = append(updaters, name)
		}
	}
	left := len(updaters)
	if left <= maxUpdaters {
		return nil
	}
	slices.SortFunc(updaters, func(a, b string) int {
		return cmp.Or(cmp.Compare(seconds(all.known[a].time), seconds(all.known[b].time)), strings.Compare(a, b))
	})
	first := map[fieldpath.APIVersion]string{}
	for _, name := range updaters {
		if left <= maxUpdaters {
			return nil
		}
		managed, at := all.fields[name], all.known[name].time
		version := managed.APIVersion()
		oldest, seen := first[version]
		if !seen {
			first[version] = name
			continue
		}
		id := identity{Manager: ancient, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: string(version)}
		bucket := id.key()
		if _, exists := all.fields[bucket]; !exists {
			all.fields[bucket] = all.fields[oldest]
			all.drop(oldest)
		}
		merged := fieldpath.NewVersionedSet(managed.Set().Union(all.fields[bucket].Set()), version, false)
		all.drop(name)
		all.set(id, merged, at)
		left--
	}
	return nil
}

// maxSets bounds the bytes of the encoded sets in each of the two generations of a Sets.
const maxSets = 256 << 10

// Sets caches field sets by their encoded form. The objects of a resource have few different ones, and decoding them
// would cost more than all other work of field management on a small write. The zero value is ready. Sets is safe for
// concurrent use. The sets that it returns are shared and must not be changed.
type Sets struct {
	mu sync.Mutex
	// young has the sets used since it was begun, old those before: a set that isn't used for two generations is
	// dropped.
	young, old map[string]*known
	size       int
}

// known is a cached set, with the versions for whose schema it is known to be right.
type known struct {
	set *fieldpath.Set
	// canonical is the set encoded, nil if it was decoded from that. Elements of an unknown type are left out, as
	// kube-apiserver leaves them out.
	canonical  *metav1.FieldsV1
	reconciled []fieldpath.APIVersion
}

// find returns a cached set, or nil. The caller holds the lock.
func (s *Sets) find(raw string) *known {
	if k := s.young[raw]; k != nil {
		return k
	}
	k := s.old[raw]
	if k != nil {
		s.keep(raw, k)
	}
	return k
}

// keep caches a set. The caller holds the lock.
func (s *Sets) keep(raw string, k *known) {
	if len(raw) > maxSets/8 {
		return
	}
	if s.young == nil || s.size+len(raw) > maxSets {
		s.old, s.young, s.size = s.young, map[string]*known{}, 0
	}
	s.young[raw] = k
	s.size += len(raw)
}

func (s *Sets) decode(fields *metav1.FieldsV1) (*known, error) {
	if fields == nil {
		return &known{set: fieldpath.NewSet()}, nil
	}
	raw := fields.GetRawString()
	s.mu.Lock()
	k := s.find(raw)
	s.mu.Unlock()
	if k != nil {
		return k, nil
	}
	k = &known{set: &fieldpath.Set{}}
	if err := k.set.FromJSON(fields.GetRawReader()); err != nil {
		return nil, err
	}
	encoded, err := k.set.ToJSON()
	if err != nil {
		return nil, err
	}
	if string(encoded) != raw {
		k.canonical = &metav1.FieldsV1{}
		k.canonical.SetRawBytes(encoded)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(raw, k)
	return k, nil
}

func (s *Sets) encode(set *fieldpath.Set) (*metav1.FieldsV1, error) {
	raw, err := set.ToJSON()
	if err != nil {
		return nil, err
	}
	fields := &metav1.FieldsV1{}
	fields.SetRawBytes(raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	if text := string(raw); s.find(text) == nil {
		s.keep(text, &known{set: set})
	}
	return fields, nil
}

func (s *Sets) isReconciled(fields *metav1.FieldsV1, version fieldpath.APIVersion) bool {
	if fields == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.find(fields.GetRawString())
	return k != nil && slices.Contains(k.reconciled, version)
}

func (s *Sets) setReconciled(fields *metav1.FieldsV1, version fieldpath.APIVersion) {
	if fields == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.find(fields.GetRawString()); k != nil {
		k.reconciled = append(k.reconciled, version)
	}
}
