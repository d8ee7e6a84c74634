package collector

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"apigen.dev/runtime/internal/verb"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

type ownerState uint8

const (
	// ownerPresent: the owner exists, or the collector can't find out that it doesn't.
	ownerPresent ownerState = iota
	// ownerWaiting: the owner is being deleted in the foreground, and waits for its dependents.
	ownerWaiting
	// ownerAbsent: the owner doesn't exist, or another object has its name.
	ownerAbsent
)

// collect deletes an object if each of its owners is absent or waits for its dependents. If one owner is present, it
// removes the references to the others.
func (c *Collector) collect(ctx context.Context, o *object) error {
	var found [ownerAbsent + 1][]types.UID
	for i := range o.owners {
		s, err := c.ownerState(ctx, o, &o.owners[i])
		if err != nil {
			return err
		}
		found[s] = append(found[s], o.owners[i].uid)
	}
	lost := slices.Concat(found[ownerWaiting], found[ownerAbsent])
	switch {
	case len(lost) == 0:
		return nil
	case len(found[ownerPresent]) > 0:
		return c.rewrite(ctx, o, without(lost...))
	case len(found[ownerWaiting]) > 0:
		return c.deleteWithOwner(ctx, o)
	}
	policy := metav1.DeletePropagationBackground
	switch {
	case o.orphan:
		policy = metav1.DeletePropagationOrphan
	case o.foreground:
		policy = metav1.DeletePropagationForeground
	}
	return c.remove(ctx, o, policy)
}

// deleteWithOwner deletes an object whose owner waits for it, in the foreground if it has dependents itself. If one of
// these is already being deleted in the foreground, it may wait for the object in turn; then the object must not block
// its owners.
func (c *Collector) deleteWithOwner(ctx context.Context, o *object) error {
	policy := metav1.DeletePropagationBackground
	for _, dependent := range c.graph.dependentsOf(o) {
		policy = metav1.DeletePropagationForeground
		if dependent.isForeground() {
			return c.unblock(ctx, o)
		}
	}
	return c.remove(ctx, o, policy)
}

// unblock makes the references block no owner. The collector deletes the object when the graph has this write.
func (c *Collector) unblock(ctx context.Context, o *object) error {
	if !slices.ContainsFunc(o.owners, func(r reference) bool { return r.blocks }) {
		return c.remove(ctx, o, metav1.DeletePropagationForeground)
	}
	return c.rewrite(ctx, o, func(refs []metav1.OwnerReference) []metav1.OwnerReference {
		free := slices.Clone(refs)
		for i := range free {
			if free[i].BlockOwnerDeletion != nil {
				free[i].BlockOwnerDeletion = new(bool)
			}
		}
		return free
	})
}

// ownerState finds out the state of an owner. It reads the owner from the cache, and from storage before it says that
// the owner isn't present. An owner of a kind that the server doesn't serve counts as present, and so does an object in
// a namespace that is named as the owner of a cluster-scoped object.
func (c *Collector) ownerState(ctx context.Context, o *object, ref *reference) (ownerState, error) {
	r := ref.owner()
	if r == nil || r.namespaced && !o.resource.namespaced {
		return ownerPresent, nil
	}
	at := ownerKey{resource: r, name: ref.name, uid: ref.uid}
	if r.namespaced {
		at.namespace = o.namespace
	}
	if _, absent := c.absent.Load(at); absent {
		return ownerAbsent, nil
	}
	if r.remote != nil {
		return c.remoteOwner(ctx, at)
	}
	for _, live := range []bool{false, true} {
		m, err := r.get(ctx, at.namespace, at.name, live)
		switch {
		case apierrors.IsBadRequest(err) || apierrors.IsMethodNotSupported(err):
			return ownerPresent, nil // no object can have this name, or the resource has no get
		case err != nil && live:
			return ownerPresent, err
		case err == nil && m.stateAs(ref.uid) == ownerPresent:
			return ownerPresent, nil
		case !live:
		case m.stateAs(ref.uid) == ownerAbsent:
			c.rememberAbsent(at)
			return ownerAbsent, nil
		}
	}
	return ownerWaiting, nil
}

// stateAs returns the state of an owner with a uid, of whose name an object was read; nil is none.
func (m *metadata) stateAs(uid types.UID) ownerState {
	switch {
	case m == nil || m.UID != uid:
		return ownerAbsent
	case m.DeletionTimestamp != nil && slices.Contains(m.Finalizers, metav1.FinalizerDeleteDependents):
		return ownerWaiting
	default:
		return ownerPresent
	}
}

