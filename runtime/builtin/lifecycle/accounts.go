package lifecycle

import (
	"context"
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

// makeAccounts makes the service account "default" of each namespace, which pods without an account use.
func (f *Feature) makeAccounts(ctx context.Context, _ *Feature) time.Duration {
	accounts, err := reach.Of[*core.ServiceAccount](ctx)
	if err != nil {
		return again // the server serves none
	}
	pause := again
	for _, namespace := range f.names(true) {
		account := &core.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}}
		if _, err := accounts.Get(ctx, namespace, account.Name); !apierrors.IsNotFound(err) {
			continue
		}
		_, err := accounts.Create(ctx, account, reach.Write{})
		if err == nil || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) || ctx.Err() != nil ||
			apierrors.HasStatusCause(err, core.NamespaceTerminatingCause) {
			continue
		}
		f.log.WarnContext(ctx, "a service account could not be made", "namespace", namespace, "error", err)
		pause = soon
	}
	return pause
}
