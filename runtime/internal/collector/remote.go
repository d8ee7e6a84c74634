package collector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"apigen.dev/runtime/internal/typedclient"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Remote is a resource that another server serves, behind this one.
type Remote struct {
	schema.GroupVersionResource
	Kind       string
	Namespaced bool
	// Followed reports whether the objects can be dependents: whether they can be listed, watched, patched and deleted.
	// Other objects can be owners only.
	Followed bool
	Objects  RemoteObjects
}

// RemoteObjects reads and writes the metadata of objects in another server. Its methods are called concurrently, and
// return an error while the server doesn't answer. namespace is "" for cluster-scoped objects.
type RemoteObjects interface {
	// Get reads an object. It returns nil if the other server says that the object doesn't exist. A path that nobody
	// serves is an error.
	Get(ctx context.Context, namespace, name string) (*metav1.PartialObjectMetadata, error)
	// List calls page with each page of the present objects in a namespace, "" for all, until page returns an error.
	List(ctx context.Context, namespace string, page func(*metav1.PartialObjectMetadataList) error) error
	// Watch calls event with the changes after a resourceVersion, and with bookmarks. It returns nil when the server
	// ends the watch.
	Watch(ctx context.Context, resourceVersion string,
		event func(watch.EventType, *metav1.PartialObjectMetadata) error) error
	// Delete deletes an object, and Patch applies a merge patch to it. They return nil if it doesn't exist.
	Delete(ctx context.Context, namespace, name string, options *metav1.DeleteOptions) error
	Patch(ctx context.Context, namespace, name string, patch []byte) error
}

// Remotes returns the resources that other servers serve behind a server.
func Remotes(server typedclient.Joined) (all []Remote) {
	for _, r := range server.Remote() {
		can := func(verb string) bool { return slices.Contains(r.Verbs, verb) }
		if !can("get") || len(r.Versions) == 0 {
			continue
		}
		all = append(all, Remote{
			GroupVersionResource: r.WithVersion(r.Versions[0]), Kind: r.Kind, Namespaced: r.Namespaced,
			Followed: can("list") && can("watch") && can("patch") && can("delete"),
			Objects:  typedclient.Metadata{Server: server, Resource: r},
		})
	}
	return all
}

func (r *Remote) same(other *Remote) bool {
	return r.GroupVersionResource == other.GroupVersionResource && r.Kind == other.Kind &&
		r.Namespaced == other.Namespaced && r.Followed == other.Followed
}

func newRemote(remote *Remote, kinds *kinds) *resource {
	r := &resource{
		remote: remote, kind: schema.GroupKind{Group: remote.Group, Kind: remote.Kind},
		gr: remote.GroupResource(), namespaced: remote.Namespaced, kinds: kinds, tried: make(chan struct{}),
		changed: make(chan struct{}),
	}
	if !remote.Followed {
		r.skipped.Store(true)
	}
	r.setTried() // a server that is away holds nobody up
	return r
}

// SetRemotes makes the collector follow the resources of other servers, and leave those that it followed before and
// that are not among them. unknown are versions of other servers that never said which resources they have.
func (c *Collector) SetRemotes(remotes []Remote, unknown []schema.GroupVersion) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unknown = slices.Clone(unknown)
	var known []*Remote
	for _, r := range slices.Clone(c.resources) {
		switch {
		case r.remote == nil:
		case slices.ContainsFunc(remotes, func(next Remote) bool { return next.same(r.remote) }):
			known = append(known, r.remote)
		default:
			c.leave(r)
		}
	}
	for i := range remotes {
		if !slices.ContainsFunc(known, remotes[i].same) {
			copied := remotes[i]
			c.add(newRemote(&copied, c.kinds))
		}
	}
}

// watchRemote updates the graph with the state of a resource of another server, and then with its changes. Its error is
// never nil.
func (c *Collector) watchRemote(ctx context.Context, r *resource) error {
	r.confirmed.stop()
	c.forgetAbsent() // its storage may have been restored to an earlier state
	seen := map[types.UID]bool{}
	var version string
	if err := r.remote.Objects.List(ctx, "", func(page *metav1.PartialObjectMetadataList) error {
		version = page.ResourceVersion
		for i := range page.Items {
			o, err := c.observeMetadata(r, metadataOf(&page.Items[i]), false)
			if err != nil {
				return err
			}
			if o != nil {
				seen[o.uid] = true
			}
		}
		return nil
	}); err != nil {
		return err
	}
	r.confirmed.start()
	r.listed.Store(true)
	c.reconcile(r, seen)
	r.setReached(1) // its revisions are the other server's
	for {
		began := time.Now()
		observe := func(kind watch.EventType, p *metav1.PartialObjectMetadata) error {
			version = p.ResourceVersion
			return c.observeRemote(r, kind, p)
		}
		if err := r.remote.Objects.Watch(ctx, version, observe); err != nil {
			return err
		}
		if time.Since(began) < shortestWatch {
			return errShortWatch
		}
	}
}