// remove deletes the object in the state that the graph has, and no later state or object of its name.
func (c *Collector) remove(ctx context.Context, o *object, policy metav1.DeletionPropagation) error {
	preconditions := &metav1.Preconditions{UID: &o.uid, ResourceVersion: &o.resourceVersion}
	var err error
	if o.resource.remote != nil {
		err = c.removeRemote(ctx, o, &metav1.DeleteOptions{Preconditions: preconditions, PropagationPolicy: &policy})
	} else {
		from := o.resource.source.Load()
		_, err = from.handle.Delete(ctx, o.namespace, o.name, verb.DeleteOptions{
			WriteOptions:  verb.WriteOptions{FieldManager: manager, Form: from.form},
			Preconditions: preconditions, Propagation: &policy,
		})
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		c.counts.deleted.Add(1)
	}
	return err
}

// foreground removes the finalizer of an object that is deleted in the foreground, when no dependent blocks it.
func (c *Collector) foreground(ctx context.Context, o *object) (again time.Duration, err error) {
	if !c.graph.blocked(o) {
		if err := c.waitForDependents(ctx, o); err != nil {
			return 0, err
		}
		// What is in a server that is unavailable is deleted later: its owner will be absent.
		unavailable, err := c.remoteDependents(ctx, o)
		if err != nil {
			return 0, err
		}
		if unavailable != nil {
			c.log.Debug("an object is deleted before dependents that can't be seen", "object", o.String(),
				"error", unavailable)
		}
	}
	if !c.graph.blocked(o) {
		return 0, c.finalize(ctx, o, metav1.FinalizerDeleteDependents)
	}
	// The events of the dependents add them to the queue. This is for attempts that failed.
	now := time.Since(c.started).Nanoseconds()
	if last := o.asked.Load(); now-last > int64(recheckAfter) && o.asked.CompareAndSwap(last, now) && last > 0 {
		c.queue.add(c.graph.referrers(o.uid)...)
	}
	return recheckAfter, nil
}

// orphan removes the references of the dependents to an object, and then the object's finalizer. It finds all objects
// that were dependents when the object was deleted.
func (c *Collector) orphan(ctx context.Context, o *object) error {
	if err := c.waitForDependents(ctx, o); err != nil {
		return err
	}
	if unavailable, err := c.remoteDependents(ctx, o); unavailable != nil || err != nil {
		return errors.Join(unavailable, err) // otherwise the dependents would be deleted when the server is back
	}
	dependents, err := c.graph.readableDependents(o)
	if err != nil {
		return err // otherwise the dependent would be deleted as soon as it can be read
	}
	var group errgroup.Group
	group.SetLimit(workers)
	for _, dependent := range dependents {
		group.Go(func() (err error) {
			defer recoverPanic(dependent, &err)
			return c.rewrite(ctx, dependent, without(o.uid))
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return c.finalize(ctx, o, metav1.FinalizerOrphanDependents)
}

// without returns a function that removes the references to uids.
func without(uids ...types.UID) func([]metav1.OwnerReference) []metav1.OwnerReference {
	return func(refs []metav1.OwnerReference) []metav1.OwnerReference {
		return slices.DeleteFunc(slices.Clone(refs), func(ref metav1.OwnerReference) bool {
			return slices.Contains(uids, ref.UID)
		})
	}
}

func (c *Collector) rewrite(
	ctx context.Context, o *object, change func([]metav1.OwnerReference) []metav1.OwnerReference,
) error {
	m, err := o.resource.get(ctx, o.namespace, o.name, true)
	if err != nil || m == nil || m.UID != o.uid {
		return err
	}
	refs := change(m.OwnerReferences)
	if slices.EqualFunc(refs, m.OwnerReferences, func(x, y metav1.OwnerReference) bool {
		return x.UID == y.UID && ptr.Deref(x.BlockOwnerDeletion, false) == ptr.Deref(y.BlockOwnerDeletion, false)
	}) {
		return nil
	}
	err = c.patch(ctx, o, m, "ownerReferences", refs)
	if err == nil {
		c.counts.unlinked.Add(1)
	}
	return err
}

func (c *Collector) finalize(ctx context.Context, o *object, finalizer string) error {
	m, err := o.resource.get(ctx, o.namespace, o.name, true)
	if err != nil || m == nil || m.UID != o.uid || m.DeletionTimestamp == nil ||
		!slices.Contains(m.Finalizers, finalizer) {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(m.Finalizers), func(f string) bool { return f == finalizer })
	err = c.patch(ctx, o, m, "finalizers", left)
	if err == nil {
		c.counts.finalized.Add(1)
	}
	return err
}

// patch sets a list in the metadata of the object that was read, if it hasn't changed since. It removes an empty list.
func (c *Collector) patch(ctx context.Context, o *object, read *metadata, member string, list any) error {
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": read.UID, "resourceVersion": read.ResourceVersion, member: list,
	}})
	if err != nil {
		return err
	}
	return o.resource.mergePatch(ctx, o.namespace, o.name, data)
}
