package ownership

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// Change is a write that a server changed once more, after the owners had been found out: from Live, a client made Sent
// (an update, or an apply), and the server Next.
type Change struct {
	Live, Sent, Next Object
	// Stored are the managedFields of Live, and Entries those of Sent.
	Stored, Entries []metav1.ManagedFieldsEntry
	// Manager wrote, and applied where Applied is set.
	Manager string
	Applied bool
}

// Prepared returns the managedFields of what the server made of a write. What it took back, or set otherwise, is not the
// writer's; and what is as it was before still is whose it was. What the server set by itself is nobody's.
func (m *Manager) Prepared(c Change) ([]metav1.ManagedFieldsEntry, error) {
	owners, err := m.Sets.owners(c.Entries)
	if err != nil {
		return nil, err
	}
	before, err := m.Sets.owners(c.Stored)
	if err != nil {
		before = newOwners(m.Sets, 0)
	}
	operation := metav1.ManagedFieldsOperationUpdate
	if c.Applied {
		operation = metav1.ManagedFieldsOperationApply
	}
	writer := identityOf(c.Manager, operation, m).key()
	if owned, ok := owners.fields[writer]; ok {
		undone, err := m.changed(c.Sent, c.Next, owned.APIVersion())
		if err != nil {
			return nil, err
		}
		set := owned.Set().Difference(undone.Modified).Difference(undone.Removed)
		owners.keep(writer, fieldpath.NewVersionedSet(set, owned.APIVersion(), owned.Applied()))
	}
	for name, owned := range before.fields {
		back, err := m.back(c, owned, owners.fields[name])
		if errors.Is(err, ErrNotServed) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if back.Empty() {
			continue
		}
		if now, ok := owners.fields[name]; ok {
			back = back.Union(now.Set())
		} else {
			owners.ids[name], owners.times[name] = before.ids[name], before.times[name]
		}
		owners.fields[name] = fieldpath.NewVersionedSet(back, owned.APIVersion(), owned.Applied())
	}
	return owners.entries()
}

// back are the fields that an owner lost to the writer, and that the server then left, or put back, as they had been.
func (m *Manager) back(c Change, owned, now fieldpath.VersionedSet) (*fieldpath.Set, error) {
	lost := owned.Set()
	if now != nil {
		lost = lost.Difference(now.Set())
	}
	if lost.Empty() {
		return lost, nil
	}
	undone, err := m.changed(c.Sent, c.Next, owned.APIVersion())
	if err != nil {
		return nil, err
	}
	moved, err := m.changed(c.Live, c.Next, owned.APIVersion())
	if err != nil {
		return nil, err
	}
	lost = lost.Intersection(undone.Modified.Union(undone.Added).Union(undone.Removed))
	return lost.Difference(moved.Modified).Difference(moved.Added).Difference(moved.Removed), nil
}

// changed is what differs between two objects in a version, of what a write through the Manager can set.
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

// keep sets what an owner owns; nothing is no owner.
func (o *owners) keep(name string, set fieldpath.VersionedSet) {
	if set.Set().Empty() {
		o.drop(name)
		return
	}
	o.fields[name] = set
}
