package node

import (
	"context"
	"fmt"
	"sync"

	"apigen.dev/runtime/reach"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// source is a kind that a Graph follows.
type source interface {
	// served reports whether the server that ctx reaches serves the kind.
	served(ctx context.Context) bool
	// follow keeps a graph up to date until ctx ends. It calls complete when the graph has all objects.
	follow(ctx context.Context, g *Graph, complete func()) error
}

// sources are the kinds that say which objects a node may read.
var sources = []source{
	following[*corev1.Pod]{pods, entryOfPod},
	following[*corev1.PersistentVolume]{volumes, entryOfVolume},
	following[*storagev1.VolumeAttachment]{attachments, func(a *storagev1.VolumeAttachment) *entry {
		return &entry{node: a.Spec.NodeName}
	}},
	following[*resourcev1.ResourceSlice]{resourceSlices, func(s *resourcev1.ResourceSlice) *entry {
		if s.Spec.NodeName == nil {
			return &entry{}
		}
		return &entry{node: *s.Spec.NodeName}
	}},
	following[*certificatesv1.PodCertificateRequest]{certificateRequests,
		func(r *certificatesv1.PodCertificateRequest) *entry { return &entry{node: string(r.Spec.NodeName)} }},
}

// following is the source of the objects whose Go type is T.
type following[T metav1.Object] struct {
	kind    kind
	entryOf func(T) *entry
}

func (f following[T]) served(ctx context.Context) bool {
	_, err := reach.Of[T](ctx)
	return err == nil
}

func (f following[T]) follow(ctx context.Context, g *Graph, complete func()) error {
	objects, err := reach.Of[T](ctx)
	if err != nil {
		return err
	}
	err = objects.Follow(ctx, "", func(changes reach.Changes[T]) {
		f.apply(g, changes)
		complete()
	})
	return fmt.Errorf("the mode %s follows objects of the type %T: %w", Mode, *new(T), err)
}

// apply brings a graph up to date with changes.
func (f following[T]) apply(g *Graph, changes reach.Changes[T]) {
	for _, o := range changes.Deleted {
		g.put(f.objectOf(o), nil)
	}
	present := make(map[object]bool, len(changes.Put))
	for _, o := range changes.Put {
		of, now := f.objectOf(o), f.entryOf(o)
		g.put(of, now)
		present[of] = true
	}
	if changes.Reset {
		g.keep(f.kind, present)
	}
}

func (f following[T]) objectOf(o T) object { return object{o.GetNamespace(), o.GetName(), f.kind} }

// Follow keeps the graph up to date with the objects of the server that ctx reaches, until ctx ends. It doesn't follow
// kinds that the server doesn't serve, and returns nil if the server serves none of them. A Graph follows once.
func (g *Graph) Follow(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var working, incomplete sync.WaitGroup
	for _, s := range sources {
		if !s.served(ctx) {
			continue
		}
		incomplete.Add(1)
		complete := sync.OnceFunc(incomplete.Done)
		working.Go(func() {
			defer complete() // of no use to Wait, which ends with the server, but to the goroutine below
			cancel(s.follow(ctx, g, complete))
		})
	}
	working.Go(func() {
		incomplete.Wait()
		if ctx.Err() == nil {
			close(g.synced)
		}
	})
	working.Wait()
	return context.Cause(ctx)
}

// Wait waits until the graph has all objects of the kinds that the server serves, or until ctx ends.
func (g *Graph) Wait(ctx context.Context) error {
	select {
	case <-g.synced:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
