package rbac

import (
	"context"
	"strconv"
	"sync"
	"time"

	"apigen.dev/runtime/reach"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind is one of the kinds that an Index follows.
type kind int

const (
	clusterRoles kind = iota
	roles
	clusterRoleBindings
	roleBindings
	kinds
)

// resources are those of the kinds.
var resources = [kinds]string{"clusterroles", "roles", "clusterrolebindings", "rolebindings"}

// maxWait bounds how long the answer to a write waits for the index.
const maxWait = time.Second

// progress is the revision up to which an Index has the changes of a kind. The zero value has none.
type progress struct {
	mu       sync.Mutex // guards the fields
	synced   bool
	revision int64
	// changed is closed at the next change; nil while nobody waits for it.
	changed chan struct{}
}

func (p *progress) advance(revision int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.synced, p.revision = true, revision
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// wait waits until the index has all objects, and a revision, or until ctx ends.
func (p *progress) wait(ctx context.Context, revision int64) error {
	for {
		p.mu.Lock()
		if p.synced && p.revision >= revision {
			p.mu.Unlock()
			return nil
		}
		if p.changed == nil {
			p.changed = make(chan struct{})
		}
		changed := p.changed
		p.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// AfterWrite returns, for each kind that the index follows, a function that waits until the index has a revision of it,
// for a second at most: a server calls it after a write, so that the answer to the write finds the index up to date.
func (x *Index) AfterWrite() map[schema.GroupResource]func(ctx context.Context, revision int64) {
	all := map[schema.GroupResource]func(context.Context, int64){}
	for k := range kinds {
		gr := schema.GroupResource{Group: rbacv1.GroupName, Resource: resources[k]}
		all[gr] = func(ctx context.Context, revision int64) {
			ctx, cancel := context.WithTimeout(ctx, maxWait)
			defer cancel()
			_ = x.reached[k].wait(ctx, revision) // the write is done; the change will hold a little later
		}
	}
	return all
}

// Follow keeps the index up to date with the roles and bindings of the server that ctx reaches, until ctx ends. It
// fails where the server doesn't serve the kinds.
func (x *Index) Follow(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var working sync.WaitGroup
	for _, run := range []func(context.Context) error{
		func(ctx context.Context) error { return follow(ctx, x.ApplyClusterRoles) },
		func(ctx context.Context) error { return follow(ctx, x.ApplyRoles) },
		func(ctx context.Context) error { return follow(ctx, x.ApplyClusterRoleBindings) },
		func(ctx context.Context) error { return follow(ctx, x.ApplyRoleBindings) },
	} {
		working.Go(func() { cancel(run(ctx)) })
	}
	working.Wait()
	return context.Cause(ctx)
}

func follow[T any](ctx context.Context, apply func(reach.Changes[T])) error {
	objects, err := reach.Of[T](ctx)
	if err != nil {
		return err
	}
	return objects.Follow(ctx, "", apply)
}

// revisionOf returns the revision of an object, or 0 where its resourceVersion is not a number.
func revisionOf(object metav1.Object) int64 {
	revision, _ := strconv.ParseInt(object.GetResourceVersion(), 10, 64)
	return revision
}
