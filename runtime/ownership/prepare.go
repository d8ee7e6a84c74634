package ownership

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

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
	change, err := before.Compare(after)
	if err != nil {
		return nil, err
	}
	return change.FilterFields(m.Filters[version]), nil
}
