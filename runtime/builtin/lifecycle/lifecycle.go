// Package lifecycle gives namespaces a life: a write into a namespace that doesn't exist, or that is being deleted, is
// refused (the plug-in NamespaceLifecycle); the namespaces that every server has are made, and stay; and a namespace
// that is deleted is emptied, whatever kinds the server serves, before it goes.
//
// It may know packages admission, reach, registry and server.
package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Feature brings the life of namespaces into a server. It does nothing in a server that serves no namespaces, where the
// namespaces of objects are names and no more.
type Feature struct {
	log *slog.Logger

	mu sync.Mutex
	// active tells of each known namespace whether it isn't being deleted; it is nil before they are known.
	active map[string]bool
	// deleted are when a deletion of a namespace passed here, whose result may not be known yet.
	deleted map[string]time.Time
	// changed wakes what acts on namespaces; each has a channel.
	changed []chan struct{}
}

// system are the namespaces that every server has, and that can't be deleted.
var system = []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic}

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group { return nil }

// AddFlags implements server.Feature.
func (*Feature) AddFlags(*pflag.FlagSet) {}

// Configure implements server.Feature.
func (f *Feature) Configure(_ context.Context, config *server.Config) (server.Contribution, error) {
	f.log, f.deleted = cmp.Or(config.Log, slog.Default()), map[string]time.Time{}
	emptier, accounts := f.wake(), f.wake()
	hooks := []server.Hook{
		{Name: "start-system-namespaces-controller", PostStart: f.makeSystem, Run: f.follow},
		{Name: "namespaces/empty", Run: func(ctx context.Context) error {
			e := newEmptier(f.log, emptier)
			defer e.working.Wait()
			return f.eachChange(ctx, emptier, e.all)
		}},
		{Name: "namespaces/service-accounts", Run: func(ctx context.Context) error {
			return f.keepAccounts(ctx, accounts)
		}},
	}
	plugin := admission.Plugin{Name: "NamespaceLifecycle", Handles: handles, Admit: f.admit}
	return server.Contribution{Admission: []admission.Plugin{plugin}, Hooks: hooks}, nil
}

func (f *Feature) wake() chan struct{} {
	c := make(chan struct{}, 1)
	f.changed = append(f.changed, c)
	return c
}

// makeSystem makes the namespaces that every server has. The server isn't ready before they are there.
func (f *Feature) makeSystem(ctx context.Context) error {
	namespaces, err := reach.Of[*core.Namespace](ctx)
	if err != nil {
		return nil //nolint:nilerr // the server serves no namespaces
	}
	for _, name := range system {
		for err := ensure(ctx, namespaces, name); err != nil; err = ensure(ctx, namespaces, name) {
			f.log.WarnContext(ctx, "a namespace could not be made", "namespace", name, "error", err)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(soon):
			}
		}
	}
	return nil
}

func ensure(ctx context.Context, namespaces reach.Objects[*core.Namespace], name string) error {
	namespace := &core.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := namespaces.Create(ctx, namespace, reach.Write{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// follow keeps the known namespaces up to date.
func (f *Feature) follow(ctx context.Context) error {
	namespaces, err := reach.Of[*core.Namespace](ctx)
	if err != nil {
		return nil //nolint:nilerr // the server serves no namespaces
	}
	return namespaces.Follow(ctx, "", f.take)
}

func (f *Feature) take(changes reach.Changes[*core.Namespace]) {
	f.mu.Lock()
	if changes.Reset || f.active == nil {
		f.active = map[string]bool{}
	}
	for _, namespace := range changes.Put {
		f.active[namespace.Name] = isActive(namespace)
	}
	for _, namespace := range changes.Deleted {
		delete(f.active, namespace.Name)
	}
	f.mu.Unlock()
	for _, c := range f.changed {
		select {
		case c <- struct{}{}:
		default: // it will look anyway
		}
	}
}

func isActive(namespace *core.Namespace) bool {
	return namespace.DeletionTimestamp == nil && namespace.Status.Phase != core.NamespaceTerminating
}

// names returns the known namespaces that are active, or those that aren't.
func (f *Feature) names(active bool) (names []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, is := range f.active {
		if is == active {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// isReview reports whether a write asks for a permission in a namespace: whether that exists is not for everybody to
// know.
func isReview(a *admission.Attributes) bool {
	return a.Resource.Group == "authorization.k8s.io" && a.Resource.Resource == "localsubjectaccessreviews"
}

func isNamespace(a *admission.Attributes) bool {
	return a.Kind.Group == "" && a.Kind.Kind == "Namespace"
}

func handles(a *admission.Attributes) bool {
	if isNamespace(a) {
		return a.Operation == admission.Delete
	}
	return a.Namespace != "" && (a.Operation == admission.Create || a.Operation == admission.Update) && !isReview(a)
}

func (f *Feature) admit(ctx context.Context, a *admission.Attributes) error {
	namespaces, err := reach.Of[*core.Namespace](ctx)
	if err != nil {
		return nil //nolint:nilerr // the server serves no namespaces
	}
	if isNamespace(a) {
		return f.admitDeletion(a)
	}
	active, err := f.isActive(ctx, namespaces, a.Namespace)
	if apierrors.IsNotFound(err) && slices.Contains(system, a.Namespace) && !a.DryRun {
		// A hook writes into it before it was made.
		if err = ensure(ctx, namespaces, a.Namespace); err == nil {
			return nil
		}
	}
	if err != nil {
		return err
	}
	if active || a.Operation != admission.Create {
		return nil
	}
	status := apierrors.NewForbidden(a.Resource.GroupResource(), a.ObjectName(), fmt.Errorf(
		"unable to create new content in namespace %s because it is being terminated", a.Namespace))
	status.ErrStatus.Details.Causes = append(status.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: core.NamespaceTerminatingCause, Field: "metadata.namespace",
		Message: fmt.Sprintf("namespace %s is being terminated", a.Namespace),
	})
	return status
}

// believed is how long after a deletion a namespace is read from storage before anything is created there.
const believed = 30 * time.Second

func (f *Feature) admitDeletion(a *admission.Attributes) error {
	if slices.Contains(system, a.Name) && a.Subresource == "" {
		return apierrors.NewForbidden(a.Resource.GroupResource(), a.Name,
			errors.New("this namespace may not be deleted"))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	for name, at := range f.deleted {
		if now.Sub(at) > believed {
			delete(f.deleted, name)
		}
	}
	f.deleted[a.Name] = now
	return nil
}

// isActive reports whether a namespace takes new content. The error of a missing one is an apierrors.NewNotFound.
func (f *Feature) isActive(
	ctx context.Context, namespaces reach.Objects[*core.Namespace], name string,
) (bool, error) {
	f.mu.Lock()
	active, known := f.active[name]
	at, deleted := f.deleted[name]
	f.mu.Unlock()
	if known && (!active || !deleted || time.Since(at) > believed) {
		return active, nil
	}
	namespace, err := namespaces.Get(ctx, "", name)
	if err != nil {
		return false, err
	}
	return isActive(namespace), nil
}
