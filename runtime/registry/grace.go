package registry

import (
	"context"
	"errors"

	"apigen.dev/runtime/internal/object/metadata"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// grant sets the grace period of an object, where the strategy has graceful deletion. A further deletion can only
// shorten it; one with a period of 0 ends it.
func (e *storageEnd[T]) grant(ctx context.Context, obj T, opts verb.DeleteOptions) (metadata.Grace, error) {
	if e.kind.definition.Strategy.CheckGracefulDelete == nil {
		return metadata.NoGrace, nil
	}
	options := asMeta(opts)
	switch {
	case obj.GetDeletionTimestamp() != nil:
		return metadata.ShortenGrace(obj, options.GracePeriodSeconds), nil
	case !e.kind.definition.Strategy.CheckGracefulDelete(ctx, obj, options):
		return metadata.NoGrace, nil
	case options.GracePeriodSeconds == nil:
		err := errors.New("options.GracePeriodSeconds should not be nil")
		return metadata.NoGrace, apierrors.NewInternalError(err)
	}
	return metadata.SetGrace(obj, *options.GracePeriodSeconds), nil
}

// asMeta returns a copy of options as a strategy's function takes them.
func asMeta(opts verb.DeleteOptions) *metav1.DeleteOptions {
	options := &metav1.DeleteOptions{Preconditions: opts.Preconditions.DeepCopy()}
	options.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("DeleteOptions"))
	if s := opts.GracePeriodSeconds; s != nil {
		seconds := metadata.GracePeriod(*s)
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
	metadata.SetPropagation(obj, metadata.Propagation(obj, asked, usual))
}
