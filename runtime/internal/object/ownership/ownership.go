// Package ownership implements field management: it keeps metadata.managedFields, which say which manager set which
// field of an object, and implements server-side apply with its conflicts. The rules and the messages are those of
// k8s.io/apimachinery/pkg/util/managedfields; field sets and merging come from sigs.k8s.io/structured-merge-diff. The
// package adds an order of evaluation in which a write pays for the fields that it changes, and not for all fields of
// the object.
//
// The package knows objects as typed values and as JSON maps, and no Go type of a user.
package ownership

import (
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// ErrNotServed is the error of an Object or a Converter for a version that isn't served. A manager whose fields are in
// such a version loses them.
var ErrNotServed = errors.New("the version is not served")

// Object is an object that Update and Apply read as a typed value. It has no managedFields.
type Object interface {
	// At returns the object in a version, with apiVersion and kind. It fails with ErrNotServed or ErrTooLong.
	At(version fieldpath.APIVersion) (*typed.TypedValue, error)
}

// Manager keeps the managedFields of one resource in one version, for writes of the object itself or of one of its
// subresources. It is immutable and safe for concurrent use.
type Manager struct {
	// Version is the group and version of the write: shop.example.com/v1.
	Version fieldpath.APIVersion
	// Subresource is "" for the object itself.
	Subresource string
	// Filters select, for each version, the fields that a write through this Manager can set; nil selects all.
	Filters map[fieldpath.APIVersion]fieldpath.Filter
	// Types makes typed values from maps, in Version.
	Types *Type
	// Convert converts a typed value to another version. It fails with ErrNotServed.
	Convert func(object *typed.TypedValue, version fieldpath.APIVersion) (*typed.TypedValue, error)
	// Sets caches decoded sets. Managers may share it.
	Sets *Sets
}

// Update returns the managedFields of an object whose new state is next. live is the state before, whose managedFields
// are stored; for a creation it is an empty object without any. sent are the managedFields in the client's object: a
// client may change them, and resets them with an empty list.
func (m *Manager) Update(live, next Object, stored, sent []metav1.ManagedFieldsEntry, created bool,
	manager string) ([]metav1.ManagedFieldsEntry, error) {
	all := m.initial(stored, sent)
	if len(all.fields) == 0 && !created {
		// Nobody manages fields of this object, or the client has reset them.
		return nil, nil
	}
	if err := m.update(all, live, next, identityOf(manager, metav1.ManagedFieldsOperationUpdate, m)); err != nil {
		return nil, err
	}
	return all.entries()
}

func (m *Manager) initial(stored, sent []metav1.ManagedFieldsEntry) *managers {
	if m.Subresource == "" {
		if isReset(sent) {
			return newManagers(m.Sets, 0)
		}
		if !tooMuchSent(sent) {
			if all, err := m.Sets.managers(sent); err == nil && len(all.fields) > 0 {
				return all
			}
		}
	}
	all, err := m.Sets.managers(stored)
	if err != nil {
		return newManagers(m.Sets, 0)
	}
	return all
}

// isReset reports whether a client resets managedFields, with an empty list or with one empty entry.
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

// update gives the fields that differ between live and next to id, and removes them from all other managers.
func (m *Manager) update(all *managers, live, next Object, id identity) error {
	before, err := live.At(m.Version)
	if err != nil {
		return err
	}
	after, err := next.At(m.Version)
	if err != nil {
		return err
	}
	if err := m.reconcile(all, live); err != nil {
		return err
	}
	whole, err := compare(before, after)
	if err != nil {
		return err
	}
	change := whole.FilterFields(m.Filters[m.Version])
	if err := m.removeChanged(all, live, next, change, whole.IsSame()); err != nil {
		return err
	}
	set := change.Modified.Union(change.Added)
	if filter := m.Filters[m.Version]; filter != nil {
		set = filter.Filter(set)
	}
	if set = set.Difference(unmanaged); !set.Empty() {
		if previous, ok := all.fields[id.key()]; ok {
			set = set.Union(previous.Set())
		}
		all.set(id, fieldpath.NewVersionedSet(set, m.Version, false), now())
	}
	return all.capUpdaters()
}

// removeChanged removes the changed fields from the managers that have them, each in the version of the manager.
func (m *Manager) removeChanged(all *managers, live, next Object, change *typed.Comparison, same bool) error {
	changes := map[fieldpath.APIVersion]*typed.Comparison{m.Version: change}
	for name, managed := range all.fields {
		change, ok := changes[managed.APIVersion()]
		if !ok {
			var err error
			if same {
				_, err = live.At(managed.APIVersion())
			} else {
				change, err = m.changed(live, next, managed.APIVersion())
			}
			if errors.Is(err, ErrNotServed) {
				all.drop(name)
				continue
			}
			if err != nil {
				return err
			}
			changes[managed.APIVersion()] = change
		}
		if change == nil || change.IsSame() {
			continue
		}
		left := managed.Set().Difference(change.Modified.Union(change.Added)).Difference(change.Removed)
		all.reduce(name, managed, left)
	}
	return nil
}

// reconcile updates the sets for lists and maps that became atomic after the sets were recorded.
func (m *Manager) reconcile(all *managers, live Object) error {
	for name, managed := range all.fields {
		if m.Sets.isReconciled(all.known[name].raw, managed.APIVersion()) {
			continue
		}
		object, err := live.At(managed.APIVersion())
		if errors.Is(err, ErrNotServed) {
			continue
		}
		if err != nil {
			return err
		}
		set, err := typed.ReconcileFieldSetWithSchema(managed.Set(), object)
		switch {
		case err != nil:
			return err
		case set != nil:
			all.fields[name] = fieldpath.NewVersionedSet(set, managed.APIVersion(), managed.Applied())
		default:
			m.Sets.setReconciled(all.known[name].raw, managed.APIVersion())
		}
	}
	return nil
}

// unmanaged are the fields that identify an object, and those that the server alone writes.
var unmanaged = func() *fieldpath.Set {
	set := fieldpath.NewSet(fieldpath.MakePathOrDie("apiVersion"), fieldpath.MakePathOrDie("kind"),
		fieldpath.MakePathOrDie("metadata"))
	for _, name := range []string{"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName",
		"generation", "managedFields", "resourceVersion"} {
		set.Insert(fieldpath.MakePathOrDie("metadata", name))
	}
	return set
}()

func now() *metav1.Time { return &metav1.Time{Time: time.Now().UTC().Truncate(time.Second)} }

type converter struct{ m *Manager }

func (c converter) Convert(object *typed.TypedValue, version fieldpath.APIVersion) (*typed.TypedValue, error) {
	return c.m.Convert(object, version)
}

func (c converter) IsMissingVersionError(err error) bool { return errors.Is(err, ErrNotServed) }

func (m *Manager) updater() *merge.Updater {
	builder := merge.UpdaterBuilder{Converter: converter{m}, IgnoreFilter: m.Filters}
	return builder.BuildUpdater()
}

// Change is a write that the server changed after the managers had been updated: a client turned Live into Sent, by an
// update or an apply, and the server turned Sent into Next.
type Change struct {
	Live, Sent, Next Object
	// Stored are the managedFields of Live, and Entries those of Sent.
	Stored, Entries []metav1.ManagedFieldsEntry
	// Manager is the manager that wrote. Applied says that it applied.
	Manager string
	Applied bool
}

// Prepared returns the managedFields of the object that the server made of a write. The writer loses the fields that
// the server removed or set to other values. A field that is again as it was before the write goes back to its previous
// managers. Nobody manages the fields that the server alone set.
func (m *Manager) Prepared(c Change) ([]metav1.ManagedFieldsEntry, error) {
	all, err := m.Sets.managers(c.Entries)
	if err != nil {
		return nil, err
	}
	before, err := m.Sets.managers(c.Stored)
	if err != nil {
		before = newManagers(m.Sets, 0)
	}
	operation := metav1.ManagedFieldsOperationUpdate
	if c.Applied {
		operation = metav1.ManagedFieldsOperationApply
	}
	writer := identityOf(c.Manager, operation, m).key()
	if managed, ok := all.fields[writer]; ok {
		undone, err := m.changed(c.Sent, c.Next, managed.APIVersion())
		if err != nil {
			return nil, err
		}
		all.reduce(writer, managed, managed.Set().Difference(undone.Modified).Difference(undone.Removed))
	}
	for name, managed := range before.fields {
		restored, err := m.restored(c, managed, all.fields[name])
		if errors.Is(err, ErrNotServed) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if restored.Empty() {
			continue
		}
		if now, ok := all.fields[name]; ok {
			restored = restored.Union(now.Set())
		} else {
			all.known[name] = before.known[name]
		}
		all.fields[name] = fieldpath.NewVersionedSet(restored, managed.APIVersion(), managed.Applied())
	}
	return all.entries()
}

// restored returns the fields that a manager lost to the writer, and that the server left or put back as they had been.
func (m *Manager) restored(c Change, managed, now fieldpath.VersionedSet) (*fieldpath.Set, error) {
	lost := managed.Set()
	if now != nil {
		lost = lost.Difference(now.Set())
	}
	if lost.Empty() {
		return lost, nil
	}
	undone, err := m.changed(c.Sent, c.Next, managed.APIVersion())
	if err != nil {
		return nil, err
	}
	moved, err := m.changed(c.Live, c.Next, managed.APIVersion())
	if err != nil {
		return nil, err
	}
	lost = lost.Intersection(undone.Modified.Union(undone.Added).Union(undone.Removed))
	return lost.Difference(moved.Modified).Difference(moved.Added).Difference(moved.Removed), nil
}

// changed returns the difference between two objects in a version, of the fields that a write can set.
func (m *Manager) changed(from, to Object, version fieldpath.APIVersion) (*typed.Comparison, error) {
	before, err := from.At(version)
	if err != nil {
		return nil, err
	}
	after, err := to.At(version)
	if err != nil {
		return nil, err
	}
	change, err := compare(before, after)
	if err != nil {
		return nil, err
	}
	return change.FilterFields(m.Filters[version]), nil
}

// compare returns the difference between two values. Where they can't be compared, the error of their validation says
// more: it names the field.
func compare(before, after *typed.TypedValue) (*typed.Comparison, error) {
	beforeThat, afterThat := differing(before, after)
	change, err := beforeThat.Compare(afterThat)
	if err == nil {
		return change, nil
	}
	for _, value := range []*typed.TypedValue{before, after} {
		if invalid := value.Validate(typed.AllowDuplicates); invalid != nil {
			return nil, invalid
		}
	}
	return nil, err
}
