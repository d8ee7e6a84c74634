package ownership

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

const (
	// maxUpdaters is how many entries of updates an object keeps; what is more is merged, oldest first, into entries
	// of the manager ancient.
	maxUpdaters = 10
	ancient     = "ancient-changes"
	// beforeApply owns what an object without managedFields had when it was first applied to.
	beforeApply = "before-first-apply"
	fieldsType  = "FieldsV1"
)

// identity tells owners apart. The version is none where a manager applies: it has one set, whatever its version.
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

// key is the identity as a key of fieldpath.ManagedFields, by which conflicts are sorted.
func (id identity) key() string {
	key, _ := json.Marshal(id) // it can always be encoded
	return string(key)
}

// identityIn reads a key.
func identityIn(key string) (id identity, err error) {
	err = json.Unmarshal([]byte(key), &id)
	return id, err
}

// owners are the decoded managedFields of one object.
type owners struct {
	sets   *Sets
	fields fieldpath.ManagedFields
	times  map[string]*metav1.Time
	ids    map[string]identity
	// raw is what the set of an owner was decoded from, and decoded that set: what didn't change isn't encoded again.
	raw     map[string]*metav1.FieldsV1
	decoded map[string]*fieldpath.Set
}

func newOwners(sets *Sets, n int) *owners {
	return &owners{
		sets: sets, fields: make(fieldpath.ManagedFields, n), times: make(map[string]*metav1.Time, n), ids: make(map[string]identity, n),
		raw: make(map[string]*metav1.FieldsV1, n), decoded: make(map[string]*fieldpath.Set, n),
	}
}

// owners decodes managedFields.
func (s *Sets) owners(entries []metav1.ManagedFieldsEntry) (*owners, error) {
	o := newOwners(s, len(entries)+1)
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
		set, err := s.decode(e.FieldsV1)
		if err != nil {
			return nil, fmt.Errorf("error decoding the fields of managed fields entry %d: %w", i, err)
		}
		applied := e.Operation == metav1.ManagedFieldsOperationApply
		id := identity{Manager: e.Manager, Operation: e.Operation, APIVersion: e.APIVersion, Subresource: e.Subresource}
		if applied {
			id.APIVersion = ""
		}
		name := id.key()
		o.fields[name] = fieldpath.NewVersionedSet(set, fieldpath.APIVersion(e.APIVersion), applied)
		o.times[name], o.ids[name], o.raw[name], o.decoded[name] = e.Time, id, e.FieldsV1, set
	}
	return o, nil
}

func (o *owners) drop(name string) { delete(o.fields, name) }

func (o *owners) set(name string, set fieldpath.VersionedSet, at *metav1.Time) {
	o.fields[name], o.times[name] = set, at
}

// entries encodes managedFields: appliers first, then by time, manager, version and subresource.
func (o *owners) entries() ([]metav1.ManagedFieldsEntry, error) {
	if len(o.fields) == 0 {
		return nil, nil
	}
	entries := make([]metav1.ManagedFieldsEntry, 0, len(o.fields))
	for name, owned := range o.fields {
		entry, err := o.entry(name, owned)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	slices.SortFunc(entries, compareEntries)
	return entries, nil
}

func (o *owners) entry(name string, owned fieldpath.VersionedSet) (e metav1.ManagedFieldsEntry, err error) {
	id, ok := o.ids[name]
	if !ok {
		if id, err = identityIn(name); err != nil {
			return e, err
		}
	}
	e = metav1.ManagedFieldsEntry{
		Manager: id.Manager, Operation: id.Operation, Subresource: id.Subresource,
		APIVersion: string(owned.APIVersion()), FieldsType: fieldsType, Time: o.times[name],
	}
	if owned.Applied() {
		e.Operation = metav1.ManagedFieldsOperationApply
	}
	if set := o.decoded[name]; set != nil && o.raw[name] != nil && (set == owned.Set() || set.Equals(owned.Set())) {
		e.FieldsV1 = o.raw[name]
		return e, nil
	}
	e.FieldsV1, err = o.sets.encode(owned.Set())
	return e, err
}

func compareEntries(a, b metav1.ManagedFieldsEntry) int {
	if c := strings.Compare(string(a.Operation), string(b.Operation)); c != 0 {
		return c
	}
	if c := seconds(a.Time) - seconds(b.Time); c != 0 {
		return int(max(-1, min(1, c)))
	}
	if c := strings.Compare(a.Manager, b.Manager); c != 0 {
		return c
	}
	if c := strings.Compare(a.APIVersion, b.APIVersion); c != 0 {
		return c
	}
	return strings.Compare(a.Subresource, b.Subresource)
}

func seconds(t *metav1.Time) int64 {
	if t == nil {
		return 0
	}
	return t.Unix()
}

// capUpdaters merges the oldest entries of updates, each with others of its version, until there are few enough. Where
// no two of the old ones have a version in common, they stay.
func (o *owners) capUpdaters() error {
	var updaters []string
	for name, owned := range o.fields {
		if !owned.Applied() {
			updaters = append(updaters, name)
		}
	}
	left := len(updaters)
	if left <= maxUpdaters {
		return nil
	}
	slices.SortFunc(updaters, func(a, b string) int {
		if c := seconds(o.times[a]) - seconds(o.times[b]); c != 0 {
			return int(max(-1, min(1, c)))
		}
		return strings.Compare(a, b)
	})
	first := map[fieldpath.APIVersion]string{}
	for _, name := range updaters {
		if left <= maxUpdaters {
			return nil
		}
		owned, at := o.fields[name], o.times[name]
		version := owned.APIVersion()
		oldest, seen := first[version]
		if !seen {
			first[version] = name
			continue
		}
		bucket := identity{Manager: ancient, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: string(version)}.key()
		if _, exists := o.fields[bucket]; !exists {
			o.fields[bucket] = o.fields[oldest]
			o.drop(oldest)
		}
		merged := fieldpath.NewVersionedSet(owned.Set().Union(o.fields[bucket].Set()), version, false)
		o.drop(name)
		o.set(bucket, merged, at)
		left--
	}
	return nil
}
