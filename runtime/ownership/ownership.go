// Package ownership keeps metadata.managedFields: who set which field of an object, what a server-side apply may change,
// and with whom it is in conflict. The rules are those of k8s.io/apimachinery/pkg/util/managedfields, and its texts; field
// sets and merging are sigs.k8s.io/structured-merge-diff's. What is ours is the order in which these are asked for, so
// that a write pays for what it changed and not for all that is known of the object.
//
// It knows objects as typed values and as JSON maps, and no Go type of a user.
package ownership

import (
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// ErrNotServed is what an Object, or a Converter, answers where it is asked for a version that isn't served: who owned
// fields in such a version owns nothing any more.
var ErrNotServed = errors.New("the version is not served")

// Object is an object of which a write needs typed values, without managedFields.
type Object interface {
	// At returns the object in a version, with apiVersion and kind; ErrNotServed, ErrTooLong.
	At(version fieldpath.APIVersion) (*typed.TypedValue, error)
}

// Manager keeps the managedFields of one resource in one version, written through the object itself or through one of
// its subresources. It is immutable and safe for concurrent use.
type Manager struct {
	// Version is the group and version in which clients write: shop.example.com/v1.
	Version fieldpath.APIVersion
	// Subresource is "" for the object itself.
	Subresource string
	// Filters leave, for each version, the fields that a write through this Manager can set; nil leaves all.
	Filters map[fieldpath.APIVersion]fieldpath.Filter
	// Types makes typed values of maps, in Version.
	Types managedfields.TypeConverter
	// Convert converts a typed value to another version; ErrNotServed.
	Convert func(object *typed.TypedValue, version fieldpath.APIVersion) (*typed.TypedValue, error)
	// Sets may be shared by Managers.
	Sets *Sets
}

// Update returns the managedFields of an object whose state is to become next. live is the state of before, which has the
// managedFields stored; on a creation, an empty object without any. sent are the managedFields in what the client sent:
// it may change them, and drops them with an empty list.
func (m *Manager) Update(live, next Object, stored, sent []metav1.ManagedFieldsEntry, created bool, manager string) ([]metav1.ManagedFieldsEntry, error) {
	owners := m.known(stored, sent)
	if len(owners.fields) == 0 && !created {
		// Nobody kept track so far, or nobody shall from now on.
		return nil, nil
	}
	if err := m.update(owners, live, next, identityOf(manager, metav1.ManagedFieldsOperationUpdate, m)); err != nil {
		return nil, err
	}
	return owners.entries()
}

// known are the owners that an update begins with.
func (m *Manager) known(stored, sent []metav1.ManagedFieldsEntry) *owners {
	if m.Subresource == "" {
		if isReset(sent) {
			return newOwners(m.Sets, 0)
		}
		if !overSent(sent) {
			if owners, err := m.Sets.owners(sent); err == nil && len(owners.fields) > 0 {
				return owners
			}
		}
	}
	owners, err := m.Sets.owners(stored)
	if err != nil {
		return newOwners(m.Sets, 0)
	}
	return owners
}

// isReset tells that a client wants nobody to own anything: an empty list, or one empty entry.
func isReset(sent []metav1.ManagedFieldsEntry) bool {
	switch len(sent) {
	case 0:
		return sent != nil
	case 1:
		e := &sent[0]
		return *e == metav1.ManagedFieldsEntry{}
	}
	return false
}

// update gives what differs between live and next to id, and takes it from all others.
func (m *Manager) update(owners *owners, live, next Object, id identity) error {
	before, err := live.At(m.Version)
	if err != nil {
		return err
	}
	after, err := next.At(m.Version)
	if err != nil {
		return err
	}
	if err := m.reconcile(owners, live); err != nil {
		return err
	}
	whole, err := before.Compare(after)
	if err != nil {
		return err
	}
	change := whole.FilterFields(m.Filters[m.Version])
	if err := m.disown(owners, live, next, change, whole.IsSame()); err != nil {
		return err
	}
	set := change.Modified.Union(change.Added)
	if filter := m.Filters[m.Version]; filter != nil {
		set = filter.Filter(set)
	}
	if set = set.Difference(unowned); !set.Empty() {
		name := id.key()
		if previous, ok := owners.fields[name]; ok {
			set = set.Union(previous.Set())
		}
		owners.ids[name] = id
		owners.set(name, fieldpath.NewVersionedSet(set, m.Version, false), now())
	}
	return owners.capUpdaters()
}

// disown takes what changed from those who owned it, each in the version in which they did.
func (m *Manager) disown(owners *owners, live, next Object, change *typed.Comparison, same bool) error {
	changes := map[fieldpath.APIVersion]*typed.Comparison{m.Version: change}
	for name, owned := range owners.fields {
		change, ok := changes[owned.APIVersion()]
		if !ok {
			var err error
			change, err = m.changeAt(live, next, owned.APIVersion(), same)
			if errors.Is(err, ErrNotServed) {
				owners.drop(name)
				continue
			}
			if err != nil {
				return err
			}
			changes[owned.APIVersion()] = change
		}
		if change == nil || change.IsSame() {
			continue
		}
		left := owned.Set().Difference(change.Modified.Union(change.Added)).Difference(change.Removed)
		if left.Empty() {
			owners.drop(name)
		} else {
			owners.fields[name] = fieldpath.NewVersionedSet(left, owned.APIVersion(), owned.Applied())
		}
	}
	return nil
}

// changeAt is what changed as another version shows it; nil where nothing did.
func (m *Manager) changeAt(live, next Object, version fieldpath.APIVersion, same bool) (*typed.Comparison, error) {
	if same {
		_, err := live.At(version)
		return nil, err
	}
	return m.changed(live, next, version)
}

// reconcile follows lists and maps that became atomic since their owners were noted.
func (m *Manager) reconcile(owners *owners, live Object) error {
	for name, owned := range owners.fields {
		if m.Sets.isReconciled(owners.raw[name], owned.APIVersion()) {
			continue
		}
		object, err := live.At(owned.APIVersion())
		if errors.Is(err, ErrNotServed) {
			continue
		}
		if err != nil {
			return err
		}
		set, err := typed.ReconcileFieldSetWithSchema(owned.Set(), object)
		switch {
		case err != nil:
			return err
		case set != nil:
			owners.fields[name] = fieldpath.NewVersionedSet(set, owned.APIVersion(), owned.Applied())
		default:
			m.Sets.setReconciled(owners.raw[name], owned.APIVersion())
		}
	}
	return nil
}

// unowned are the fields that identify an object, or that the server alone writes.
var unowned = fieldpath.NewSet(
	fieldpath.MakePathOrDie("apiVersion"),
	fieldpath.MakePathOrDie("kind"),
	fieldpath.MakePathOrDie("metadata"),
	fieldpath.MakePathOrDie("metadata", "name"),
	fieldpath.MakePathOrDie("metadata", "namespace"),
	fieldpath.MakePathOrDie("metadata", "creationTimestamp"),
	fieldpath.MakePathOrDie("metadata", "selfLink"),
	fieldpath.MakePathOrDie("metadata", "uid"),
	fieldpath.MakePathOrDie("metadata", "clusterName"),
	fieldpath.MakePathOrDie("metadata", "generation"),
	fieldpath.MakePathOrDie("metadata", "managedFields"),
	fieldpath.MakePathOrDie("metadata", "resourceVersion"),
)

func now() *metav1.Time { return &metav1.Time{Time: time.Now().UTC().Truncate(time.Second)} }

// converter is Convert as structured-merge-diff wants it.
type converter struct{ m *Manager }

func (c converter) Convert(object *typed.TypedValue, version fieldpath.APIVersion) (*typed.TypedValue, error) {
	return c.m.Convert(object, version)
}

func (c converter) IsMissingVersionError(err error) bool { return errors.Is(err, ErrNotServed) }

func (m *Manager) updater() *merge.Updater {
	builder := merge.UpdaterBuilder{Converter: converter{m}, IgnoreFilter: m.Filters}
	return builder.BuildUpdater()
}
