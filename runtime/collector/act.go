package collector

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"apigen.dev/runtime/api"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// standing is how an owner is found.
type standing uint8

const (
	// there: it is, or nobody can tell that it isn't.
	there standing = iota
	// leading: it is being deleted in the foreground, and waits for its dependents.
	leading
	// gone: it is not, or another object has its place.
	gone
)

// collect deletes an object whose owners are gone, or wait for it to go, and takes from one that keeps an owner the
// references to the others.
func (c *Collector) collect(ctx context.Context, o *object) error {
	var found [gone + 1][]types.UID
	for i := range o.owners {
		s, err := c.standing(ctx, o, &o.owners[i])
		if err != nil {
			return err
		}
		found[s] = append(found[s], o.owners[i].uid)
	}
	lost := slices.Concat(found[leading], found[gone])
	switch {
	case len(lost) == 0:
		return nil
	case len(found[there]) > 0:
		return c.rewrite(ctx, o, without(lost...))
	case len(found[leading]) > 0:
		return c.followInto(ctx, o)
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

// followInto deletes an object whose owners wait for it: in the foreground where it has dependents, too. Where one of
// these is on its way out already, it may wait for the object in turn, which then must block nobody.
func (c *Collector) followInto(ctx context.Context, o *object) error {
	policy := metav1.DeletePropagationBackground
	for _, dependent := range c.graph.dependentsOf(o) {
		policy = metav1.DeletePropagationForeground
		if dependent.leads() {
			return c.unblock(ctx, o)
		}
	}
	return c.remove(ctx, o, policy)
}

// unblock is one write before the deletion, which comes when the graph has it.
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

// standing finds out how an owner is, from memory where it is well, and from storage where it seems not to be. What is
// of a kind that isn't served here is taken to be there, as is what can't be an owner: something in a namespace, of
// something in none.
func (c *Collector) standing(ctx context.Context, o *object, ref *reference) (standing, error) {
	r := ref.resource
	if r == nil || r.namespaced && !o.resource.namespaced {
		return there, nil
	}
	at := place{resource: r, name: ref.name, uid: ref.uid}
	if r.namespaced {
		at.namespace = o.namespace
	}
	if c.absent.has(at) {
		return gone, nil
	}
	for _, live := range []bool{false, true} {
		m, err := r.get(ctx, at.namespace, at.name, live)
		switch {
		case apierrors.IsBadRequest(err) || apierrors.IsMethodNotSupported(err):
			return there, nil // no name that an object could have, or none that can be asked for
		case err != nil && live:
			return there, err
		case err == nil && m != nil && m.UID == ref.uid && !isLeading(m):
			return there, nil
		case !live:
		case m == nil || m.UID != ref.uid:
			c.absent.add(at)
			return gone, nil
		}
	}
	return leading, nil
}

func isLeading(m *metadata) bool {
	return m.DeletionTimestamp != nil && slices.Contains(m.Finalizers, metav1.FinalizerDeleteDependents)
}

// remove deletes the object that the graph knows, and none that came after it or became of it since.
func (c *Collector) remove(ctx context.Context, o *object, policy metav1.DeletionPropagation) error {
	version := strconv.FormatInt(o.version, 10)
	_, err := o.resource.handle.Delete(ctx, o.namespace, o.name, api.DeleteOptions{
		WriteOptions:  api.WriteOptions{FieldManager: manager, Form: o.resource.form},
		Preconditions: &metav1.Preconditions{UID: &o.uid, ResourceVersion: &version}, Propagation: &policy,
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		c.counts.deleted.Add(1)
	}
	return err
}

// foreground lets an object go that waits for its dependents, once none of them blocks it.
func (c *Collector) foreground(ctx context.Context, o *object) (again time.Duration, err error) {
	if !c.graph.blocked(o) {
		if err := c.settled(ctx, o.version); err != nil {
			return 0, err
		}
	}
	if !c.graph.blocked(o) {
		return 0, c.finalize(ctx, o, metav1.FinalizerDeleteDependents)
	}
	// Their own events bring them to the queue. This is for what went wrong.
	now := time.Since(c.began).Nanoseconds()
	if last := o.asked.Load(); now-last > int64(patience) && o.asked.CompareAndSwap(last, now) && last > 0 {
		c.queue.add(c.graph.refer(o.uid)...)
	}
	return patience, nil
}

// orphan takes from an object's dependents the references to it, and then lets it go. All that depended on it when it was
// deleted are found.
func (c *Collector) orphan(ctx context.Context, o *object) error {
	veils := c.veils()
	if err := c.settled(ctx, o.version); err != nil {
		return err
	}
	dependents := c.graph.dependentsOf(o)
	if err := c.hides(o); err != nil {
		return err // what depends on it would be deleted as soon as it can be read
	}
	if c.veils() != veils {
		return errUnveiled // an object went from the one to the other between two looks, and was seen in neither
	}
	var group errgroup.Group
	group.SetLimit(workers)
	for _, dependent := range dependents {
		group.Go(func() (err error) {
			defer unpanic(dependent, &err)
			return c.rewrite(ctx, dependent, without(o.uid))
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return c.finalize(ctx, o, metav1.FinalizerOrphanDependents)
}

// without leaves the references that are to others.
func without(uids ...types.UID) func([]metav1.OwnerReference) []metav1.OwnerReference {
	return func(refs []metav1.OwnerReference) []metav1.OwnerReference {
		return slices.DeleteFunc(slices.Clone(refs), func(ref metav1.OwnerReference) bool { return slices.Contains(uids, ref.UID) })
	}
}

// rewrite changes an object's references, as storage has them.
func (c *Collector) rewrite(ctx context.Context, o *object, change func([]metav1.OwnerReference) []metav1.OwnerReference) error {
	m, err := o.resource.get(ctx, o.namespace, o.name, true)
	if err != nil || m == nil || m.UID != o.uid {
		return err
	}
	refs := change(m.OwnerReferences)
	if sameReferences(refs, m.OwnerReferences) {
		return nil
	}
	err = c.patch(ctx, o, m, "ownerReferences", refs)
	if err == nil {
		c.counts.unlinked.Add(1)
	}
	return err
}

func sameReferences(a, b []metav1.OwnerReference) bool {
	return slices.EqualFunc(a, b, func(x, y metav1.OwnerReference) bool {
		return x.UID == y.UID && (x.BlockOwnerDeletion != nil && *x.BlockOwnerDeletion) == (y.BlockOwnerDeletion != nil && *y.BlockOwnerDeletion)
	})
}

// finalize takes a finalizer from an object that is being deleted.
func (c *Collector) finalize(ctx context.Context, o *object, finalizer string) error {
	m, err := o.resource.get(ctx, o.namespace, o.name, true)
	if err != nil || m == nil || m.UID != o.uid || m.DeletionTimestamp == nil || !slices.Contains(m.Finalizers, finalizer) {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(m.Finalizers), func(f string) bool { return f == finalizer })
	err = c.patch(ctx, o, m, "finalizers", left)
	if err == nil {
		c.counts.finalized.Add(1)
	}
	return err
}

// patch sets a list in the metadata of the very object that was read; an empty one is taken away.
func (c *Collector) patch(ctx context.Context, o *object, read *metadata, member string, list any) error {
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": read.UID, "resourceVersion": read.ResourceVersion, member: list}})
	if err != nil {
		return err
	}
	body := api.Body{Version: o.resource.form.Version, Data: data, Validation: metav1.FieldValidationIgnore}
	_, err = o.resource.handle.Patch(ctx, o.namespace, o.name, "", api.MergePatch, body,
		api.WriteOptions{FieldManager: manager, Form: o.resource.form})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
