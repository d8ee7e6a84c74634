package registry

import (
	"context"
	"errors"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/metadata"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type grace uint8

const (
	// noGrace means that the object has no grace period, or that it has ended.
	noGrace grace = iota
	// graceSet means that the deletion set a grace period, or a shorter one.
	graceSet
	// graceRuns means that a grace period is running, which the deletion doesn't change.
	graceRuns
)

// grant sets the grace period of an object, where the strategy has graceful deletion. A further deletion can only
// shorten it; one with a period of 0 ends it.
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
		// No finalizer waits for the deletionTimestamp: the object is removed in one write.
		return noGrace, nil
	}
	metadata.AdvanceGeneration(obj)
	until(obj, metadata.Now().Add(time.Duration(seconds)*time.Second), seconds)
	return graceSet, nil
}

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
	if seconds == 0 && len(obj.GetFinalizers()) == 0 {
		return noGrace
	}
	at := deleted.Add(time.Duration(seconds-last) * time.Second)
	if present := metadata.Now(); at.Before(present.Time) {
		// The shorter period has ended already: the shortest one that an agent can still act on.
		at, seconds = present.Time, min(seconds, 1)
	}
	until(obj, at, seconds)
	return graceSet
}

// positive returns a grace period as clients mean it: a negative one is 1.
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

// asMeta returns a copy of options as a strategy's function takes them.
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

// propagation returns the policy of a deletion: the one that the client asked for, else that of the object's
// finalizers, else the usual one of its kind. A kind without a usual policy has no dependents.
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

// setPropagation sets the finalizer of a policy, and removes that of another one. Other finalizers keep their order.
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