// shortestWatch is how long a watch of another server must last, or else the collector waits before the next one.
const shortestWatch = time.Second

var errShortWatch = errors.New("the server ends its watches at once")

func (c *Collector) observeRemote(r *resource, kind watch.EventType, p *metav1.PartialObjectMetadata) error {
	if kind == watch.Bookmark {
		return nil
	}
	r.confirmed.forget(p.UID)
	_, err := c.observeMetadata(r, metadataOf(p), kind == watch.Deleted)
	return err
}

func metadataOf(p *metav1.PartialObjectMetadata) *metadata {
	m := &metadata{
		Name: p.Name, Namespace: p.Namespace, UID: p.UID, ResourceVersion: p.ResourceVersion, Finalizers: p.Finalizers,
		OwnerReferences: p.OwnerReferences,
	}
	if p.DeletionTimestamp != nil {
		at := p.DeletionTimestamp.UTC().Format(time.RFC3339)
		m.DeletionTimestamp = &at
	}
	return m
}

// remoteOwner is ownerState for an owner in another server. Only the other server's word counts that an owner is
// absent.
func (c *Collector) remoteOwner(ctx context.Context, at ownerKey) (ownerState, error) {
	known := &at.resource.confirmed
	if known.has(at) || at.resource.remote.Followed && !at.resource.listed.Load() {
		return ownerPresent, nil // the first list queues all objects with references to the resource
	}
	asked := known.ask(at)
	m, err := at.resource.get(ctx, at.namespace, at.name, true)
	switch {
	case apierrors.IsBadRequest(err) || apierrors.IsMethodNotSupported(err):
		return ownerPresent, nil // as in this server
	case err != nil:
		return ownerPresent, err
	}
	state := m.stateAs(at.uid)
	switch state {
	case ownerPresent:
		known.confirm(asked)
	case ownerAbsent:
		c.rememberAbsent(at)
	case ownerWaiting:
	}
	return state, nil
}

// errBehind is why the collector must look at an object again.
var errBehind = errors.New("the collector doesn't know the latest changes in another server yet")

// removeRemote is remove for an object in another server. That server may ignore preconditions, so the collector looks
// first whether the object has changed.
func (c *Collector) removeRemote(ctx context.Context, o *object, options *metav1.DeleteOptions) error {
	m, err := o.resource.get(ctx, o.namespace, o.name, true)
	switch {
	case err != nil || m == nil || m.UID != o.uid:
		return err
	case m.ResourceVersion != o.resourceVersion:
		return errBehind
	}
	return o.resource.remote.Objects.Delete(ctx, o.namespace, o.name, options)
}

// remoteDependents asks the other servers whether the graph has all dependents of an owner. unavailable are the errors
// of those that don't answer. It fails with errBehind if the graph lacks a dependent.
func (c *Collector) remoteDependents(ctx context.Context, owner *object) (unavailable, err error) {
	namespace := ""
	if owner.resource.namespaced {
		namespace = owner.namespace
	}
	var errs []error
	for _, r := range c.all() {
		if r.remote == nil || !r.remote.Followed || owner.resource.namespaced && !r.namespaced {
			continue
		}
		err := r.remote.Objects.List(ctx, namespace, func(page *metav1.PartialObjectMetadataList) error {
			return c.hasDependents(owner, page.Items)
		})
		switch {
		case errors.Is(err, errBehind):
			return nil, fmt.Errorf("%s: %w", r.gr, err)
		case err != nil:
			errs = append(errs, fmt.Errorf("%s %w: %w", r.gr, errMayDepend, err))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, gv := range c.unknown {
		errs = append(errs, fmt.Errorf("%s %w", gv, errMayDepend))
	}
	return errors.Join(errs...), nil
}

// hasDependents returns nil if the graph has all dependents of an owner that are among objects of another server.
func (c *Collector) hasDependents(owner *object, objects []metav1.PartialObjectMetadata) error {
	referrers := c.graph.referrers(owner.uid)
	for i := range objects {
		p := &objects[i]
		refers := func(ref metav1.OwnerReference) bool { return ref.UID == owner.uid }
		if slices.ContainsFunc(p.OwnerReferences, refers) && !slices.Contains(referrers, p.UID) {
			return errBehind
		}
	}
	return nil
}
