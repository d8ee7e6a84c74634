package lifecycle

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"apigen.dev/runtime/reach"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// again is after how long all namespaces are looked at again, and soon after a failure.
const (
	again = time.Minute
	soon  = time.Second
)

// eachChange calls act whenever a namespace has changed, until ctx ends. act returns after how long it wants to be
// called again at the latest.
func (f *Feature) eachChange(
	ctx context.Context, changed chan struct{}, act func(context.Context, *Feature) time.Duration,
) error {
	if _, err := reach.Of[*core.Namespace](ctx); err != nil {
		return nil // the server serves no namespaces
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		case <-timer.C:
		}
		timer.Reset(act(ctx, f))
	}
}

// defaultAccount is the name of the service account that pods without an account use.
const defaultAccount = "default"

// accounts makes the service account "default" of each namespace, also after somebody has deleted it.
type accounts struct {
	*Feature
	objects reach.Objects[*core.ServiceAccount]
	// wake is sent to when an account is there, or no longer.
	wake chan<- struct{}

	mu sync.Mutex
	// there are the namespaces that have the account; it is nil before they are known.
	there map[string]bool
}

// keepAccounts makes accounts until ctx ends.
func (f *Feature) keepAccounts(ctx context.Context, changed chan struct{}) error {
	objects, err := reach.Of[*core.ServiceAccount](ctx)
	if err != nil {
		return nil // the server serves none
	}
	a := &accounts{Feature: f, objects: objects, wake: changed}
	ctx, stop := context.WithCancelCause(ctx)
	var following sync.WaitGroup
	defer following.Wait()
	defer stop(nil)
	following.Go(func() { stop(objects.Follow(ctx, "", a.take)) })
	err = f.eachChange(ctx, changed, a.make)
	return cmp.Or(context.Cause(ctx), err)
}

func (a *accounts) take(changes reach.Changes[*core.ServiceAccount]) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if changes.Reset || a.there == nil {
		a.there = map[string]bool{}
	}
	for _, account := range changes.Put {
		if account.Name == defaultAccount {
			a.there[account.Namespace] = true
		}
	}
	lost := changes.Reset
	for _, account := range changes.Deleted {
		if account.Name == defaultAccount {
			delete(a.there, account.Namespace)
			lost = true
		}
	}
	if !lost {
		return
	}
	select {
	case a.wake <- struct{}{}:
	default: // it is awake
	}
}

// missing returns the active namespaces without the account; none before it is known which have it.
func (a *accounts) missing() []string {
	names := a.names(true)
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.DeleteFunc(names, func(namespace string) bool { return a.there == nil || a.there[namespace] })
}

// make makes the accounts that are missing.
func (a *accounts) make(ctx context.Context, f *Feature) time.Duration {
	pause := again
	for _, namespace := range a.missing() {
		account := &core.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: defaultAccount}}
		_, err := a.objects.Create(ctx, account, reach.Write{})
		if err == nil || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) || ctx.Err() != nil ||
			apierrors.HasStatusCause(err, core.NamespaceTerminatingCause) {
			continue
		}
		f.log.WarnContext(ctx, "a service account could not be made", "namespace", namespace, "error", err)
		pause = soon
	}
	return pause
}
