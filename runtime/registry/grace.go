package registry

import (
	"context"
	"errors"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/metadata"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// grace is what a deletion finds of a time of grace.
type grace uint8

const (
	// noGrace: there is none, or it is over.
	noGrace grace = iota
	// graceSet: the object was given one, or a shorter one.
	graceSet
	// graceRuns: the one that is running stays as it is.
	graceRuns
)

// grant gives an object its time of grace, where the strategy knows one. A deletion of what is being deleted can only
// shorten it; none at all, 0, ends it.
func (e *storageEnd[T]) grant(ctx context.Context, obj T, opts api.DeleteOptions) (grace, error) {
	if e.kind.definition.Strategy.CheckGracefulDelete == nil {
		return noGrace, nil
	}
	options := asMeta(opts)
	if deleted := obj.GetDeletionTimestamp(); deleted != nil {
		return shorten(obj, deleted.Time, options.GracePeriodSeconds), nil
	}
	if !e.kind.definition.Strategy.CheckGracefulDelete(ctx, obj, options) {
		return noGrace, nil
	}
	if options.GracePeriodSeconds == nil {
		return noGrace, apierrors.NewInternalError(errors.New("options.GracePeriodSeconds should not be nil"))
	}
	seconds := positive(*options.GracePeriodSeconds)
	if seconds == 0 && len(obj.GetFinalizers()) == 0 {
		// Nothing waits for what would be written before the removal.
		return noGrace, nil
	}
	metadata.AdvanceGeneration(obj)
	until(obj, metadata.Now().Add(time.Duration(seconds)*time.Second), seconds)
	return graceSet, nil
}

// shorten moves the end of an object's time of grace nearer.
func shorten(obj metav1.Object, deleted time.Time, wanted *int64) grace {
	given := obj.GetDeletionGracePeriodSeconds()
	if given == nil || *given == 0 {
		return noGrace
	}
	last := positive(*given)
	if wanted == nil || positive(*wanted) >= last {
		return graceRuns
	}
	seconds := positive(*wanted)
	if seconds == 0 {
		if len(obj.GetFinalizers()) == 0 {
			return noGrace
		}
	}
	at := deleted.Add(time.Duration(seconds-last) * time.Second)
	if present := metadata.Now(); at.Before(present.Time) {
		// All of it is over already: the shortest that still lets somebody wind up.
		at, seconds = present.Time, min(seconds, 1)
	}
	until(obj, at, seconds)
	return graceSet
}

// positive is a period as the wire means it: negative is 1.
func positive(seconds int64) int64 {
	if seconds < 0 {
		return 1
	}
	return seconds
}

func until(obj metav1.Object, at time.Time, seconds int64) {
	deleted := metav1.NewTime(at)
	obj.SetDeletionTimestamp(&deleted)
	obj.SetDeletionGracePeriodSeconds(&seconds)
}

// asMeta are options as a strategy's function knows them. It may change them: they are its own.
func asMeta(opts api.DeleteOptions) *metav1.DeleteOptions {
	options := &metav1.DeleteOptions{Preconditions: opts.Preconditions.DeepCopy()}
	options.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("DeleteOptions"))
	if s := opts.GracePeriodSeconds; s != nil {
		seconds := positive(*s)
		options.GracePeriodSeconds = &seconds
	}
	if p := opts.Propagation; p != nil {
		policy := *p
		options.PropagationPolicy = &policy
	}
	if opts.DryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	return options
}

// propagate records what is to become of an object's dependents, as a finalizer.
func (e *storageEnd[T]) propagate(ctx context.Context, obj T, asked *metav1.DeletionPropagation) {
	if e.ignorePropagation {
		return
	}
	usual := metav1.DeletePropagationBackground
	if policy := e.kind.definition.Strategy.DefaultPropagationPolicy; policy != nil {
		usual = policy(ctx, obj)
	}
	setPropagation(obj, propagation(obj, asked, usual))
}

// propagation is what becomes of the dependents: what was asked for, else what the object's finalizers say, else what
// is usual for its kind. A kind for which nothing is usual knows none.
func propagation(
	obj metav1.Object, asked *metav1.DeletionPropagation, usual metav1.DeletionPropagation,
) metav1.DeletionPropagation {
	if usual == "" {
		return metav1.DeletePropagationBackground
	}
	if asked != nil {
		return *asked
	}
	for _, finalizer := range obj.GetFinalizers() {
		switch finalizer {
		case metav1.FinalizerOrphanDependents:
			return metav1.DeletePropagationOrphan
		case metav1.FinalizerDeleteDependents:
			return metav1.DeletePropagationForeground
		}
	}
	return usual
}

// setPropagation brings an object's finalizers in line with a policy. Those that are right stay where they are.
func setPropagation(obj metav1.Object, policy metav1.DeletionPropagation) {
	wanted := map[metav1.DeletionPropagation]string{
		metav1.DeletePropagationOrphan:     metav1.FinalizerOrphanDependents,
		metav1.DeletePropagationForeground: metav1.FinalizerDeleteDependents,
	}[policy]
	var kept []string
	has := false
	for _, finalizer := range obj.GetFinalizers() {
		switch {
		case finalizer == wanted && !has:
			has = true
		case finalizer == metav1.FinalizerOrphanDependents || finalizer == metav1.FinalizerDeleteDependents:
			continue
		}
		kept = append(kept, finalizer)
	}
	if wanted != "" && !has {
		kept = append(kept, wanted)
	}
	obj.SetFinalizers(kept)
}
